"""Cycles that were run, and what is allocated."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.path_suggestions import suggestion
from fairhold.runtime.live.views import cycles as view
from fairhold.runtime.live.views.allocations import allocations_document
from fairhold.service.allowing import SEE_ALL, allows, require_seen
from fairhold.service.context import ServiceOf
from fairhold.service.fields import MOST
from fairhold.service.models import answers
from fairhold.service.problems import refused

router = APIRouter(tags=["cycles"])
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/cycles", response_model=answers.Cycles, openapi_extra=allows(SEE_ALL))
async def list_cycles(
    service: ServiceOf,
    resource_group: Annotated[str, Query(max_length=1000)] = "",
    before: Annotated[int, Query(ge=0, le=MOST, description="Number; default: the latest.")] = 0,
    limit: Limit = 100,
) -> Response:
    """Cycles, the latest first."""
    return JSONResponse(await asyncio.to_thread(view.cycles_page, service.store, resource_group, before, limit))


@router.get("/cycles/{number}", response_model=answers.CycleDetail, openapi_extra=allows(SEE_ALL))
async def show_cycle(service: ServiceOf, number: int) -> Response:
    """One cycle, with its quotas and what it took back as long as that is kept."""
    document = await asyncio.to_thread(view.cycle_document, service.store, min(max(number, 0), MOST))
    if document is None:
        raise refused(
            "unknown-cycle", f"there is no cycle {number}, or it is no longer kept", "`GET /v1/cycles` lists them"
        )
    return JSONResponse(document)


@router.get("/allocations", response_model=answers.Allocations, openapi_extra=allows(May.VIEW))
async def list_allocations(
    service: ServiceOf,
    consumer: Annotated[str, Query(max_length=10_000, description="Path; what is below it too.")] = "",
    host: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """Attempts that hold units."""

    def look(core: Core) -> dict[str, Any]:
        require_known(core, consumer, host)
        return allocations_document(core, consumer, host)

    if consumer:
        require_seen(service.rights, consumer.rstrip("/") or "/")
    document = await service.read(look)
    return JSONResponse(await asyncio.to_thread(service.shown, document))


def require_known(core: Core, consumer: str, host: str) -> None:
    """Refuse a consumer or a host that is not there; empty: none is named."""
    if consumer and (consumer.rstrip("/") or "/") not in core.plan.tree.rows:
        mend = suggestion(core.plan.tree, consumer) or "`fairhold top` shows them"
        raise refused("unknown-consumer", f"there is no consumer `{consumer}`", mend)
    if host not in {"", "-"} and all(host != name for _, name in core.cluster.hosts):
        raise refused("unknown-host", f"there is no host `{host}`", "`fairhold hosts` shows them")
