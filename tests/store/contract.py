"""Stores to try, and things to put in them. `STORES` lists those there are; a new one is added there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, FinishedJob, FinishedTask, PlanVersion
from fairhold.store import open_store
from fairhold.store.postgresql.address import parse_address
from fairhold.store.postgresql.opening import open_store as open_shared
from tests.store.server import the_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.ports import Store

    OpenStore = Callable[[Path], Store]
    """Opens the store of a place, again and again; a place that is new gets an empty one."""

NOW = 1_767_600_000_000_000


def sqlite(place: Path) -> Store:
    return open_store(place / "state", cluster="bank", node="n1", now=NOW)


def postgresql(place: Path) -> Store:
    server = the_server()
    name = place / "database"
    if not name.exists():
        name.write_text(server.database())
    words = {"cluster": "bank", "node": "n1", "created": str(NOW)}
    return open_shared(parse_address(server.address(name.read_text())), place / "state", words)


STORES: dict[str, OpenStore] = {"sqlite": sqlite, "postgresql": postgresql}


def job(number: int, /, **changes: Any) -> FinishedJob:
    plain = FinishedJob(f"{number}", "/A/B", "ann", f"name {number}", "done", NOW, NOW + number, {"run": "1"}, "[7]")
    return plain._replace(**changes)


def task(number: int, /, **changes: Any) -> FinishedTask:
    plain = FinishedTask(
        job=f"{number}",
        task=0,
        number=1,
        attempt=number,
        consumer="/A/B",
        user="ann",
        host="h1",
        units=2,
        state="done",
        reason="finished",
        code=0,
        signal=9,
        detail="wörds",
        started=NOW,
        ended=NOW + number,
        cpu=5,
        peak=6,
        labels={"run": "1"},
    )
    return plain._replace(**changes)


def fill(store: Store) -> None:
    """Something of everything, in three transactions and a snapshot."""
    with store.transaction() as batch:
        for number in range(1, 6):
            batch.append(NOW + number, f'["Event", {number}]')
        batch.put_spec("1", '{"argv": ["true"]}')
        batch.put_key("ann", "k1", "1", NOW)
        batch.put_plan(PlanVersion(1, NOW, "ann", "first", "version: 1\n"))
        batch.put_meta("color", "blue")
    store.save_snapshot(5, NOW + 5, b"what five entries made")
    with store.transaction() as batch:
        batch.append(NOW + 6, '["Event", "sechs — 6"]')
        batch.put_task(task(1))
        batch.put_job(job(1))
        batch.put_plan(PlanVersion(2, NOW + 6, "bob", "", "version: 1\n# two\n", based_on=1, until=NOW + 60))
    with store.transaction() as batch:
        batch.append(NOW + 6, '["Event", 7]')
        batch.put_cycle(CycleNote(1, NOW, "compute", "submit", 812, '{"grants": 3}'), '{"why": "because"}')
        batch.put_cycle(CycleNote(2, NOW + 1, "gpu", "interval", 90))
        batch.put_usage([Usage(NOW, NOW + 9, "/A/B", "ann", "1", "own", 2**60)])
