"""Expected starts of all jobs that wait: worked out when somebody asks, kept while they are still true or young."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from fairhold.errors import InputError
from fairhold.runtime.live.views.waiting import place_of
from fairhold.service.forecasting import lookout_text, worked_out
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk
    from fairhold.service.context import Service

    Document = dict[str, Any]

YOUNG = 30 * SECOND
"""So long an answer is given again, although the log has gone on."""
PATIENCE = 5.0
"""Seconds that somebody waits for the first answer."""
_PENDING = "it is being worked out: ask again"


class ExpectedStarts(NamedTuple):
    """What was worked out.

    position : of the log; at : instant
    jobs  : number → `p50`, `p90`, `why`
    trouble : why there is nothing, empty = there is
    """

    position: int
    at: int
    draws: int
    jobs: Mapping[str, Document]
    trouble: str = ""


_LATEST: WeakKeyDictionary[Desk, ExpectedStarts] = WeakKeyDictionary()
_AT_WORK: WeakKeyDictionary[Desk, asyncio.Task[ExpectedStarts]] = WeakKeyDictionary()


async def expect(service: Service, rows: Iterable[Document]) -> None:
    """Add `expected` to documents of jobs of which a task waits: place in the line, and when it will start."""
    waiting = [row for row in rows if row["ended"] is None and row["tasks"]["tasks"] > _begun(row)]
    if not waiting:
        return
    found = await _starts(service)
    places = await service.read(lambda core: _places(core, [row["job"] for row in waiting]))
    for row in waiting:
        told = found.jobs.get(row["job"]) or {"p50": None, "p90": None, "why": found.trouble or _PENDING}
        at = {"at": format_instant(found.at) if found.at else None, "draws": found.draws}
        row["expected"] = {"place": places.get(row["job"]), **told, **at}


def _begun(row: Document) -> int:
    tasks = row["tasks"]
    begun: int = tasks["running"] + tasks["done"] + tasks["failed"] + tasks["cancelled"]
    return begun


def _places(core: Core, jobs: Iterable[str]) -> dict[str, int]:
    """Job → its place in the line of its leaf, from 1."""
    found = {}
    for name in jobs:
        job = core.cluster.jobs.get(name)
        before = None if job is None or job.is_over else place_of(core, job)
        if before is not None:
            found[name] = before + 1
    return found


async def _starts(service: Service) -> ExpectedStarts:
    """The latest answer where it is true or young; else a new one, for which nobody waits long."""
    desk = service.desk
    position, now = await service.read(_position)
    latest = _LATEST.get(desk)
    if latest is not None and (latest.position == position or now < latest.at + YOUNG):
        return latest
    task = _AT_WORK.get(desk)
    if task is None or task.done():
        task = _AT_WORK[desk] = asyncio.create_task(_work_out(service))
    await asyncio.wait((task,), timeout=PATIENCE if latest is None else 0)
    return _LATEST.get(desk) or ExpectedStarts(0, 0, 0, {}, _PENDING)


def _position(core: Core) -> tuple[int, int]:
    return core.store.last + len(core.journal.entries), core.now()


async def _work_out(service: Service) -> ExpectedStarts:
    position, now = await service.read(_position)
    try:
        asked = await lookout_text(service, {"all": True})
        async with service.turn:
            found = (await worked_out(asked))["expected"]
        answer = ExpectedStarts(position, now, found["draws"], found["jobs"])
    except InputError as error:  # it took too long, or its process failed: said, and tried again later
        answer = ExpectedStarts(position, now, 0, {}, str(error.faults[0].what))
    _LATEST[service.desk] = answer
    return answer
