"""What every store has to do."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, Entry, Filter, Retention, SavedState, StoreError
from tests.store.contract import NOW, STORES, fill, job, task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.ports import Store

    Reopen = Callable[[], Store]


@pytest.fixture(params=STORES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reopen]:
    """Closes the store of the test and opens it again."""
    opened: list[Store] = []

    def again() -> Store:
        for store in opened:
            store.close()
        opened.append(STORES[request.param](tmp_path))
        return opened[-1]

    yield again
    for store in opened:
        store.close()
        store.close()


@pytest.fixture
def store(reopen: Reopen) -> Store:
    return reopen()


def test_a_new_store_is_empty(store: Store) -> None:
    assert (store.last, store.last_at, store.first()) == (0, 0, 0)
    log = store.load()
    assert log.snapshot is None
    assert list(log.entries) == []
    assert store.entries(0) == []
    assert store.plan() is None
    assert store.cycle(1) is None
    assert store.spec("1") is None
    assert store.job("1") is None
    assert store.jobs(Filter()).rows == []
    assert store.seq_at(NOW) == 0
    assert store.check() == ()


def test_all_that_was_put_is_there_after_closing_and_opening(reopen: Reopen) -> None:
    fill(reopen())
    store = reopen()
    assert (store.last, store.last_at, store.first()) == (7, NOW + 6, 1)
    log = store.load()
    assert log.snapshot == SavedState(5, NOW + 5, b"what five entries made")
    assert list(log.entries) == [Entry(6, NOW + 6, '["Event", "sechs — 6"]'), Entry(7, NOW + 6, '["Event", 7]')]
    assert store.spec("1") == '{"argv": ["true"]}'
    assert (store.job_of_key("ann", "k1"), store.job_of_key("bob", "k1")) == ("1", None)
    assert store.job("1") == job(1)
    assert store.jobs(Filter()).rows == [job(1)]
    assert store.tasks(Filter()).rows == [task(1)] == store.tasks_of("1")
    assert [plan.version for plan in store.plans()] == [2, 1]
    assert (latest := store.plan()) is not None
    assert (latest.author, latest.based_on, latest.until) == ("bob", 1, NOW + 60)
    assert (first := store.plan(1)) is not None
    assert first.text == "version: 1\n"
    assert store.cycle(1) == (CycleNote(1, NOW, "compute", "submit", 812, '{"grants": 3}'), '{"why": "because"}')
    assert store.cycle(2) == (CycleNote(2, NOW + 1, "gpu", "interval", 90), "")
    assert list(store.usage(NOW, NOW + 1)) == [Usage(NOW, NOW + 9, "/A/B", "ann", "1", "own", 2**60)]
    meta = store.meta()
    assert (meta["cluster"], meta["node"], meta["created"], meta["color"]) == ("bank", "n1", str(NOW), "blue")
    assert store.check() == ()


def test_a_batch_gives_numbers_without_a_gap_and_shows_nothing_before_it_is_durable(store: Store) -> None:
    with store.transaction() as batch:
        assert [batch.append(NOW, "[]") for _ in range(3)] == [1, 2, 3]
        batch.put_key("ann", "k", "9", NOW)
        assert batch.job_of_key("ann", "k") == "9"
        assert (store.last, store.entries(0), store.job_of_key("ann", "k")) == (0, [], None)
    assert (store.last, len(store.entries(0))) == (3, 3)
    with store.transaction() as batch:
        assert batch.append(NOW, "[]") == 4
        assert batch.job_of_key("ann", "k") == "9"
        assert batch.job_of_key("ann", "other") is None


def test_an_error_inside_a_batch_leaves_nothing_of_it(store: Store) -> None:
    fill(store)

    def interrupted() -> None:
        with store.transaction() as batch:
            batch.append(NOW + 10, "[]")
            batch.put_meta("color", "red")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (store.last, store.last_at, store.meta()["color"]) == (7, NOW + 6, "blue")
    with store.transaction() as batch:
        assert batch.append(NOW + 10, "[]") == 8


def test_a_name_twice_is_refused_with_all_of_its_batch(store: Store) -> None:
    fill(store)

    def twice() -> None:
        with store.transaction() as batch:
            batch.append(NOW + 10, "[]")
            batch.put_job(job(2, consumer="/New"))
            batch.put_spec("1", "{}")

    with pytest.raises(ValueError, match="specs"):
        twice()
    assert store.last == 7
    assert store.jobs(Filter(consumer="/New")).rows == []
    with store.transaction() as batch:
        batch.put_job(job(2, consumer="/New"))
    assert store.jobs(Filter(consumer="/New")).rows == [job(2, consumer="/New")]
    assert store.check() == ()


def test_what_a_job_runs_can_be_changed(store: Store) -> None:
    fill(store)
    with store.transaction() as batch:
        batch.change_spec("1", '{"name": "y"}')
        batch.put_spec("90", "{}")
        batch.change_spec("90", '{"name": "x"}')
    assert (store.spec("90"), store.spec("1")) == ('{"name": "x"}', '{"name": "y"}')


def test_an_entry_before_the_last_one_is_refused(store: Store) -> None:
    fill(store)
    with pytest.raises(ValueError, match="cannot follow"), store.transaction() as batch:
        batch.append(NOW + 5, "[]")
    with store.transaction() as batch:
        batch.append(NOW + 6, "[]")
    assert store.last == 8


def test_two_batches_at_once_are_refused(store: Store) -> None:
    with store.transaction() as batch:
        batch.append(NOW, "[]")
        with pytest.raises(StoreError) as caught, store.transaction():
            pass
    assert caught.value.code == "store-busy"
    assert store.last == 1


def test_entries_come_in_pages_and_by_instant(store: Store) -> None:
    with store.transaction() as batch:
        for number in range(1, 10_001):
            batch.append(NOW + number // 10, f"[{number}]")
    assert [entry.seq for entry in store.entries(9_995)] == [9_996, 9_997, 9_998, 9_999, 10_000]
    assert [entry.seq for entry in store.entries(3, until=5)] == [4, 5]
    assert [entry.seq for entry in store.entries(3, limit=1)] == [4]
    assert [entry.body for entry in store.load().entries] == [f"[{number}]" for number in range(1, 10_001)]
    assert store.seq_at(NOW - 1) == 0
    assert store.seq_at(NOW) == 9
    assert store.seq_at(NOW + 1) == 19
    assert store.seq_at(NOW + 10**9) == 10_000


def test_two_snapshots_are_kept(store: Store) -> None:
    fill(store)
    store.save_snapshot(6, NOW, b"six")
    store.save_snapshot(7, NOW, b"seven")
    store.save_snapshot(7, NOW, b"seven again")
    assert (snapshot := store.load().snapshot) is not None
    assert (snapshot.seq, snapshot.body) == (7, b"seven again")
    with pytest.raises(ValueError, match="no entry 8"):
        store.save_snapshot(8, NOW, b"")
    assert store.check() == ()


def test_cycles_and_plans_come_the_latest_first(store: Store) -> None:
    with store.transaction() as batch:
        for number in range(1, 11):
            batch.put_cycle(CycleNote(number, NOW + number, "odd" if number % 2 else "even", "x", 1))
    assert [cycle.number for cycle in store.cycles(limit=3)] == [10, 9, 8]
    assert [cycle.number for cycle in store.cycles("odd", before=7, limit=2)] == [5, 3]
    assert store.cycles("none") == []


def test_usage_is_found_by_the_time_it_shares_with_a_span(store: Store) -> None:
    rows = [Usage(NOW + 10 * n, NOW + 10 * n + 10, "/A", "ann", "1", "own", n) for n in range(10_000)]
    with store.transaction() as batch:
        batch.put_usage(rows)
    assert list(store.usage(NOW, NOW + 10**9)) == rows
    assert [row.amount for row in store.usage(NOW + 15, NOW + 30)] == [1, 2]
    assert [row.amount for row in store.usage(NOW + 10, NOW + 20)] == [1]
    assert list(store.usage(NOW - 5, NOW)) == []


def test_attempts_of_a_job_come_by_number(store: Store) -> None:
    with store.transaction() as batch:
        for number in range(200, 0, -1):
            batch.put_task(task(number, job="j", task=number // 3, number=number % 3))
        batch.put_task(task(1, job="k"))
    found: list[tuple[int, int]] = [(-1, 0)]
    while page := store.tasks_of("j", found[-1], 30):
        found += [(each.task, each.number) for each in page]
    assert found[1:] == sorted((number // 3, number % 3) for number in range(1, 201))


def test_a_cursor_that_is_none_is_refused(store: Store) -> None:
    for cursor in ("x", "1", "1-", "-1-2", "1-2-3", "9" * 30 + "-1"):
        with pytest.raises(InputError) as caught:
            store.jobs(Filter(), cursor)
        assert caught.value.faults[0].code == "bad-cursor"
    assert store.jobs(Filter()).rows == []


def test_readers_see_whole_batches_while_one_writes(store: Store) -> None:
    wrong: list[object] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            entries = store.entries(0, limit=100_000)
            if len(entries) % 7 or [entry.seq for entry in entries] != list(range(1, len(entries) + 1)):
                wrong.append(entries)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for number in range(200):
            with store.transaction() as batch:
                for _ in range(7):
                    batch.append(NOW + number, "[]")
            if number % 20 == 0:
                store.compact(Retention(entries_through=store.last))
    finally:
        is_over.set()
        for reader in readers:
            reader.join()
    assert wrong == []
    assert store.last == 1_400


def test_a_backup_is_a_whole_store_and_taken_while_one_writes(store: Store, tmp_path: Path) -> None:
    fill(store)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            with store.transaction() as batch:
                batch.append(NOW + 100, "[]")
                batch.put_meta("entries", str(store.last + 1))

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for number in range(5):
            store.backup(tmp_path / f"{number}.backup")
    finally:
        is_over.set()
        writing.join()
    with pytest.raises(InputError) as caught:
        store.backup(tmp_path / "0.backup")
    assert caught.value.faults[0].code == "backup-exists"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("open_one", STORES.values(), ids=STORES)
def test_a_second_service_is_refused_by_the_number_of_the_first(
    open_one: Callable[[Path], Store], tmp_path: Path
) -> None:
    with closing(open_one(tmp_path)), pytest.raises(InputError) as caught:
        open_one(tmp_path)
    (fault,) = caught.value.faults
    assert fault.code == "store-in-use"
    assert str(os.getpid()) in fault.what
    open_one(tmp_path).close()


def test_usage_of_unknown_units_learns_them(store: Store) -> None:
    with store.transaction() as batch:
        batch.put_usage(Usage(NOW, NOW + 9, "/A", "ann", job, "own", 1, unit) for job in "12" for unit in ("", "?"))
    assert sorted(store.jobs_of_unknown_unit()) == ["1", "2"]
    with store.transaction() as batch:
        batch.put_unit("2", '{"gpu":"1"}')
        batch.put_unit("3", "")
    assert store.jobs_of_unknown_unit() == ["1"]
    assert sorted((row.job, row.unit) for row in store.usage(0, 2 * NOW)) == [
        *(("1", ""), ("1", "?")),
        *(("2", ""), ("2", '{"gpu":"1"}')),
    ]
