"""What becomes of a job that a host does not run for its user."""

from __future__ import annotations

from fairhold.orchestrator.events import Exit, JobReleased, Outcome, TaskEnded
from tests.orchestrator.house import House, starts


def test_a_job_that_a_host_does_not_run_for_its_user_is_held_and_uses_up_nothing() -> None:
    house = House(h1=2, h2=2)
    house.submit(count=6, retries=1)
    machine = house.live.attempts[1].machine
    refusal = TaskEnded(1, Outcome.LOST, Exit("no_account", detail="this host has no account 'ben'"), machine)
    assert starts(house.take(refusal)) == []
    job = house.live.jobs["j1"]
    assert job.hold == f"host {machine} does not run it: this host has no account 'ben'"
    for attempt in (2, 3, 4):
        assert starts(house.end(attempt, "no_account")) == []
    assert (job.waiting, job.failures, job.failed_on) == (6, None, None)
    assert house.live.cluster.machine(machine).refusals == 0
    assert len(starts(house.take(JobReleased("j1")))) == 4
    for attempt in (5, 6, 7, 8):
        house.end(attempt)
    assert job.finished == 4
