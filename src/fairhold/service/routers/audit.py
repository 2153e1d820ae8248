"""The record of what was done, and whether it is whole."""

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.chain import Record, first_break
from fairhold.access.permissions import Permission as May
from fairhold.ports import Store
from fairhold.ports.people import RecordFilter
from fairhold.service.allowing import allows
from fairhold.service.context import ServiceOf
from fairhold.service.fields import MOST, Instant
from fairhold.service.models import people_answers as answers
from fairhold.store.audit import all_records
from fairhold.units import format_instant

router = APIRouter(prefix="/audit", tags=["people"])


@router.get("", response_model=answers.Records, openapi_extra=allows(May.READ_AUDIT))
async def list_records(
    service: ServiceOf,
    *,
    after: Annotated[int | None, Query(ge=0, le=MOST, description="Number; default: the last ones.")] = None,
    before: Annotated[int, Query(ge=0, le=MOST, description="Number: only records with smaller ones; 0: all.")] = 0,
    user: Annotated[str, Query(max_length=200)] = "",
    action: Annotated[str, Query(max_length=200)] = "",
    target: Annotated[str, Query(max_length=10_000)] = "",
    outcome: Annotated[str, Query(max_length=200)] = "",
    since: Annotated[Instant | None, Query(alias="from")] = None,
    until: Annotated[Instant | None, Query(alias="to")] = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 100,
    wait: Annotated[float, Query(ge=0, le=60, description="With `after`: seconds to wait for more.")] = 0,
) -> Response:
    """Records of what was done and refused, in order."""
    wanted = RecordFilter(user, action, target, outcome, since or 0, until or 0, before)
    if after is None:
        found = await asyncio.to_thread(service.store.last_records, wanted, limit)
    else:
        found = await asyncio.to_thread(service.store.records, after, wanted, limit)
        rounds = int(wait / _LOOK)
        while not found and rounds and not service.news.is_ended:
            await asyncio.sleep(_LOOK)
            rounds -= 1
            found = await asyncio.to_thread(service.store.records, after, wanted, limit)
    last = found[-1].seq if found else after or 0
    return JSONResponse({"records": [_document(each) for each in found], "next": last})


_LOOK = 0.25
"""Seconds between two looks for more."""


@router.get("/check", response_model=answers.AuditCheck, openapi_extra=allows(May.READ_AUDIT))
async def check_records(
    service: ServiceOf,
    seen: Annotated[
        str,
        Query(
            max_length=100, pattern=r"^([0-9]{1,12}:[0-9a-f]{64})?$", description="`NUMBER:HASH` of an earlier check."
        ),
    ] = "",
) -> Response:
    """Whether every record follows from the one before, from the first that is kept to the last."""
    return JSONResponse(await asyncio.to_thread(_checked, service.store, seen))


def _checked(store: Store, seen: str) -> dict[str, Any]:
    begin = store.chain_begin()
    number, _, expected = seen.partition(":")
    met: list[str] = [begin[1]] if seen and int(number) == begin[0] else []

    def watched() -> Any:  # noqa: ANN401 - an iterator of records
        for record in all_records(store, begin[0]):
            if seen and record.seq == int(number):
                met.append(record.hash)
            yield record

    (last, mark), broken = first_break(watched(), begin)
    why = broken.why if broken else None
    if why is None and seen and int(number) >= begin[0] and met != [expected]:
        why = f"record {number} is not the one that was seen" if met else f"record {number} was seen, and is missing"
    return {
        "good": why is None,
        "records": last - begin[0],
        "first": begin[0] + 1,
        "last": last,
        "hash": mark,
        "broken": why,
    }


def _document(record: Record) -> dict[str, Any]:
    return record._asdict() | {"at": format_instant(record.at), "detail": json.loads(record.detail)}
