"""What was used, exactly."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.runtime.live.usage import usage_document
from fairhold.service.context import ServiceOf
from fairhold.service.models import answers
from fairhold.service.problems import refused
from fairhold.units import parse_instant

router = APIRouter(prefix="/usage", tags=["usage"])


@router.get("", response_model=answers.Usage)
async def show_usage(
    service: ServiceOf,
    *,
    since: Annotated[str | None, Query(alias="from", max_length=40, description="Instant; default: the first.")] = None,
    until: Annotated[str | None, Query(alias="to", max_length=40, description="Instant; default: now.")] = None,
    by: Annotated[str, Query(max_length=40, description="Of consumer, user, job, kind; with commas.")] = "consumer",
) -> Response:
    """Unit-seconds in a span of time, as whole or decimal numbers in a text: they are exact."""
    words = by.split(",")
    begin = _instant(since, 0)
    tail = await service.read(lambda core: core.usage.tail(core.now()))
    end = _instant(until, tail.end)
    return JSONResponse(await asyncio.to_thread(usage_document, service.store, tail, begin, end, words))


def _instant(text: str | None, default: int) -> int:
    if text is None:
        return default
    micros = parse_instant(text)
    if micros is None:
        raise refused("instant", f"`{text}` is no instant with its offset", "write it as `2026-01-05T09:00:00Z`")
    if micros < 0:
        raise refused("out-of-range", f"`{text}` is before 1970", "give a later instant, or none")
    return micros
