"""Two services of one store, on each kind of store: tasks, submit to process, and how long a take-over takes."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.live_service import plan_text
from bench.live_store import Writer
from fairhold.client.errors import ServiceError
from fairhold.store.choosing import copy_store
from fairhold.store.postgresql.address import parse_address
from tests.failover.pair import Member, Pair
from tests.faults.house import until
from tests.store.server import the_server, why_not

if TYPE_CHECKING:
    from collections.abc import Callable

TASKS, SINGLE, WAITING = 1_500, 40, 100_000
TICK = 0.01
"""Seconds of the system's count of processor time."""


def pairs() -> dict[str, dict[str, float]]:
    """Figures of a file, and of PostgreSQL where its programs are installed."""
    figures: dict[str, dict[str, float]] = {}
    for name, is_file in (("SQLite", True), ("PostgreSQL", False)):
        if is_file or not why_not():
            with tempfile.TemporaryDirectory(prefix="fh-pair-") as place:
                figures |= {f"{name}: {what}": row for what, row in _work(Path(place), is_file=is_file).items()}
            with tempfile.TemporaryDirectory(prefix="fh-pair-") as place:
                figures |= {f"{name}: {what}": row for what, row in _waiting(Path(place), is_file=is_file).items()}
    return figures


def _work(place: Path, *, is_file: bool) -> dict[str, dict[str, float]]:
    pair = Pair(place, is_file=is_file)
    try:
        pair.open()
        one, two = pair.members
        before, began = processor(one), time.perf_counter()
        pair.client.wait(pair.client.submit("/A", ["/bin/true"], count=TASKS, directory=str(place)), 600)
        spent = time.perf_counter() - began
        found = {
            f"a durable task, of {TASKS:,} on 8 slots": {"ms": round(spent / TASKS * 1e3, 3)},
            "the same, processor time of the service": {"ms": round((processor(one) - before) / TASKS * 1e3, 3)},
            "submit to process, median": {"ms": round(median(_started(pair, each) for each in range(SINGLE)) * 1e3, 1)},
        }
        found["hand-over, until a submit is accepted"] = {
            "ms": _until_accepted(pair, two, lambda: pair.client.stop("failover")),
            "goal_ms": 1_000,
        }
        until(one.stands_by)
        found["killed, until a submit is accepted"] = {
            "ms": _until_accepted(pair, one, two.kill),
            "goal_ms": 5_000,
        }
        return found
    finally:
        pair.close()


def _started(pair: Pair, number: int) -> float:
    """Seconds from a submit to the first thing that its process does."""
    mark, began = pair.place / f"mark{number}", time.time_ns()
    pair.client.submit("/A", ["/bin/sh", "-c", f"date +%s%N > {mark}.new; mv {mark}.new {mark}"])
    until(mark.exists)
    return (int(mark.read_text()) - began) / 1e9


def _until_accepted(pair: Pair, member: Member, act: Callable[[], object]) -> float:
    """Milliseconds from an act until another service accepts a job, which it can only as leader."""
    began = time.perf_counter()
    act()
    while True:
        with suppress(ServiceError):
            pair.client.submit("/A", ["/bin/true"], directory=str(pair.place))
            if member.leads():
                return round((time.perf_counter() - began) * 1e3, 1)


def _waiting(place: Path, *, is_file: bool) -> dict[str, dict[str, float]]:
    """A hundred thousand jobs wait; nothing runs."""
    pair = Pair(place, is_file=is_file)
    one, two = pair.members
    pair.plan.write_text(plan_text(4))
    file = one.state if is_file else place / "made"
    writer = Writer(file, 4).submit(WAITING)
    writer.store.close()
    if not is_file:
        copy_store(file, parse_address(the_server().address(pair.database)), None)
    try:
        one.launch()
        until(one.leads)
        two.launch()
        until(lambda: two.stands_by() and two.health()["entries"] >= one.health().get("entries", 0))
        began = time.perf_counter()
        one.kill()
        until(two.leads)
        return {
            f"the leader is killed, {WAITING:,} jobs wait": {
                "ms": round((time.perf_counter() - began) * 1e3, 1),
                "goal_ms": 3_000 if is_file else 6_000,
            }
        }
    finally:
        pair.close()


def processor(member: Member) -> float:
    """Seconds of processor time that a service has used."""
    assert member.process is not None
    fields = Path(f"/proc/{member.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK
