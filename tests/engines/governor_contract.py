"""What every engine that governs a cluster has to do (`ports.governor`), tried with work that people submit there."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.errors import Fault
from fairhold.orchestrator.events import (
    JobHeld,
    JobReleased,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
)
from fairhold.orchestrator.instructions import Forget, Notify, Stop, Withdraw
from fairhold.ports.governor import AWAITED, AllSeen, Appeared, NodesChanged, Parted, Replaced

if TYPE_CHECKING:
    from tests.engines.governor_bench import Bench

LATER = 4_000_000_000_000_000
"""An instant that does not come."""


class GovernorContract:
    """The suite; a class of its own for each implementation makes `bench`."""

    def test_a_start_tells_the_nodes_then_all_work_that_is_there_before_any_machine(self, bench: Bench) -> None:
        uid = bench.submit("early")
        bench.reopen()
        bench.until(lambda: len(bench.all_of(MachineReported)) >= 2)
        kinds = [type(each) for each in bench.told]
        assert kinds.index(NodesChanged) < kinds.index(AllSeen) < kinds.index(MachineReported)
        (seen,) = bench.all_of(AllSeen)
        assert isinstance(seen, AllSeen)
        assert uid in seen.uids
        reported = {each.machine for each in bench.all_of(MachineReported) if isinstance(each, MachineReported)}
        assert reported >= set(bench.place.nodes)

    def test_work_is_told_once_and_waits_until_it_is_let_go(self, bench: Bench) -> None:
        uid, other = bench.submit("a"), bench.submit("b")
        appeared = [each for each in bench.told if isinstance(each, Appeared)]
        assert [each.work for each in appeared] == [(uid,), (other,)]
        assert appeared[0].terms.consumer == appeared[0].spec.consumer == "/risk"
        assert (appeared[0].host, appeared[0].attempt, appeared[0].is_going) == ("", 0, False)
        assert bench.engine.governor.waiting(bench.seats[uid][0]) == [uid]
        attempt = bench.start(uid, at=1)
        bench.until(lambda: TaskRunning(attempt) in bench.told)
        assert bench.engine.governor.is_held(attempt)
        assert bench.engine.governor.waiting(bench.seats[uid][0]) == []
        assert bench.place.runs(uid)
        assert not bench.place.runs(other)

    def test_refused_work_is_asked_for_again_when_the_plan_is_another(self, bench: Bench) -> None:
        bench.refusal = Fault("never-fits", "it does not fit", "")
        uid = bench.place.submit("a")
        bench.until(lambda: bench.all_of(Appeared))
        bench.look()
        assert len(bench.all_of(Appeared)) == 1
        bench.refusal = None
        bench.engine.governor.use(bench.place.plan)
        bench.until(lambda: uid in bench.seats)

    def test_waiting_work_that_changes_loses_its_job_and_is_asked_for_anew(self, bench: Bench) -> None:
        uid = bench.submit("a")
        seat = bench.seats.pop(uid)
        bench.place.change(uid)
        bench.until(lambda: uid in bench.seats)
        appeared = [each for each in bench.told if isinstance(each, Appeared)]
        assert [each.work for each in appeared] == [(uid,), (uid,)]
        parted = Parted(uid, appeared[0].user, *seat)
        assert bench.told.index(parted) < bench.told.index(appeared[1])
        assert appeared[0].terms.siting != appeared[1].terms.siting
        attempt = bench.start(uid)
        bench.until(lambda: TaskRunning(attempt) in bench.told)

    def test_work_that_is_booked_anew_runs_on_and_is_known_by_its_new_number_alone(self, bench: Bench) -> None:
        uid, attempt = bench.run("a")
        again, seat = bench.decide(uid), ("job-anew", 0)
        bench.engine.governor.part(uid)
        bench.engine.governor.accepted(uid, seat, again, bench.place.nodes[0])
        bench.engine.execute([Stop(attempt, "cancel")])
        assert bench.end_of(attempt).outcome is Outcome.STOPPED
        assert bench.place.runs(uid)
        assert bench.engine.governor.seat_of(uid) == seat
        bench.engine.execute([Stop(again, "cancel")])
        assert bench.end_of(again).outcome is Outcome.STOPPED
        assert not bench.place.runs(uid)

    def test_of_what_work_has_outgrown_its_node_has_less_for_others(self, bench: Bench) -> None:
        uid, _ = bench.run("a")
        before = len(bench.all_of(NodesChanged))
        bench.engine.governor.outgrew(uid, (("nvidia.com/gpu", Fraction(0)),), "it is more by now")
        bench.until(lambda: len(bench.all_of(NodesChanged)) > before)
        changed = bench.all_of(NodesChanged)[-1]
        assert isinstance(changed, NodesChanged)
        left = changed.nodes[bench.place.nodes[0]]
        assert left is not None
        assert dict(left.amounts)["nvidia.com/gpu"] == 3
        assert bench.place.runs(uid)

    def test_a_notice_is_seen_by_the_work_and_withdrawn(self, bench: Bench) -> None:
        uid, attempt = bench.run("a")
        bench.engine.execute([Notify(attempt, LATER, "quota", "/trading")])
        bench.until(lambda: "/trading" in bench.place.notice(uid))
        assert "quota" in bench.place.notice(uid)
        bench.engine.execute([Withdraw(attempt)])
        bench.until(lambda: not bench.place.notice(uid))
        assert bench.place.runs(uid)

    def test_stopped_work_is_over_when_it_has_ended_and_goes_when_that_is_recorded(self, bench: Bench) -> None:
        uid, attempt = bench.run("a")
        bench.engine.execute([Stop(attempt, "cancel")])
        end = bench.end_of(attempt)
        assert (end.outcome, end.exit and end.exit.reason) == (Outcome.STOPPED, "cancel")
        assert not bench.place.runs(uid)
        assert bench.place.is_there(uid)
        bench.engine.execute([Forget(attempt, bench.place.nodes[0])])
        bench.until(lambda: not bench.place.is_there(uid))
        assert not bench.engine.governor.is_held(attempt)

    def test_what_is_stopped_before_it_was_let_go_never_runs(self, bench: Bench) -> None:
        uid = bench.submit("a")
        attempt = bench.decide(uid)
        bench.engine.execute([bench.order(attempt), Stop(attempt, "requeue")])
        assert bench.end_of(attempt).outcome is Outcome.STOPPED
        assert not bench.place.runs(uid)
        assert bench.engine.governor.waiting(bench.seats[uid][0]) == [uid]

    def test_an_end_of_its_own_is_told_with_its_exit_status(self, bench: Bench) -> None:
        good, first = bench.run("good")
        bad, second = bench.run("bad")
        bench.place.end(good, 0)
        bench.place.end(bad, 3)
        assert bench.end_of(first).outcome is Outcome.FINISHED
        end = bench.end_of(second)
        assert (end.outcome, end.exit and end.exit.code) == (Outcome.FAILED, 3)

    def test_work_that_vanishes_ends_its_job_waiting_or_running(self, bench: Bench) -> None:
        waiting = bench.submit("waits")
        running, attempt = bench.run("runs")
        for uid in (waiting, running):
            bench.place.delete(uid)
        for uid in (waiting, running):
            bench.until(lambda: TaskCancelled(*bench.seats[uid]) in bench.told)  # noqa: B023 - called at once
        assert bench.end_of(attempt).outcome is Outcome.STOPPED
        late = bench.start(waiting)
        assert bench.end_of(late).outcome is Outcome.STOPPED

    def test_a_start_finds_what_waits_and_what_runs_and_holds_it(self, bench: Bench) -> None:
        waits = bench.submit("waits")
        runs, attempt = bench.run("runs")
        bench.reopen()
        appeared = {each.work[0]: each for each in bench.told if isinstance(each, Appeared)}
        assert (appeared[waits].host, appeared[waits].attempt) == ("", 0)
        assert (appeared[runs].host, appeared[runs].attempt) == (bench.place.nodes[0], attempt)
        held = [
            each
            for report in bench.told
            if isinstance(report, MachineReported) and report.machine == bench.place.nodes[0]
            for each in report.held
        ]
        assert [(each.attempt, each.is_alive, each.exit) for each in held] == [(attempt, True, None)]
        bench.engine.execute([Stop(attempt, "cancel")])
        assert bench.end_of(attempt).outcome is Outcome.STOPPED

    def test_an_order_before_all_is_seen_ends_nothing(self, bench: Bench) -> None:
        uid, attempt = bench.run("a")
        bench.reopen(Stop(attempt, "reclaim"))
        bench.until(lambda: TaskRunning(attempt) in bench.told)
        assert not bench.all_of(TaskEnded)
        assert bench.engine.governor.is_held(attempt)
        assert bench.place.runs(uid)

    def test_an_end_while_nobody_governs_is_told_by_the_next(self, bench: Bench) -> None:
        uid, attempt = bench.run("a")
        bench.reopen(after=lambda: bench.place.end(uid, 7))
        end = bench.end_of(attempt)
        assert end.exit is not None
        assert end.exit.code == 7

    def test_what_was_ordered_before_a_crash_and_not_done_is_done_by_the_next(self, bench: Bench) -> None:
        uid = bench.submit("a")
        attempt = bench.decide(uid, at=1)
        bench.reopen()
        bench.until(lambda: TaskRunning(attempt) in bench.told)

    def test_nothing_is_let_go_while_the_cluster_is_not_heard(self, bench: Bench) -> None:
        waits = bench.submit("waits")
        runs, attempt = bench.run("runs")
        bench.place.cut()
        silent = {MachineSilent(name) for name in bench.place.nodes}
        bench.until(lambda: silent <= {each for each in bench.told if isinstance(each, MachineSilent)})
        late = bench.start(waits, at=1)
        bench.told.clear()
        for _ in range(20):
            bench.look()
        assert not [each for each in bench.told if isinstance(each, TaskRunning | MachineReported)]
        bench.place.mend()
        bench.until(lambda: TaskRunning(late) in bench.told)
        reports = [each for each in bench.told if isinstance(each, MachineReported)]
        assert attempt in {held.attempt for each in reports for held in each.held}
        assert bench.place.runs(runs)

    def test_work_that_is_taken_back_is_held_until_its_controller_has_made_it_anew(self, bench: Bench) -> None:
        bench.place.submit_to_controller("job")
        bench.until(lambda: bench.seats)
        (uid,) = bench.seats
        attempt = bench.start(uid)
        bench.until(lambda: TaskRunning(attempt) in bench.told)
        bench.engine.execute([Stop(attempt, "reclaim")])
        end = bench.end_of(attempt)
        assert (end.outcome, end.exit and end.exit.reason) == (Outcome.STOPPED, "reclaim")
        bench.until(lambda: len(bench.seats) == 2)
        assert len(bench.all_of(Appeared)) == 1  # it is the same task
        (new,) = bench.seats.keys() - {uid}
        assert bench.seats[new] == bench.seats[uid]
        job = bench.seats[uid][0]
        assert (JobHeld(job, AWAITED) in bench.told) == (JobReleased(job) in bench.told)
        again = bench.start(new)
        bench.until(lambda: TaskRunning(again) in bench.told)

    def test_a_task_that_waited_for_its_controller_at_a_crash_gets_the_new_work(self, bench: Bench) -> None:
        bench.place.submit_to_controller("job")
        bench.until(lambda: bench.seats)
        (uid,) = bench.seats
        (asked,) = [each for each in bench.told if isinstance(each, Appeared)]
        owner, _, index = asked.spec.labels["owner"].partition("/")
        seat = bench.seats[uid]
        bench.engine.close()
        bench.told.clear()
        bench.seats.clear()  # the service knows the task, and no work of it
        bench.engine = bench.place.open()
        bench.engine.governor.vacant(seat, (owner, index), b"")
        bench.engine.start()
        bench.until(lambda: uid in bench.seats)
        assert bench.seats[uid] == seat
        assert bench.all_of(Replaced)

    def test_closing_twice_leaves_work_as_it_is(self, bench: Bench) -> None:
        uid, _ = bench.run("a")
        bench.engine.close()
        bench.engine.close()
        assert bench.place.runs(uid)
