"""What is over and could not be written yet is seen as what is in the store."""

import logging
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from fairhold.errors import InputError
from fairhold.orchestrator.events import Exit, JobCancelled, Outcome, TaskEnded
from fairhold.runtime.live.desk import Freeing
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.jobs import Wanted, jobs_page
from fairhold.runtime.live.views.tasks import tasks_page
from fairhold.service.output import attempt_of
from tests.live.test_desk import Office
from tests.live.test_desk_full import cancel, full


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    made.desk.round([])
    yield made
    made.store.close()


def over(office: Office, wanted: Wanted, limit: int = 100) -> list[str]:
    """Names of jobs on all pages."""
    names, cursor = [], ""
    while True:
        page = jobs_page(office.core, wanted, cursor, limit)
        names += [job["job"] for job in page["jobs"]]
        cursor = page["next"]
        if not cursor:
            return names


def test_without_room_jobs_that_ended_are_still_listed(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Wanted(finished=True)
    office.submit(1)
    office.end(office.agents.starts()[-1])
    for consumer in ("/A", "/B", "/A"):
        office.submit(1, consumer=consumer, user="bo" if consumer == "/B" else "ann")
    second, third, fourth = office.agents.starts()[-3:]
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "transaction", full)
        for start in (second, fourth):
            office.end(start)
        cancel(office, "3")
        office.agents.news.append(TaskEnded(third.attempt, Outcome.STOPPED, Exit("cancel")))
        office.desk.round([])
        assert office.store.job("2") is None
        for limit in (1, 2, 3, 100):
            assert over(office, everything, limit) == ["3", "4", "2", "1"], "the latest end first"
        assert over(office, Wanted(consumer="/A", finished=True)) == ["4", "2", "1"]
        assert over(office, Wanted(consumer="/", state="done")) == ["4", "2", "1"]
        assert over(office, Wanted(user="bo", finished=True), 1) == ["3"]
        assert over(office, Wanted(label=("a", "b"), finished=True)) == []
    office.desk.round([])
    assert over(office, everything, 1) == ["3", "4", "2", "1"]
    for cursor in ("done-1-2-3", "done-99999999999999999999"):
        with pytest.raises(InputError, match="not a cursor"):
            jobs_page(office.core, everything, cursor)


def test_without_room_attempts_that_ended_are_still_shown(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    job = office.submit(3)
    starts = office.agents.starts()
    office.end(starts[1])
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "transaction", full)
        office.end(starts[0])
        office.end(starts[2])
        assert office.store.job(job) is None
        for limit in (1, 100):
            entries, at = [], ""
            while at is not None:
                page = tasks_page(office.core, job, at, limit)
                assert page is not None
                entries += page["tasks"]
                at = page["next"]
            assert [(each["task"], each["state"], len(each["attempts"])) for each in entries] == [
                (0, "done", 1),
                (1, "done", 1),
                (2, "done", 1),
            ]
        tried = attempt_of(office.core, job, 2, 0)
        assert (tried.number, tried.is_over, tried.machine) == (1, True, "")
        assert attempt_of(office.core, job, 0, 1).is_over


def test_what_one_round_ends_is_listed_in_the_same_round(office: Office) -> None:
    blocked = office.submit(200)  # more than there are slots: what waits of it is dropped at once
    for start in office.agents.starts():
        office.agents.news.append(TaskEnded(start.attempt, Outcome.FINISHED, Exit("finished", 0)))
    job = office.submit(1, consumer="/B")
    seen: list[list[str]] = []

    def look(_: object) -> None:
        seen.append([each["job"] for each in jobs_page(office.core, Wanted(finished=True))["jobs"]])

    cancelled: Future[None] = Future()
    looked: Future[None] = Future()
    cancelling = Freeing(lambda core: core.feed(JobCancelled(job)))
    office.desk.round([(cancelling, cancelled, True), (look, looked, False)])
    assert set(seen[0]) == {blocked, job}


def test_that_there_is_no_room_is_told_once_in_the_log(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    office.submit(2)
    first, second = office.agents.starts()
    with caplog.at_level(logging.INFO, "fairhold"):
        with monkeypatch.context() as patch:
            patch.setattr(office.store, "transaction", full)
            office.end(first)
            office.end(second)
            assert [record.message for record in caplog.records] == [
                "the disk is full: nothing is accepted or started until there is space"
            ]
        office.desk.round([])
        office.desk.round([])
    assert [record.message for record in caplog.records][1:] == [
        "the disk has space again: pending decisions are written, and work continues"
    ]


def test_without_room_what_was_taken_is_still_explained(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    job = office.submit(1)
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "transaction", full)
        office.end(office.agents.starts()[0])
        explained = job_explanation(office.core, job)
    assert explained is not None
    assert explained["state"] == "done"
