"""The desk when something fails in the middle: half a change is never written, and whoever waits is told."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from fairhold.errors import FairholdError, InputError
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobCancelled, JobChanged, JobSubmitted
from fairhold.ports import Batch, StoreError, StoreFull
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.submitting import Submission
from tests.live.serving import PLAN
from tests.live.test_desk import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    made.desk.round([])
    yield made
    made.store.close()


def held(core: Core) -> str:
    terms = JobSubmitted("", "/A", "compute", 1, is_held=True)
    return core.submit(Submission("ann", "", terms, Spec("/A", ("true",))))


def fail_to_read_specs(office: Office, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """No spec is in memory, and the store cannot say what one is."""

    def fails(_: str) -> str:
        raise error

    office.core.specs._latest.clear()
    monkeypatch.setattr(office.store, "spec", fails)


@pytest.mark.parametrize("error", [StoreError("the disk answers nonsense"), StoreFull("no room to read")])
def test_a_store_that_fails_within_a_write_ends_the_desk_and_nothing_of_it_is_written(
    office: Office, monkeypatch: pytest.MonkeyPatch, error: StoreError
) -> None:
    job = office.ask(held)
    last = office.store.last
    fail_to_read_specs(office, monkeypatch, error)
    office.desk.start()
    answer = office.desk.write(lambda core: core.feed(JobCancelled(job)))
    with pytest.raises(StoreError):
        answer.result(10)
    assert office.desk.failed.result(10) is error
    assert office.store.last == last, "half of the end of a job would be read at the next start"
    with pytest.raises(InputError):
        office.desk.write(held).result(10)


def test_a_broken_rule_within_a_write_is_no_refusal(office: Office) -> None:
    class OfOursError(FairholdError):
        pass

    def ask(_: Core) -> None:
        raise OfOursError

    with pytest.raises(OfOursError):
        office.desk.round([(ask, Future(), True)])


def test_no_room_before_anything_was_changed_is_a_refusal(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: str) -> str:
        raise StoreFull("no room to read")

    monkeypatch.setattr(office.store, "job_of_key", full)
    with pytest.raises(StoreFull) as refused:
        office.submit(key="k")
    assert not refused.value.is_kept
    assert office.ask(lambda core: len(core.orchestrator.jobs), is_write=False) == 0
    monkeypatch.undo()
    assert office.submit(key="k") == "1"


def test_a_change_of_a_job_reads_all_it_needs_first(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    job = office.ask(held)
    fail_to_read_specs(office, monkeypatch, StoreError("the disk answers nonsense"))
    with pytest.raises(StoreError):
        office.core.change(JobChanged(job, 7, "/B"), {"book": "rates"})
    record = office.core.orchestrator.jobs[job]
    assert (record.priority, record.consumer) == (0, "/A")
    assert not office.core.journal


def test_those_behind_one_that_fails_are_refused(office: Office) -> None:
    def fails(_: Core) -> None:
        raise RuntimeError("a fault of ours")

    asked: list[Callable[[Core], Any]] = [held, fails, held, held]
    answers = [office.desk.write(ask) for ask in asked]
    answers.append(office.desk.read(lambda core: core.version))
    assert answers[-1].cancel()
    office.desk.start()
    with pytest.raises(RuntimeError):
        answers[1].result(10)
    for answer in (answers[0], *answers[2:4]):
        with pytest.raises(InputError, match="the service has failed"):
            answer.result(10)


def test_spans_that_are_in_the_store_are_not_kept_in_memory(office: Office) -> None:
    office.core.usage._most = 1  # a span ends at every change
    for number in range(20):
        office.submit()
        office.end(office.agents.starts()[number])
    assert sum("UsageSpan" in entry.body for entry in office.store.entries(0)) > 10

    def look(core: Core) -> int:
        held(core)
        return len(core.usage.tail(core.now()).spans)

    assert office.ask(look) <= 2, "the one at hand, and the one that this round ended"


def test_what_is_not_written_yet_is_kept_for_who_asks_for_usage(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def full() -> Iterator[Batch]:
        raise StoreFull("there is no room")
        yield

    office.submit()
    office.core.usage._most = 1
    monkeypatch.setattr(office.store, "transaction", full)
    with pytest.raises(StoreFull) as kept:
        office.submit()
    assert kept.value.is_kept
    begin = office.ask(lambda core: core.usage.tail(core.now()).begin, is_write=False)
    assert not list(office.store.usage(begin, begin + 1)), "what the tail holds is not in the store"
    monkeypatch.undo()
    office.desk.round([])
    assert list(office.store.usage(begin, begin + 1)), "now it is"
    assert office.ask(lambda core: core.usage.tail(core.now()).begin, is_write=False) > begin


def test_a_plan_that_this_version_refuses_does_not_come_back_and_ends_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    more = PLAN.replace("slots: 6", "slots: 9")
    office.ask(lambda core: core.apply_plan(more, "ann", "", 1, until=core.now() + 10**9))
    found = office.store.plan(1)
    assert found is not None
    older = found._replace(text=PLAN.replace("fairhold: 1", "fairhold: 0"))
    monkeypatch.setattr(office.store, "plan", lambda *_: older)
    office.core.returns = (office.core.returns[0]._replace(at=office.core.now()),)
    office.desk.round([])
    assert "plan 1 cannot come back yet" in caplog.text
    assert office.core.version == 2
    assert office.core.plan.resource_groups["compute"].slots == 9
    assert office.core.returns[0].at > office.core.now() + 30_000_000, "it is tried again later"
    assert office.submit() == "1"
