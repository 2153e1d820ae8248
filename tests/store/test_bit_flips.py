"""Rot: a single flipped bit in a stopped store is named, or nothing is read otherwise than it was written."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.access.chain import START, Record, sealed
from fairhold.errors import InputError
from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, Filter, SavedState, StoreError
from fairhold.ports.people import AccessVersion, RecordFilter, TokenRecord
from fairhold.store import check_store, open_store
from fairhold.store.directory import FILE
from tests.store.contract import NOW, fill, job, task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.ports import Entry, Log, Store


SNAPSHOTS = {
    5: SavedState(5, NOW + 5, b"what five entries made"),
    80: SavedState(80, NOW + 40, bytes(range(256)) * 8),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A stopped store with some of everything."""
    dice = random.Random(1)
    with closing(open_store(tmp_path / "state", cluster="bank", node="n1", now=NOW)) as store:
        fill(store)
        with store.transaction() as batch:
            for number in range(10, 60):
                batch.append(NOW + number, f'["Started",{number},"{number}",0,1,[["h{number % 3}",1]]]')
                batch.append(NOW + number, f'["Ended",{number},"done",{NOW},"finished",0,0,"",5,6]')
                batch.put_spec(f"{number}", f'{{"argv": ["sleep", "{dice.random()}"], "labels": {{"run": "1"}}}}')
                batch.put_task(task(number, consumer=f"/A/{number % 4}", host=f"h{number % 3}"))
                batch.put_job(job(number, user=dice.choice(["ann", "bob"])))
                batch.put_key("ann", f"key {number}", f"{number}", NOW)
                batch.put_cycle(CycleNote(number, NOW, "compute", "submit", 5, '{"grants": 1}'), '{"why": "so"}')
                batch.put_usage([Usage(NOW, NOW + number, "/A", "ann", f"{number}", "own", number)])
            batch.put_access(AccessVersion(1, NOW, "ann", "", "users: [ben]"))
            batch.put_token(TokenRecord(1, "ben", "laptop", "ab" * 32, NOW, 0, "ann"))
            batch.put_record(sealed(Record(1, NOW, "ann", "uid 0", "here", "act", "1", "done", "{}", START, "")))
        store.save_snapshot(*SNAPSHOTS[80])
    return tmp_path / "state"


def start_of(log: Log) -> tuple[bool, list[Entry]]:
    """Whether a start begins with a snapshot as it was, whichever it is, and how the log ends."""
    return log.snapshot is None or log.snapshot == SNAPSHOTS[log.snapshot.seq], list(log.entries)[-10:]


def missing(store: Store) -> str:
    """As a start refuses it."""
    raise store.damaged("what a job runs is not there")


def readings(store: Store) -> Iterator[Any]:
    """Everything that can be read of a store, a piece at a time."""
    yield store.meta
    yield lambda: start_of(store.load())
    yield lambda: store.entries(0, limit=1_000)
    yield lambda: [body or missing(store) for _, body in store.specs(map(str, range(10, 60)))]
    yield store.plans
    yield lambda: (store.accesses(), store.tokens())
    yield lambda: [store.job_of_key("ann", f"key {number}") for number in range(10, 60)]
    yield lambda: [store.jobs(wanted, "", 1_000) for wanted in (Filter(), Filter(user="bob"), Filter(consumer="/A"))]
    yield lambda: [store.tasks(wanted, "", 1_000) for wanted in (Filter(), Filter(host="h1"), Filter(state="done"))]
    yield lambda: [store.cycle(number) for number in range(10, 60)]
    yield lambda: list(store.usage(0, 2**61))
    yield lambda: store.records(0, RecordFilter())


OF_A_START = 6
"""So many of these are read by every start; the others, of keys, records and what is over, only by questions."""


def content(place: Path) -> list[Any]:
    """What is read, or None where a reading or the start is refused."""
    try:
        store = open_store(place)
    except InputError:
        return []
    said: list[Any] = []
    with closing(store):
        for reading in readings(store):
            try:
                said.append(reading())
            except (InputError, StoreError):
                said.append(None)
    return said


@pytest.mark.parametrize("flips", [150, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_named_or_harmless(place: Path, tmp_path: Path, flips: int) -> None:
    whole = (place / FILE).read_bytes()
    there = content(place)
    assert None not in there
    assert check_store(place) == ()
    copy = tmp_path / "copy"
    copy.mkdir()
    dice, named = random.Random(flips), 0
    for _ in range(flips):
        at, bit = dice.randrange(len(whole)), dice.randrange(8)
        spoiled = bytearray(whole)
        spoiled[at] ^= 1 << bit
        for old in copy.iterdir():
            old.unlink()
        (copy / FILE).write_bytes(spoiled)
        try:
            is_good = check_store(copy) == ()
        except InputError:
            is_good = False
        said = content(copy)
        used = zip(said[:OF_A_START], there[:OF_A_START], strict=False)
        assert all(now in (None, before) for now, before in used), f"bit {bit} of byte {at} changes what is read"
        if is_good:
            assert said == there, f"bit {bit} of byte {at} is not named by the check"
        named += not is_good
    assert named > flips // 5
