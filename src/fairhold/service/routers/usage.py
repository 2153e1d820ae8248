"""What was used, exactly."""

import asyncio
from collections.abc import Collection
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.orchestrator.spans import Key
from fairhold.runtime.live.views.usage import Others, UsageQuery, usage_document
from fairhold.service.allowing import allows, require_seen
from fairhold.service.context import Service, ServiceOf
from fairhold.service.fields import Instant, Span
from fairhold.service.models import usage_answers
from fairhold.service.problems import refused
from fairhold.service.veil import OTHERS, Veil

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
    if consumer.strip("/"):
        require_seen(service.rights, consumer.rstrip("/"))
    words, resources = by.split(","), resource.split(",") if resource else []
    tail = await service.read(lambda core: core.usage.tail(core.now()))
    end = tail.end if until is None else until
    query = UsageQuery(since or 0, end, words, resources, consumer, step or 0, _others(service, words))
    found = await asyncio.to_thread(usage_document, service.store, tail, query)
    return JSONResponse(service.shown(found))


def _others(service: Service, by: Collection[str]) -> Others | None:
    """Whose usage is told as a sum, or not at all; one's own jobs are told as such where jobs are told apart."""
    rights = service.rights
    if rights.sees_all:
        return None
    veil = Veil.of(service.desk.core, rights)

    def keeps(key: Key) -> bool:
        return veil.keeps_path(key.consumer) and not ("job" in by and key.user == rights.user)

    return Others(keeps, "" if veil.is_whole else OTHERS)
