"""The desk without room on the disk: what only gives back is done all the same."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairhold.orchestrator.events import Exit, JobCancelled, MachineReported, Outcome, TaskEnded
from fairhold.orchestrator.instructions import Forget, Stop
from fairhold.ports import Batch, StoreFull
from fairhold.runtime.live.desk import Freeing
from tests.live.test_desk import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    made.desk.round([])
    yield made
    made.store.close()


@contextlib.contextmanager
def full() -> Iterator[Batch]:
    raise StoreFull("there is no room")
    yield


def cancel(office: Office, job: str) -> None:
    with pytest.raises(StoreFull) as caught:
        office.ask(Freeing(lambda core: core.feed(JobCancelled(job))))
    assert caught.value.is_kept


def stops(office: Office) -> list[int]:
    return [order.attempt for order in office.agents.told if isinstance(order, Stop)]


def test_what_is_cancelled_is_stopped_and_written_down_when_there_is_room(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = office.submit(2)
    first, second = (start.attempt for start in office.agents.starts())
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "transaction", full)
        with pytest.raises(StoreFull):
            office.submit()  # decided, and its start must wait
        cancel(office, "2")
        assert stops(office) == [], "it was never sent"
        cancel(office, job)
        assert stops(office) == [first, second]
        office.agents.news += [TaskEnded(each, Outcome.STOPPED, Exit("cancel")) for each in (first, second)]
        office.desk.round([])
        assert len(office.agents.starts()) == 2
        assert not any(isinstance(order, Forget) for order in office.agents.told)
    office.desk.round([])
    assert office.desk.trouble is None
    done = office.store.job(job)
    assert done is not None
    assert done.state == "cancelled"
    assert stops(office) == [first, second, 3], "behind its start"


def test_after_a_crash_what_was_stopped_without_a_word_in_the_log_waits_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(tmp_path)
    office.desk.round([])
    job = office.submit(1)
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "transaction", full)
        cancel(office, job)
        assert stops(office) == [1]
    office.store.close()
    again = Office(tmp_path)
    again.agents.news = [MachineReported("", "boot", 1), TaskEnded(1, Outcome.STOPPED, Exit("cancel"))]
    again.desk.round([])
    again.desk.round([])
    assert [(start.job, start.attempt) for start in again.agents.starts()] == [(job, 2)]
    again.store.close()
