"""The event log: pages, or a stream."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.submitting import raised
from fairhold.service import streams
from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.context import ServiceOf
from fairhold.service.fields import MOST, Instant
from fairhold.service.models import answers
from fairhold.service.problems import refused
from fairhold.units import LAST_INSTANT

router = APIRouter(prefix="/events", tags=["events"])
STREAM = "text/event-stream"
_HEADERS = {"X-Accel-Buffering": "no"}


@router.get(
    "",
    response_model=answers.Events,
    responses={200: {"content": {STREAM: {"schema": {"type": "string"}}}}},
    openapi_extra=allows(May.VIEW),
)
async def list_events(
    request: Request,
    service: ServiceOf,
    after: Annotated[int | None, Query(ge=0, le=MOST, description="Number of the last event that is known.")] = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
    last_event_id: Annotated[str | None, Header(max_length=20, pattern=r"^[0-9]{1,12}$")] = None,
) -> Response:
    """A page of events behind `after`; with `Accept: text/event-stream`, a stream of what comes.

    A stream begins behind `Last-Event-ID`, or `after`, or with what comes next where neither is given.
    """
    lasts = request.scope["state"].get("lasts", lambda: True)
    sight = streams.Sight(service.desk.core, lambda: service.renewed() if lasts() else None)
    if STREAM not in request.headers.get("accept", ""):
        return JSONResponse(await asyncio.to_thread(streams.events, service.store, after or 0, limit, sight))
    if last_event_id is not None:
        after = int(last_event_id)
    if after is None:
        after = service.news.last
    await asyncio.to_thread(streams.check_place, service.store, after)
    if service.news.streams >= service.settings.limits.streams:
        what = f"the limit `streams` is {service.settings.limits.streams}"
        raise refused("too-many", what, f"try again later, or {raised('streams')}")
    pieces = service.news.counted(streams.stream(service.store, service.news, after, service.settings.beat, sight))
    return StreamingResponse(pieces, media_type=STREAM, headers=_HEADERS)


@router.get("/snapshot", response_model=answers.Snapshot, openapi_extra=allows(SEE_ALL))
async def snapshot(
    service: ServiceOf,
    until: Annotated[
        Instant | None, Query(description="Taken then or earlier, else the earliest; default: the last.")
    ] = None,
) -> Response:
    """The state at an entry of the log, as the service keeps it: with the entries after it, all that followed.

    Nothing (`null`) where no such snapshot is kept.
    """
    return JSONResponse(
        await asyncio.to_thread(streams.snapshot_document, service.store, LAST_INSTANT if until is None else until)
    )
