"""The orchestrator event by event."""

import json

import pytest

from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator.events import (
    Event,
    HostJoined,
    HostLost,
    JobCancelled,
    JobSubmitted,
    Outcome,
    TaskEnded,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Instruction, Notify, Start, Stop, WakeAt, Withdraw
from fairhold.planio.plan import parse_plan

SECOND = 1_000_000


def orchestrator(**group: object) -> Orchestrator:
    plan, _ = parse_plan(
        json.dumps(
            {
                "fairhold": 1,
                "resource_groups": {"compute": group or {"slots": 4}},
                "consumers": {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "2s"}},
                "policies": [
                    {
                        "resource_groups": ["compute"],
                        "policy": "hybrid",
                        "consumers": {"/A": {"owned": 2}, "/B": {"owned": 2}},
                    }
                ],
            }
        ),
        "plan",
    )
    return Orchestrator(open_books(plan, State(now=0)))


def submit(machine: Orchestrator, job: str, consumer: str, count: int, now: int) -> tuple[Instruction, ...]:
    return then_wake(machine, JobSubmitted(job, consumer, "compute", count), now)


def then_wake(machine: Orchestrator, event: Event, now: int) -> tuple[Instruction, ...]:
    """What an event leads to, with the cycle that it asks for at once."""
    out = machine.handle(event, now)
    return out[:-1] + machine.handle(Woken(), now) if out and out[-1] == WakeAt(now) else out


def test_idle_slots_start_tasks_at_once() -> None:
    machine = orchestrator()
    out = submit(machine, "wide", "/B", 9, 0)
    assert out == tuple(Start(number, "wide", number - 1, 1, "compute", "") for number in (1, 2, 3, 4))
    assert machine.jobs["wide"].waiting == 5


def test_r_grace_1_a_borrower_is_told_and_stopped_after_its_own_grace_s1_62() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 9, 0)
    out = submit(machine, "returns", "/A", 2, SECOND)
    notices = [row for row in out if isinstance(row, Notify)]
    assert [(row.attempt, row.deadline, row.reason, row.taker) for row in notices] == [
        (4, 3 * SECOND, "quota", "/A"),
        (3, 3 * SECOND, "quota", "/A"),
    ]
    assert out[-1] == WakeAt(3 * SECOND)
    stops = machine.handle(Woken(), 3 * SECOND)
    assert set(stops) == {Stop(4), Stop(3)}
    assert machine.handle(Woken(), 3 * SECOND) == ()


def test_r_settle_1_a_stopped_task_waits_again_in_front_with_its_attempt_counted_s1_55_s1_60() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 9, 0)
    submit(machine, "returns", "/A", 1, SECOND)
    machine.handle(Woken(), 3 * SECOND)
    out = then_wake(machine, TaskEnded(4, Outcome.STOPPED), 3 * SECOND)
    assert Start(5, "returns", 0, 1, "compute", "") in out
    assert machine.jobs["wide"].waiting == 6
    out = then_wake(machine, TaskEnded(5, Outcome.FINISHED), 4 * SECOND)
    assert Start(6, "wide", 3, 2, "compute", "") in out


def test_a_unit_stays_booked_until_the_engine_says_that_it_is_free() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 4, 0)
    submit(machine, "returns", "/A", 1, SECOND)
    assert not [row for row in machine.handle(Woken(), 9 * SECOND) if isinstance(row, Start)]
    assert machine.books["compute"].held[machine.books["compute"].rows.by_path["/B"]] == 4


def test_s1_59_who_finishes_in_time_is_done_and_its_slot_goes_on() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 4, 0)
    submit(machine, "returns", "/A", 1, SECOND)
    out = then_wake(machine, TaskEnded(4, Outcome.FINISHED), 2 * SECOND)
    assert Start(5, "returns", 0, 1, "compute", "") in out
    assert machine.jobs["wide"].finished == 1
    assert machine.jobs["wide"].waiting == 0


def test_a_notice_that_nobody_needs_any_more_is_withdrawn() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 4, 0)
    submit(machine, "returns", "/A", 1, SECOND)
    assert Withdraw(4) in then_wake(machine, JobCancelled("returns"), 2 * SECOND)
    assert machine.handle(Woken(), 9 * SECOND) == ()


def test_r_hand_1_a_leaf_within_its_quota_hands_its_slot_on_without_a_cycle() -> None:
    cycles: list[str] = []
    machine = orchestrator()
    submit(machine, "own", "/A", 9, 0)
    submit(machine, "other", "/B", 9, 0)
    machine.on_cycle = lambda _result, cause: cycles.append(cause)
    machine.handle(Woken(), 50_000)
    cycles.clear()
    running = [number for number, attempt in machine.attempts.items() if attempt.job.name == "own"]
    for number in running[2:]:
        then_wake(machine, TaskEnded(number, Outcome.STOPPED), 60_000)
    machine.handle(Woken(), 200_000)
    cycles.clear()
    out = then_wake(machine, TaskEnded(running[0], Outcome.FINISHED), 210_000)
    assert [row.job for row in out if isinstance(row, Start)] == ["own"]
    assert cycles == []


def test_a_cancelled_job_stops_what_runs_and_forgets_the_rest() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 9, 0)
    out = then_wake(machine, JobCancelled("wide"), SECOND)
    assert {row for row in out if isinstance(row, Stop)} == {Stop(number, "cancel") for number in (1, 2, 3, 4)}
    for number in (1, 2, 3, 4):
        then_wake(machine, TaskEnded(number, Outcome.STOPPED), 2 * SECOND)
    job = machine.jobs["wide"]
    assert (job.waiting, job.running, job.cancelled, job.dropped) == (0, 0, 4, 5)
    assert machine.books["compute"].requests.row_of == {}


def test_a_lost_host_takes_no_new_work_and_comes_back() -> None:
    machine = orchestrator(hosts=[{"name": "h[1-2]", "slots": 2}])
    assert [row.host for row in submit(machine, "wide", "/B", 9, 0) if isinstance(row, Start)] == ["h1"] * 2 + [
        "h2"
    ] * 2
    then_wake(machine, HostLost("compute", "h2"), SECOND)
    out = then_wake(machine, TaskEnded(3, Outcome.STOPPED), 2 * SECOND)
    out += then_wake(machine, TaskEnded(4, Outcome.STOPPED), 3 * SECOND)
    assert not [row for row in out if isinstance(row, Start)]
    out = then_wake(machine, HostJoined("compute", "h2", 3), 4 * SECOND)
    assert [row.host for row in out if isinstance(row, Start)] == ["h2"] * 3


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (JobSubmitted("taken", "/A", "compute", 1), "duplicate-job"),
        (JobSubmitted("new", "/", "compute", 1), "not-a-leaf"),
        (JobSubmitted("new", "/nobody", "compute", 1), "not-a-leaf"),
        (JobSubmitted("new", "/A", "gpu", 1), "unknown-resource-group"),
        (JobSubmitted("new", "/A", "compute", 0), "out-of-range"),
        (HostLost("compute", "h9"), "unknown-host"),
        (HostLost("gpu", ""), "unknown-resource-group"),
        (HostJoined("compute", "h9", -1), "out-of-range"),
    ],
)
def test_what_cannot_be_taken_is_refused_by_code_and_changes_nothing(event: Event, code: str) -> None:
    machine = orchestrator()
    submit(machine, "taken", "/A", 1, 0)
    with pytest.raises(InputError) as caught:
        machine.handle(event, SECOND)
    assert [fault.code for fault in caught.value.faults] == [code]
    assert list(machine.jobs) == ["taken"]
    assert sum(machine.books["compute"].demand) == 1


def test_an_end_said_twice_changes_nothing() -> None:
    machine = orchestrator()
    submit(machine, "wide", "/B", 4, 0)
    then_wake(machine, TaskEnded(1, Outcome.FINISHED), SECOND)
    before = machine.jobs["wide"].finished
    then_wake(machine, TaskEnded(1, Outcome.FINISHED), SECOND)
    assert machine.jobs["wide"].finished == before
