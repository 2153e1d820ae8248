"""What was used, exactly."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.runtime.live.using import Terms, usage_document
from fairhold.service.context import ServiceOf
from fairhold.service.fields import Instant, Span
from fairhold.service.models import answers

router = APIRouter(prefix="/usage", tags=["usage"])


@router.get("", response_model=answers.Usage)
async def show_usage(
    service: ServiceOf,
    *,
    since: Annotated[Instant | None, Query(alias="from", description="Default: the first.")] = None,
    until: Annotated[Instant | None, Query(alias="to", description="Default: now.")] = None,
    by: Annotated[str, Query(max_length=40, description="Of consumer, user, job, kind; with commas.")] = "consumer",
    resource: Annotated[
        str, Query(max_length=1000, description="slots, or resources; with commas. Default: all.")
    ] = "",
    consumer: Annotated[str, Query(max_length=10_000, description="Path; what is below it too.")] = "",
    step: Annotated[Span | None, Query(description="Rows for each part of the time of this length.")] = None,
) -> Response:
    """Resource-seconds in a span of time, as whole or decimal numbers in a text: they are exact."""
    terms = Terms(by.split(","), resource.split(",") if resource else [], consumer, step or 0)
    tail = await service.read(lambda core: core.usage.tail(core.now()))
    end = tail.end if until is None else until
    found = await asyncio.to_thread(usage_document, service.store, tail, since or 0, end, terms)
    return JSONResponse(found)
