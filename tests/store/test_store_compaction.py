"""What is cleared out, and what never is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from fairhold.model.usage import Usage
from fairhold.ports import CycleNote, Filter, Retention
from tests.store.contract import NOW, STORES, fill, job, task

HOUR = 3_600_000_000
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.ports import Store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = STORES[request.param](tmp_path)
    yield store
    store.close()


def clear(store: Store, retention: Retention) -> int:
    steps = 0
    while store.compact(retention):
        steps += 1
        assert steps < 10_000
    assert store.check() == ()
    return steps


def test_nothing_goes_where_all_is_to_be_kept(store: Store) -> None:
    fill(store)
    assert not store.compact(Retention())
    assert store.first() == 1


def test_entries_go_only_where_two_snapshots_cover_them(store: Store) -> None:
    with store.transaction() as batch:
        for number in range(5_000):
            batch.append(NOW + number, "[]")
    assert not store.compact(Retention(entries_through=5_000))
    store.save_snapshot(4_000, NOW, b"a")
    assert not store.compact(Retention(entries_through=5_000))
    store.save_snapshot(4_500, NOW, b"b")
    assert clear(store, Retention(entries_through=3_000)) > 1
    assert store.first() == 3_001
    clear(store, Retention(entries_through=5_000))
    assert store.first() == 4_001
    assert len(list(store.load().entries)) == 500
    assert (store.seq_at(NOW), store.seq_at(NOW + 4_000), store.seq_at(NOW + 4_100)) == (4_000, 4_001, 4_101)


def test_numbers_go_on_after_everything_was_cleared_out(store: Store) -> None:
    with store.transaction() as batch:
        for _ in range(10):
            batch.append(NOW, "[]")
    store.save_snapshot(9, NOW, b"a")
    store.save_snapshot(10, NOW, b"b")
    clear(store, Retention(entries_through=10))
    assert (store.first(), store.last) == (10, 10)
    with store.transaction() as batch:
        assert batch.append(NOW, "[]") == 11


def test_jobs_go_with_their_attempts_specs_and_words(store: Store) -> None:
    for number in range(1, 41):
        with store.transaction() as batch:
            batch.put_spec(str(number), "{}")
            batch.put_key("ann", f"k{number}", str(number), NOW + number)
            said = {"labels": {"number": str(number)}, "consumer": "/Old/A" if number < 20 else "/New"}
            for index in range(50 if number == 7 else 2):
                batch.put_task(task(number, task=index, **said))
            batch.put_job(job(number, **said))
    with store.transaction() as batch:
        batch.put_spec("live", "{}")
        batch.put_task(task(1, job="live"))
    clear(store, Retention(jobs=NOW + 31))
    assert [one.job for one in store.jobs(Filter()).rows] == [str(number) for number in range(40, 30, -1)]
    assert store.jobs(Filter(consumer="/Old")).rows == []
    assert store.jobs(Filter(label=("number", "31"))).rows != []
    assert [store.spec(name) for name in ("7", "31", "live")] == [None, "{}", "{}"]
    assert store.tasks_of("7") == []
    assert len(store.tasks(Filter(), "", 1000).rows) == 21
    assert store.job_of_key("ann", "k7") == "7"
    clear(store, Retention(keys=NOW + 20))
    assert [store.job_of_key("ann", key) for key in ("k19", "k20")] == [None, "20"]
    with store.transaction() as batch:
        batch.put_job(job(99, consumer="/Old/A"))
    assert [one.job for one in store.jobs(Filter(consumer="/Old")).rows] == ["99"]


def test_one_clears_out_while_another_writes_the_same_words(store: Store) -> None:
    is_over = threading.Event()
    steps: list[bool] = []

    def compact() -> None:
        while not is_over.is_set():
            steps.append(store.compact(Retention(jobs=NOW + 10**9, entries_through=store.last)))

    clearing = threading.Thread(target=compact)
    clearing.start()
    try:
        for number in range(400):
            with store.transaction() as batch:
                batch.append(NOW + number, "[]")
                batch.put_task(task(number, labels={"few": str(number % 3)}))
                batch.put_job(job(number, labels={"few": str(number % 3)}))
            if number % 50 == 49:
                store.save_snapshot(store.last, NOW, b"")
    finally:
        is_over.set()
        clearing.join()
    assert any(steps)
    clear(store, Retention(jobs=NOW + 10**9))
    assert store.jobs(Filter()).rows == []
    assert [entry.seq for entry in store.load().entries] == []
    assert store.last == 400


def test_documents_of_cycles_go_before_cycles(store: Store) -> None:
    with store.transaction() as batch:
        for number in range(1, 1_001):
            batch.put_cycle(CycleNote(number, NOW + number, "compute", "x", 1), "{}")
    clear(store, Retention(documents=NOW + 900, cycles=NOW + 500))
    assert store.cycle(499) is None
    assert (before := store.cycle(500)) is not None
    assert before[1] == ""
    assert (after := store.cycle(900)) is not None
    assert after[1] == "{}"


def test_labels_stay_as_long_as_the_usage_of_their_job(store: Store) -> None:
    with store.transaction() as batch:
        batch.put_spec("3", '{"argv":["true"],"labels":{"team":"c"}}')
        batch.put_spec("4", '{"argv":["true"]}')
        for number, team in ((1, "a"), (2, "b")):
            batch.put_job(job(number, ended=NOW + number * HOUR, labels={"team": team}))
    clear(store, Retention(jobs=NOW + 9 * HOUR))
    assert store.job("1") is None
    labels = {name: {"team": team} for name, team in zip("123", "abc", strict=True)}
    assert store.labels(["4", "3", "2", "1", "0"]) == labels
    clear(store, Retention(usage=NOW + 2 * HOUR))
    assert store.labels("123") == labels
    clear(store, Retention(usage=NOW + 2 * HOUR + 1))
    assert store.labels("123") == {name: labels[name] for name in "23"}
    assert store.check() == ()


def test_usage_goes_when_its_span_ended_before(store: Store) -> None:
    with store.transaction() as batch:
        batch.put_usage(Usage(NOW + n, NOW + n + 1, "/A", "", "", "own", n) for n in range(1_000))
    clear(store, Retention(usage=NOW + 990))
    assert [row.amount for row in store.usage(0, 2 * NOW)] == list(range(989 + 1, 1_000))
