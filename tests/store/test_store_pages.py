"""Pages of finished jobs and attempts, compared with a plain filter over all of them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.ports import Filter
from fairhold.store import pages
from tests.store.contract import NOW, STORES, job, task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ports import FinishedJob, FinishedTask, Store

CONSUMERS = ("/A", "/A/B", "/A/B/C", "/AB", "/D/E", "/D")
USERS = ("ann", "bob", "c:/A", "")
STATES = ("done", "failed", "cancelled")
LABELS: tuple[dict[str, str], ...] = ({}, {"run": "1"}, {"run": "2", "env": "x"}, {"run": '1"', "é": "="})


def records(seed: int) -> tuple[list[FinishedJob], list[FinishedTask]]:
    dice = random.Random(seed)
    jobs, tasks = [], []
    for number in range(300):
        said: dict[str, Any] = {
            "consumer": dice.choice(CONSUMERS),
            "user": dice.choice(USERS),
            "state": dice.choice(STATES),
            "labels": dice.choice(LABELS),
            "ended": NOW + dice.randrange(60),
        }
        summary = json.dumps({"priority": dice.randrange(-2, 3), "tasks": dice.randrange(1, 4)})
        jobs.append(job(number, **said, name=dice.choice("aBé"), summary=summary))
        said |= {"host": dice.choice(("h1", "h2")), "reason": dice.choice(("finished", "reclaim"))}
        tasks.append(task(number, **said, job=str(number % 3), task=number))
    return jobs, tasks


def fits(record: Any, wanted: Filter) -> bool:
    path = wanted.consumer.rstrip("/")
    return (
        (record.consumer + "/").startswith(path + "/")
        and wanted.state in {"", record.state}
        and wanted.user in {"", record.user}
        and (not wanted.label[0] or record.labels.get(wanted.label[0]) == wanted.label[1])
        and record.ended >= wanted.since
        and (not wanted.until or record.ended < wanted.until)
        and all(value in {"", getattr(record, name, value)} for name, value in wanted._asdict().items() if name in MORE)
    )


MORE = ("job", "host", "reason")
INSTANTS = st.sampled_from((0, 0, NOW + 10, NOW + 30, NOW + 61))
FILTERS = st.builds(
    Filter,
    st.sampled_from(("", "", "/", "/A", "/A/B", "/A/B/C/", "/none")),
    st.sampled_from(("", "", *STATES, "none")),
    st.sampled_from(("", "", *USERS)),
    st.sampled_from((("", ""), ("", ""), ("run", "1"), ("run", '1"'), ("é", "="), ("run", "3"))),
    INSTANTS,
    INSTANTS,
    st.sampled_from(("", "", "1", "7")),
    st.sampled_from(("", "", "h1")),
    st.sampled_from(("", "", "reclaim")),
)


@pytest.fixture(params=STORES, scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = STORES[request.param](tmp_path_factory.mktemp("pages"))
    jobs, tasks = records(1)
    for begin in range(0, 300, 50):
        with store.transaction() as batch:
            for one in jobs[begin : begin + 50]:
                batch.put_job(one)
            for each in tasks[begin : begin + 50]:
                batch.put_task(each)
    yield store
    store.close()


def all_pages(read: Any, wanted: Filter, limit: int) -> list[Any]:
    found, cursor = [], ""
    while True:
        rows, cursor = read(wanted, cursor, limit)
        assert len(rows) <= limit
        found += rows
        if not cursor:
            return found


@pytest.mark.parametrize("most", [pages.MOST, 1, 5])
@given(wanted=FILTERS, limit=st.sampled_from((1, 3, 7, 1000)))
def test_pages_hold_what_a_filter_finds_the_latest_first(filled: Store, most: int, wanted: Filter, limit: int) -> None:
    jobs, tasks = records(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "MOST", most)
        found_jobs = all_pages(filled.jobs, wanted, limit)
        found_tasks = all_pages(filled.tasks, wanted, limit)
    of_jobs = wanted._replace(job="", host="", reason="")
    latest = sorted(range(300), key=lambda number: (-jobs[number].ended, -number))
    assert found_jobs == [jobs[number] for number in latest if fits(jobs[number], of_jobs)]
    assert found_tasks == [tasks[number] for number in latest if fits(tasks[number], wanted)]


def place_of(one: FinishedJob, column: str) -> tuple[Any, int]:
    summary = json.loads(one.summary) | {"job": int(one.job), "running": 0, "waiting": 0}
    return summary.get(column, getattr(one, column, None)) if column != "job" else int(one.job), int(one.job)


COLUMNS = ("job", "name", "consumer", "user", "state", "priority", "tasks", "running", "submitted", "ended")


@given(wanted=FILTERS, column=st.sampled_from(COLUMNS), is_down=st.booleans(), limit=st.sampled_from((1, 7, 1000)))
def test_an_order_of_a_column_is_that_of_a_plain_sort(
    filled: Store, wanted: Filter, column: str, *, is_down: bool, limit: int
) -> None:
    wanted = wanted._replace(since=0, until=0, job="", host="", reason="")
    jobs, found, after = records(1)[0], [], None
    while True:
        rows = filled.jobs_in_order(wanted, column, is_down=is_down, after=after, limit=limit)
        found += rows
        if len(rows) < limit:
            break
        after = place_of(rows[-1], column)
    expected = sorted(
        (one for one in jobs if fits(one, wanted)), key=lambda one: place_of(one, column), reverse=is_down
    )
    assert found == expected


@pytest.mark.parametrize("open_one", STORES.values(), ids=STORES)
def test_a_cursor_stays_where_it_is_while_others_are_added(open_one: Any, tmp_path: Any) -> None:
    store = open_one(tmp_path)
    with store.transaction() as batch:
        for number in range(20):
            batch.put_job(job(number))
    page = store.jobs(Filter(), "", 10)
    with store.transaction() as batch:
        for number in range(20, 40):
            batch.put_job(job(number))
    rest = store.jobs(Filter(), page.cursor, 10)
    assert [one.job for one in page.rows + rest.rows] == [str(number) for number in range(19, -1, -1)]
    assert rest.cursor == ""
    store.close()
