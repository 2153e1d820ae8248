"""What happened, played again under another plan: the log is read here, and played by a process of its own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import printable
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.journal import PLAN_APPLIED
from fairhold.service.planning import NAME
from fairhold.service.problems import refused
from fairhold.service.processes import Work, answer_of
from fairhold.service.streams import saved_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ports import Entry, Store
    from fairhold.service.context import Service

    Document = dict[str, Any]

LONGEST = 60.0
"""Seconds for which a record may be played; then its process is ended."""
MOST = 200_000
"""Entries of the log that are played at most: some hundred megabytes of memory."""
_PAGE = 5_000
_SHORTER = "name a shorter time, or use `fairhold record` and `fairhold simulate`, which take as long as it takes"


class Asked(NamedTuple):
    """Which time is played (instants, 0 = as far as the log reaches), and under the text of which plan."""

    text: str
    since: int
    until: int


async def simulated(service: Service, asked: Asked) -> Document:
    """What came, and what would have come under another plan.

    Raises InputError where the plan is none, `record-too-long`, `simulation-too-long`, `simulation-failed`, and those
    of a record (`lab.recording`).
    """
    await service.work_out(parse_plan, asked.text, NAME, places=True)
    async with service.simulating:  # one at a time: each has a core for itself, and so much memory
        body = await asyncio.to_thread(_question, service.store, asked)
        return await answer_of(Work("fairhold.lab.record_player", LONGEST, "simulation", _SHORTER), body)


def _question(store: Store, asked: Asked) -> bytes:
    """What the process reads: all that is needed of the log."""
    saved = saved_before(store, asked.since)
    if saved is not None and saved.at > asked.since and store.first() == 1:
        saved = None  # the log reaches further back
    after = saved.seq if saved else 0
    last = store.seq_at(asked.until) if asked.until else store.last
    if last - after > MOST:
        what = f"{last - after:,} entries of the log would be played, and at most {MOST:,} are"
        raise refused("record-too-long", what, _SHORTER)
    entries = list(_entries(store, after, last))
    versions = {json.loads(saved.body)["version"]} if saved else set()
    versions |= {version for entry in entries if (version := _version(entry))}
    log = {
        "name": "the log of the service",
        "snapshot": (saved.seq, saved.at, json.loads(saved.body)) if saved else None,
        "entries": entries,
        "plans": {version: _text(store, version) for version in versions},
    }
    return json.dumps({"log": log, **asked._asdict()}).encode()


def _entries(store: Store, after: int, last: int) -> Iterator[Entry]:
    while after < last and (page := store.entries(after, last, _PAGE)):
        yield from page
        after = page[-1].seq


def _version(entry: Entry) -> int:
    """That came into force by an entry; 0 = none did."""
    if PLAN_APPLIED not in entry.body:
        return 0
    kind, *fields = json.loads(entry.body)
    return int(fields[0]) if kind == PLAN_APPLIED else 0


def _text(store: Store, version: int) -> str:
    plan = store.plan(version)
    if plan is None:
        raise store.damaged(f"plan {printable(str(version))} is not there")
    return plan.text
