"""The desk: what is answered is durable, and what cannot be written is kept."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import (
    Event,
    Exit,
    Held,
    JobSubmitted,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    TaskRunning,
)
from fairhold.orchestrator.instructions import Forget, Start
from fairhold.orchestrator.outbox import Order
from fairhold.ports import Batch, Store, StoreError, StoreFull
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.opening import Rising
from fairhold.runtime.live.recovery import frozen, take_up
from fairhold.runtime.live.submitting import Limits, Submission
from fairhold.store.opening import open_store
from tests.live.serving import PLAN


class FakeAgents:
    """Agents that do nothing but remember what they were told."""

    def __init__(self) -> None:
        self.told: list[Order] = []
        self.news: list[Event] = [MachineReported("", "boot", 0)]

    def execute(self, instructions: Iterable[Order]) -> None:
        self.told.extend(instructions)

    def events(self) -> Sequence[Event]:
        news, self.news = self.news, []
        return news

    def starts(self) -> list[Start]:
        return [order for order in self.told if isinstance(order, Start)]


class Office:
    """A desk whose rounds the test makes, on a store in a folder."""

    def __init__(
        self, directory: Path, *, text: str = PLAN, limits: Limits | None = None, store: Store | None = None
    ) -> None:
        self.store: Store = store or open_store(directory)
        self.core = Core(self.store, Rising(self.store.last_at), limits=limits, cycle_min_gap=0)
        self.core.open(text, "plan.yaml", "ann")
        self.agents = FakeAgents()
        self.desk = Desk(self.core, self.agents)

    def ask(self, what: Any, *, is_write: bool = True) -> Any:
        answer: Future[Any] = Future()
        self.desk.round([(what, answer, is_write)])
        return answer.result(0)

    def submit(self, count: int = 1, *, key: str = "", user: str = "ann", consumer: str = "/A") -> str:
        terms = JobSubmitted("", consumer, "compute", count)
        return str(self.ask(lambda core: core.submit(Submission(user, key, terms, Spec(consumer, ("true",))))))

    def end(self, start: Start) -> None:
        self.agents.news += [
            TaskRunning(start.attempt),
            TaskEnded(start.attempt, Outcome.FINISHED, Exit("finished", 0)),
        ]
        self.desk.round([])


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    yield made
    made.store.close()


def test_agents_are_told_before_anybody_else_is(office: Office) -> None:
    office.desk.round([])
    seen: list[tuple[str, int]] = []
    office.desk.listeners.append(lambda _: seen.append(("listener", len(office.agents.starts()))))
    answer: Future[Any] = Future()
    answer.add_done_callback(lambda _: seen.append(("client", len(office.agents.starts()))))
    terms = JobSubmitted("", "/A", "compute", 2)
    office.desk.round([(lambda core: core.submit(Submission("ann", "", terms, Spec("/A", ("true",)))), answer, True)])
    assert seen == [("listener", 2), ("client", 2)]


def test_agents_are_told_only_what_is_durable(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.desk.round([])
    at_start: list[int] = []
    execute = office.agents.execute

    def look(instructions: Iterable[Order]) -> None:
        at_start.append(office.store.last)
        bodies = [entry.body for entry in office.store.entries(0)]
        for order in instructions:
            if isinstance(order, Start):
                assert any(body.startswith(f'["Started",{order.attempt},') for body in bodies)
        execute(instructions)

    monkeypatch.setattr(office.agents, "execute", look)
    assert office.submit(3) == "1"
    assert len(office.agents.starts()) == 3
    assert at_start


def test_the_same_key_of_the_same_user_is_the_same_job(office: Office) -> None:
    assert office.submit(key="k") == "1"
    assert office.submit(key="k") == "1"
    assert office.submit(key="k", user="bob") == "2"
    assert office.submit() == "3"


def test_a_full_disk_refuses_what_is_new_and_keeps_what_was_decided(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.desk.round([])
    job = office.submit(2)
    (first, second) = office.agents.starts()
    real = office.store.transaction

    @contextlib.contextmanager
    def full() -> Iterator[Batch]:
        raise StoreFull("there is no room")
        yield

    monkeypatch.setattr(office.store, "transaction", full)
    office.end(first)
    assert isinstance(office.desk.trouble, StoreFull)
    assert not any(isinstance(order, Forget) for order in office.agents.told), "its record is all that there is"
    with pytest.raises(StoreFull):
        office.submit()
    assert office.ask(lambda core: len(core.orchestrator.jobs), is_write=False) == 1, "looking is possible"
    monkeypatch.setattr(office.store, "transaction", real)
    office.end(second)
    assert office.desk.trouble is None
    done = office.store.job(job)
    assert done is not None
    assert done.state == "done"
    assert {order.attempt for order in office.agents.told if isinstance(order, Forget)} == {1, 2}
    assert office.submit() == "2"


def test_what_was_decided_before_a_report_of_the_same_round_is_told_once(office: Office) -> None:
    office.desk.round([])
    office.agents.news = [MachineSilent(""), MachineReported("", "boot", 0)]
    office.submit(2)
    starts = [start.attempt for start in office.agents.starts()]
    assert starts == sorted(set(starts))
    assert len(starts) == 2


def test_a_broken_store_ends_the_desk(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    office.desk.round([])

    @contextlib.contextmanager
    def broken() -> Iterator[Batch]:
        raise StoreError("the disk answers nonsense")
        yield

    monkeypatch.setattr(office.store, "transaction", broken)
    office.desk.start()
    answer = office.desk.write(
        lambda core: core.submit(Submission("ann", "", JobSubmitted("", "/A", "compute", 1), Spec("/A", ("true",))))
    )
    assert isinstance(office.desk.failed.result(10), StoreError)
    with pytest.raises(InputError):
        answer.result(10)


def test_a_start_takes_up_what_was_there_and_says_again_what_matters(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.desk.round([])
    job = office.submit(8)
    starts = office.agents.starts()
    assert len(starts) == 6
    office.agents.news += [TaskRunning(1), TaskEnded(2, Outcome.FAILED, Exit("failed", 3))]
    office.desk.round([])
    before = frozen(office.core)
    office.store.close()

    again = Office(tmp_path)
    assert again.core.orchestrator.jobs[job].failed == 1
    again.desk.round([])
    held = (Held(1, True, None), Held(3, True, Exit("finished", 0)))  # noqa: FBT003
    again.agents.news = [MachineReported("", "boot", 4, held)]
    again.desk.round([])
    record = again.core.orchestrator.jobs[job]
    assert (record.finished, record.failed) == (1, 1)
    assert {start.attempt for start in again.agents.starts()} >= {5, 6}, "they never arrived"
    assert before != frozen(again.core)
    assert again.core.next_job == 2
    again.store.close()


def test_a_snapshot_and_the_rest_of_the_log_give_the_same_state_as_the_log_alone(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.desk.round([])
    office.submit(4)
    office.store.save_snapshot(office.store.last, office.store.last_at, frozen(office.core).encode())
    office.end(office.agents.starts()[0])
    office.submit(2, consumer="/B")
    expected = frozen(office.core)
    office.store.close()
    store = open_store(tmp_path)
    core = Core(store, Rising(store.last_at))
    from fairhold.runtime.live.recovery import take_up  # noqa: PLC0415

    take_up(core)
    assert frozen(core) == expected
    store.close()


def test_a_snapshot_that_is_gathered_while_work_goes_on_is_a_beginning_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(tmp_path)
    for _ in range(30):
        office.submit(2)
    monkeypatch.setattr("fairhold.runtime.live.desk.SNAPSHOT_EVERY", 1)
    monkeypatch.setattr("fairhold.runtime.live.desk.SLICE", 1)
    office.submit()
    assert office.desk.is_gathering
    monkeypatch.setattr("fairhold.runtime.live.desk.SNAPSHOT_EVERY", 10**9)
    for start in office.agents.starts():
        office.end(start)
    while office.desk.is_gathering:
        office.submit()
    expected = frozen(office.core)
    snapshot = office.store.load().snapshot
    assert snapshot is not None
    assert snapshot.seq < office.store.last
    office.store.close()
    again = open_store(tmp_path)
    core = Core(again, Rising(again.last_at))
    take_up(core)
    assert json.loads(frozen(core)) == json.loads(expected)
    again.close()


def test_limits_have_names(tmp_path: Path) -> None:
    office = Office(tmp_path, limits=Limits(tasks=5, waiting=7))
    office.desk.round([])
    with pytest.raises(InputError, match="`tasks` of one job is 5"):
        office.submit(6)
    office.submit(5)
    with pytest.raises(InputError, match="`waiting` is 7"):
        office.submit(5)
    office.store.close()


def test_another_plan_keeps_the_jobs_or_is_refused_whole(office: Office) -> None:
    office.desk.round([])
    office.submit(2)
    gone = PLAN.replace("  A: {reclaim_grace: 200ms}\n", "").replace("/A: {owned: 3}, ", "")
    with pytest.raises(InputError):
        office.ask(lambda core: core.apply_plan(gone, "ann", "", 1))
    assert office.core.version == 1
    with pytest.raises(InputError, match="plan 1 is in force"):
        office.ask(lambda core: core.apply_plan(PLAN, "ann", "", 7))
    more = PLAN.replace("slots: 6", "slots: 9")
    assert office.ask(lambda core: core.apply_plan(more, "ann", "nine", 1)) == 2
    assert office.core.orchestrator.jobs["1"].running == 2
    renamed = more.replace("  A:", "  Alpha:").replace("/A:", "/Alpha:")
    assert office.ask(lambda core: core.apply_plan(renamed, "ann", "", 2, moved={"/A": "/Alpha"})) == 3
    office.submit(1, consumer="/Alpha")
