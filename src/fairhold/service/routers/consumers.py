"""Consumers as they are now, and why."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.views import consumers as view
from fairhold.service.allowing import allows, require_seen
from fairhold.service.context import ServiceOf
from fairhold.service.models import answers

router = APIRouter(prefix="/consumers", tags=["consumers"])


@router.get("", response_model=answers.Consumers, openapi_extra=allows(May.VIEW))
async def list_consumers(service: ServiceOf) -> Response:
    """Every consumer of every resource group, live."""
    document = await service.read(view.consumers_document)
    return JSONResponse(await asyncio.to_thread(service.shown, document))


@router.get("/explanation", response_model=answers.ConsumerExplanation, openapi_extra=allows(May.VIEW))
async def explain_consumer(
    service: ServiceOf,
    consumer: Annotated[str, Query(max_length=10_000, description="Path.")],
    resource_group: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """Why a consumer's numbers are what they are, as `fairhold explain --json`, and in words."""
    require_seen(service.rights, consumer)
    look_closer = await service.read(lambda core: view.consumer_explanation(core, consumer, resource_group))
    return JSONResponse(service.shown(await asyncio.to_thread(look_closer)))
