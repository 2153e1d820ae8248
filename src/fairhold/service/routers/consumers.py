"""Consumers as they are now, and why."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.views import consumers as view
from fairhold.runtime.live.views.consumer_versions import consumers_since
from fairhold.runtime.live.views.lending import lending_document, together
from fairhold.service.allowing import allows, require_seen
from fairhold.service.context import ServiceOf
from fairhold.service.models import answers, status_answers
from fairhold.service.routers.cycles import require_known
from fairhold.units import LAST_INSTANT

router = APIRouter(prefix="/consumers", tags=["consumers"])


@router.get("", response_model=answers.Consumers, openapi_extra=allows(May.VIEW))
async def list_consumers(
    service: ServiceOf,
    consumer: Annotated[
        str, Query(max_length=10_000, description="Path: only it, those above it, and the children of all of these.")
    ] = "",
    since: Annotated[
        int | None,
        Query(ge=0, le=LAST_INSTANT, description="`version` of an answer: what differs from it; 0: of none."),
    ] = None,
) -> Response:
    """Every consumer of every resource group, live; or those that differ from what was seen."""
    if consumer:
        require_seen(service.rights, consumer)

    def look(core: Core) -> dict[str, Any]:
        require_known(core, consumer, "")
        if since is None or consumer or not service.rights.sees_all:
            return view.consumers_document(core, consumer)
        return consumers_since(core, since)

    found = await service.read(look)
    return JSONResponse(await asyncio.to_thread(service.shown, found))


@router.get("/lending", response_model=status_answers.Lending, openapi_extra=allows(May.VIEW))
async def consumer_lending(
    service: ServiceOf, consumer: Annotated[str, Query(max_length=10_000, description="Path.")]
) -> Response:
    """Who lends a consumer and those below it what, and to whom they lend, now."""
    require_seen(service.rights, consumer)

    def look(core: Core) -> dict[str, Any]:
        require_known(core, consumer, "")
        return lending_document(core, consumer)

    found = service.shown(await service.read(look))
    for group in found["resource_groups"].values():  # whom he does not see are one
        group["pairs"] = together(group["pairs"])
    return JSONResponse(found)


@router.get("/explanation", response_model=answers.ConsumerExplanation, openapi_extra=allows(May.VIEW))
async def explain_consumer(
    service: ServiceOf,
    consumer: Annotated[str, Query(max_length=10_000, description="Path.")],
    resource_group: Annotated[str, Query(max_length=1000)] = "",
    *,
    would_help: Annotated[
        bool, Query(description="Also search for what would give one more, which takes the longest.")
    ] = True,
) -> Response:
    """Why a consumer's numbers are what they are, as `fairhold explain --json`, and in words."""
    require_seen(service.rights, consumer)
    look_closer = await service.read(
        lambda core: view.consumer_explanation(core, consumer, resource_group, would_help=would_help)
    )
    return JSONResponse(service.shown(await asyncio.to_thread(look_closer)))
