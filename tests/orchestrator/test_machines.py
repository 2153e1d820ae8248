"""Machines with agents: reports, silence, closing, draining, refusals; and pauses of a group."""

import pytest

from fairhold.agent import spool
from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator.ending import FIRST_PAUSE, LONGEST_PAUSE, MOST_REFUSALS, OUTCOMES
from fairhold.orchestrator.events import (
    NO_SPACE,
    Exit,
    GroupPaused,
    Held,
    JobCancelled,
    JobReleased,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    Woken,
)
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw
from tests.orchestrator.house import SECOND, House, notices, places, starts, stops, withdrawn
from tests.orchestrator.storm import check_cluster


def alive(attempt: int) -> Held:
    return Held(attempt, is_alive=True, exit=None)


def over(attempt: int, reason: str = "finished") -> Held:
    return Held(attempt, is_alive=False, exit=Exit(reason))


def test_a_silent_machine_keeps_its_slots_booked_and_gets_nothing_new() -> None:
    house = House(h1=1, h2=1)
    house.submit(count=4)
    house.take(MachineSilent("h2"))
    assert house.live.attempts[2].is_unknown
    assert starts(house.end(2)) == []
    assert starts(house.end(1)) == [("j1", 2, 1)]
    out = house.take(MachineReported("h2", "b1", last=2))
    assert places(out) == [{"h2": 1}]


def test_a_notice_that_was_withdrawn_while_the_machine_was_silent_is_withdrawn_there_too() -> None:
    house = House(h1=1)
    house.submit()
    house.run(1)
    house.take(MachineClosed("h1", "dust", drain=True))
    assert house.live.attempts[1].notice is not None
    house.take(MachineSilent("h1"))
    house.take(MachineOpened("h1"))
    out = house.take(MachineReported("h1", "b1", last=1, held=(alive(1),)))
    assert [each.attempt for each in out if isinstance(each, Withdraw)] == [1]


def test_a_report_brings_both_sides_together() -> None:
    house = House(h1=6)
    house.submit(count=9)
    for attempt in (1, 2):
        house.run(attempt)
    house.take(MachineSilent("h1"))
    out = house.take(MachineReported("h1", "b1", last=4, held=(alive(1), over(3), over(77, "cancel"), alive(78))))
    # 1 lives; 2 ran and is gone; 3 is over; 4 was never started; 5 and 6 never arrived; 77 and 78 are strays
    numbers = [each.attempt for each in out if isinstance(each, Start)]
    assert numbers == [5, 6, 7, 8, 9]
    assert Stop(78, "stray", "h1") in out
    assert {each.attempt for each in out if isinstance(each, Forget)} == {2, 3, 4, 77}
    job = house.live.jobs["j1"]
    assert (job.finished, job.reclaimed, job.running) == (1, 0, 6)
    check_cluster(house.live.cluster)


@pytest.mark.parametrize(
    ("is_told", "reason", "reclaimed"),
    [
        (True, "reclaim", 1),
        (True, "yielded", 1),
        (True, "failed", 1),
        (True, "supervisor_lost", 0),
        (True, "requeue", 0),
        (False, "host_lost", 0),
        (False, "supervisor_lost", 0),
        (False, "refused", 0),
    ],
)
def test_only_what_was_taken_counts_as_reclaimed(*, is_told: bool, reason: str, reclaimed: int) -> None:
    house = House(h1=1)
    house.submit(count=1)
    house.run(1)
    if is_told:
        house.take(MachineClosed("h1", "dust", drain=True))
    house.take(TaskEnded(1, OUTCOMES[reason], Exit(reason)))
    job = house.live.jobs["j1"]
    assert (job.reclaimed, job.failed, job.finished) == (reclaimed, 0, 0)


def test_a_report_said_twice_changes_nothing_more() -> None:
    house = House(h1=2)
    house.submit(count=4)
    house.run(1)
    report = MachineReported("h1", "b1", last=2, held=(alive(1), over(2)))
    house.take(report)
    before = freeze(house.live.cluster)
    house.take(MachineReported("h1", "b1", last=3, held=(alive(1), over(2), alive(3))))
    once = freeze(house.live.cluster)
    house.take(MachineReported("h1", "b1", last=3, held=(alive(1), over(2), alive(3))))
    assert freeze(house.live.cluster)["attempts"] == once["attempts"]
    assert len(before["attempts"]) == len(once["attempts"]) == 2


def test_an_attempt_whose_supervisor_is_dead_is_not_said_to_run() -> None:
    house = House(h1=1)
    house.submit()
    house.take(MachineReported("h1", "b1", last=1, held=(Held(1, is_alive=False, exit=None),)))
    assert not house.live.attempts[1].is_running
    assert 1 in house.live.attempts


def test_an_end_for_a_reason_that_is_not_known_is_a_failure() -> None:
    house = House(h1=1)
    house.submit()
    house.take(MachineReported("h1", "b1", last=1, held=(over(1, "of a later version"),)))
    assert house.live.jobs["j1"].failed == 1


def test_notice_and_stop_are_said_again_to_who_comes_back() -> None:
    house = House(h1=4)
    house.submit(count=4)
    house.submit("/A", count=1)
    house.take(MachineSilent("h1"))
    noticed = next(number for number, each in house.live.attempts.items() if each.notice)
    held = tuple(alive(number) for number in (1, 2, 3, 4))
    notices = [each for each in house.take(MachineReported("h1", "b1", 4, held)) if isinstance(each, Notify)]
    assert [(each.attempt, each.taker, each.cycle) for each in notices] == [(noticed, "/A", 2)]
    house.wait(5 * SECOND)
    assert stops(house.take(MachineReported("h1", "b1", 4, held))) == [(noticed, "reclaim")]


def test_an_order_that_never_arrived_and_is_not_wanted_any_more_is_over() -> None:
    house = House(h1=1)
    house.submit()
    house.take(MachineSilent("h1"))
    house.take(JobCancelled("j1"))
    assert starts(house.take(MachineReported("h1", "b1", last=0))) == []
    assert house.live.jobs["j1"].cancelled == 1


@pytest.mark.parametrize(("boot", "spool"), [("b2", "s1"), ("b1", "s2"), ("b2", "s2")])
def test_of_a_memory_from_before_a_restart_nothing_is_concluded(boot: str, spool: str) -> None:
    """Without power `last` may be an earlier one: what it does not know may have run."""
    house = House(h1=1)
    house.take(MachineReported("h1", "b1", last=0, spool="s1"))
    house.submit()
    house.take(MachineSilent("h1"))
    out = house.take(MachineReported("h1", boot, last=0, spool=spool))
    assert starts(out) == [("j1", 0, 2)]
    assert house.live.attempts.keys() == {2}


def test_a_machine_that_is_gone_gives_its_attempts_up() -> None:
    house = House(h1=1, h2=1)
    house.submit(count=2)
    house.take(MachineSilent("h2"))
    house.take(MachineGone("h2"))
    assert [*house.live.attempts] == [1]
    assert starts(house.end(1)) == [("j1", 1, 2)]
    out = house.take(MachineReported("h2", "b2", last=2, held=(over(2, "host_lost"),)))
    assert Forget(2, "h2") in out


def test_the_services_own_machine_has_no_name() -> None:
    house = House(own="h1", h1=1, h2=1)
    house.submit(count=2)
    assert [each.machine for each in house.live.attempts.values()] == ["", "h2"]
    house.take(MachineSilent(""))
    assert [each.is_unknown for each in house.live.attempts.values()] == [True, False]


def test_a_machine_that_refuses_again_and_again_is_closed() -> None:
    house = House(h1=1, h2=1)
    house.submit(count=9)
    for _ in range(MOST_REFUSALS - 1):
        assert len(starts(house.end(_on(house, "h1"), "refused"))) == 1
    assert house.live.cluster.machine("h1").shut is None
    assert starts(house.end(_on(house, "h1"), "refused")) == []
    assert house.live.cluster.machine("h1").shut is not None
    assert house.live.jobs["j1"].failed == 0
    assert places(house.take(MachineOpened("h1"))) == [{"h1": 1}]


def test_a_machine_that_could_not_start_anything_is_tried_again_after_longer_and_longer_pauses() -> None:
    house = House(h1=2)
    house.submit(count=9)
    for _ in range(MOST_REFUSALS):
        house.end(_on(house, "h1"), "refused")
    record, pauses = house.live.cluster.machine("h1"), []
    for _ in range(7):
        assert record.shut is not None
        pauses.append(record.try_at - house.now)
        house.end(_on(house, "h1"), "refused")  # one that was under way: it tells nothing new
        assert house.live.cluster.on("h1") == []
        assert not starts(house.wait(record.try_at - house.now - 1))
        assert len(starts(house.wait(1)) + starts(house.wait(SECOND))) == 2
        assert record.shut is None
        assert not starts(house.end(_on(house, "h1"), "refused"))
    assert pauses == [*(FIRST_PAUSE << doubled for doubled in range(6)), LONGEST_PAUSE]


def test_a_machine_without_space_is_left_alone_at_once_and_forgiven_when_it_starts_something() -> None:
    house = House(h1=1)
    house.submit(count=9)
    assert NO_SPACE == spool.NO_SPACE
    full = Exit("refused", detail=f"{NO_SPACE}cannot start a supervisor")
    for _ in range(2):
        assert not starts(house.take(TaskEnded(_on(house, "h1"), Outcome.LOST, full)))
        record = house.live.cluster.machine("h1")
        assert record.shut == "it has no space left to start anything"
        assert record.try_at - house.now == FIRST_PAUSE
        house.wait(FIRST_PAUSE)
        house.wait(SECOND)
        house.run(_on(house, "h1"))
        assert [record.shut, record.pauses] == [None, 0]


def test_a_pause_is_in_the_log_and_in_a_snapshot_and_ends_where_somebody_closes_the_machine() -> None:
    house = House(h1=1)
    house.submit(count=9)
    house.take(TaskEnded(1, Outcome.LOST, Exit("refused", detail=NO_SPACE)))
    cluster = house.live.cluster
    due = cluster.machine("h1").try_at
    thawed = thaw(freeze(cluster), open_books(house.plan, State(now=house.now)), forgets=False, own="")
    assert freeze(thawed) == freeze(cluster)
    assert thawed.due.next() == cluster.due.next() == due
    house.take(MachineClosed("h1", "mine"))
    assert cluster.due.next() is None
    house.wait(2 * LONGEST_PAUSE)
    assert cluster.machine("h1").shut == "mine"


def _on(house: House, machine: str) -> int:
    return house.live.cluster.on(machine)[0].name


def test_a_start_that_succeeds_begins_the_count_of_refusals_again() -> None:
    house = House(h1=1)
    house.submit(count=99)
    for _ in range(MOST_REFUSALS - 1):
        house.end(_on(house, "h1"), "refused")
    house.run(_on(house, "h1"))
    for _ in range(MOST_REFUSALS - 1):
        house.end(_on(house, "h1"), "refused")
    assert house.live.cluster.machine("h1").shut is None


def test_a_refusal_of_what_was_told_to_stop_is_nobodys_fault() -> None:
    house = House(h1=MOST_REFUSALS)
    house.submit(count=MOST_REFUSALS)
    house.take(JobCancelled("j1"))
    for attempt in tuple(house.live.attempts):
        house.end(attempt, "refused")
    assert house.live.cluster.machine("h1").shut is None
    assert house.live.jobs["j1"].cancelled == MOST_REFUSALS


def test_a_job_that_fails_on_three_machines_is_held_and_can_be_released() -> None:
    house = House(h1=1, h2=1, h3=1)
    house.submit(count=6)
    for attempt in (1, 2):
        house.end(attempt, "failed")
    assert house.live.jobs["j1"].hold is None
    assert starts(house.end(3, "failed")) == []
    assert house.live.jobs["j1"].hold == "it failed on 3 hosts, and none of its tasks succeeded"
    assert len(starts(house.take(JobReleased("j1")))) == 1
    house.end(4, "failed")
    assert house.live.jobs["j1"].hold is None


def test_a_job_of_which_a_task_is_done_goes_on_whatever_fails() -> None:
    house = House(h1=1, h2=1, h3=1, h4=1)
    house.submit(count=400)
    house.end(1, "failed")
    house.end(2)
    for _ in range(8):
        for machine in ("h1", "h2", "h3", "h4"):
            assert len(starts(house.end(_on(house, machine), "failed"))) == 1
    assert (house.live.jobs["j1"].hold, house.live.jobs["j1"].failed_on) == (None, None)


def test_a_restored_log_goes_on_above_the_numbers_that_a_machine_has_started() -> None:
    house = House(own="h1", h1=1, h2=1)
    for machine in ("", "h2"):
        house.take(MachineSilent(machine))
    house.submit(count=4)
    out = house.take(MachineReported("", "b1", last=188, held=(over(188),)))
    assert [each.attempt for each in out if isinstance(each, Start)] == [189]
    out = house.take(MachineReported("h2", "b1", last=400))
    assert [each.attempt for each in out if isinstance(each, Start)] == [401]
    assert [each.attempt for each in house.end(401) if isinstance(each, Start)] == [402]
    again = thaw(freeze(house.live.cluster), open_books(house.plan, State(now=0)), forgets=False, own="h1")
    assert again.next_attempt == 403


def test_the_end_of_a_stray_is_not_that_of_an_attempt_of_its_number_on_another_machine() -> None:
    house = House(own="h1", h1=1, h2=1)
    for machine in ("", "h2"):
        house.take(MachineSilent(machine))
    house.submit(count=2)
    assert places(house.take(MachineReported("h2", "b1", last=0))) == [{"h2": 1}]
    out = house.take(MachineReported("", "b1", last=5, held=(alive(1),)))  # it started 1 to 5 for a log that is lost
    assert Stop(1, "stray", "") in out
    assert Forget(1, "") in house.take(TaskEnded(1, Outcome.STOPPED, Exit("stray"), ""))
    assert house.live.attempts[1].machine == "h2"
    house.take(TaskEnded(1, Outcome.FINISHED, Exit("finished"), "h2"))
    assert house.live.jobs["j1"].finished == 1


def test_a_closed_machine_starts_nothing_and_what_runs_goes_on() -> None:
    house = House(h1=1, h2=1)
    house.submit(count=4)
    out = house.take(MachineClosed("h2", "a fan is broken"))
    assert (stops(out), notices(out)) == ([], [])
    assert starts(house.end(2)) == []
    assert len(starts(house.take(MachineOpened("h2")))) == 1
    with pytest.raises(InputError):
        house.take(MachineClosed("h9", ""))


def test_a_drained_machine_is_left_within_the_graces_of_its_holders() -> None:
    house = House(h1=1, h2=1)
    house.submit(count=2)
    house.submit("/A", count=1)
    house.end(1)
    out = house.take(MachineClosed("h2", "new memory", drain=True))
    assert notices(out) == [(2, house.now + 2 * SECOND, "host")]
    assert house.live.books["c"].noticed == house.live.books["c"].kept  # no cycle has taken it
    assert stops(house.wait(2 * SECOND)) == [(2, "reclaim")]
    house.end(2, "reclaim")
    assert house.live.jobs["j1"].waiting == 1


def test_a_drain_outlives_the_withdrawal_of_a_notice() -> None:
    house = House(h1=4)
    house.submit(count=4)
    house.submit("/A", count=1)
    noticed = next(number for number, each in house.live.attempts.items() if each.notice)
    house.take(MachineClosed("h1", "", drain=True))
    deadline = house.live.attempts[noticed].leaving
    out = house.take(JobCancelled("j2"), 100_000)
    assert withdrawn(out) == []
    assert (noticed, deadline, "host") in notices(out)
    assert len(stops(house.wait(5 * SECOND))) == 4


def test_a_machine_that_is_opened_again_keeps_who_was_told_to_leave() -> None:
    house = House(h1=2)
    house.submit(count=2)
    house.take(MachineClosed("h1", "", drain=True))
    assert withdrawn(house.take(MachineOpened("h1"))) == [1, 2]
    assert stops(house.wait(60 * SECOND)) == []


def test_a_group_whose_grants_are_paused_starts_nothing() -> None:
    house = House(h1=2)
    house.take(GroupPaused("c", grants=True, reclaims=False))
    assert starts(house.submit(count=3)) == []
    assert len(starts(house.take(GroupPaused("c", grants=False, reclaims=False)))) == 2
    house.take(GroupPaused("c", grants=True, reclaims=False))
    assert starts(house.end(1)) == []


def test_a_group_whose_reclaims_are_paused_tells_nobody_to_go() -> None:
    house = House(h1=4)
    house.submit(count=4)
    house.take(GroupPaused("c", grants=False, reclaims=True))
    assert notices(house.submit("/A", count=2)) == []
    assert len(notices(house.take(GroupPaused("c", grants=False, reclaims=False)))) == 2
    with pytest.raises(InputError):
        house.take(GroupPaused("nothing", grants=True, reclaims=True))


def test_running_said_twice_is_written_once() -> None:
    house = House(h1=1)
    house.submit()
    house.run(1)
    assert len(house.live.changes) == 1
    house.run(1)
    assert house.live.changes == []
    house.take(Woken())
