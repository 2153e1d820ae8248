"""What was used, exactly."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.views.usage import UsageQuery, usage_document
from fairhold.service.allowing import allows
from fairhold.service.context import ServiceOf
from fairhold.service.fields import Instant, Span
from fairhold.service.models import usage_answers
from fairhold.service.problems import refused

router = APIRouter(prefix="/usage", tags=["usage"])


@router.get("", response_model=usage_answers.Usage, openapi_extra=allows(May.VIEW))
async def show_usage(
    service: ServiceOf,
    *,
    since: Annotated[Instant | None, Query(alias="from", description="Default: the first.")] = None,
    until: Annotated[Instant | None, Query(alias="to", description="Default: now.")] = None,
    by: Annotated[
        str,
        Query(
            max_length=1000,
            description="Of consumer, user, job, kind, label:NAME, and one of hour, day, month; with commas.",
        ),
    ] = "consumer",
    resource: Annotated[
        str, Query(max_length=1000, description="slots, or resources; with commas. Default: all.")
    ] = "",
    consumer: Annotated[str, Query(max_length=10_000, description="Path; what is below it too.")] = "",
    step: Annotated[Span | None, Query(description="Rows for each part of the time of this length.")] = None,
) -> Response:
    """Resource-seconds in a span of time, as whole or decimal numbers in a text: they are exact."""
    if not service.rights.sees_all and "consumer" not in by.split(","):
        what = f"`{service.caller.user}` does not see all, and without consumers this would tell of people of others"
        raise refused("not-allowed", what, "sum by `consumer`, and by others beside it: `consumer,user`")
    words, resources = by.split(","), resource.split(",") if resource else []
    tail = await service.read(lambda core: core.usage.tail(core.now()))
    end = tail.end if until is None else until
    query = UsageQuery(since or 0, end, words, resources, consumer, step or 0)
    found = await asyncio.to_thread(usage_document, service.store, tail, query)
    return JSONResponse(service.shown(found))
