"""What happens to a task when its attempt starts to run, and when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator import changes as say
from fairhold.orchestrator.events import NO_SPACE, SUPERVISOR_LOST, Exit, Outcome
from fairhold.orchestrator.instructions import Forget
from fairhold.orchestrator.jobs import end_if_over
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.events import TaskEnded, TaskRunning
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.orchestrator.tasks import JobRecord

MOST_REFUSALS = 5
"""Attempts in a row that a machine may refuse before it is closed."""
MOST_MACHINES = 3
"""Machines on which a job may fail, while no task of it is done, before it is held."""
MOST_SUPERVISORS = 5
"""Attempts of a task that may lose their supervisors: with the last of them it fails."""
LONGEST_BACKOFF = 3_600_000_000
"""An hour in microseconds: pauses before new tries are doubled up to that."""
FIRST_PAUSE, LONGEST_PAUSE = 10 * SECOND, 600 * SECOND
"""How long a machine that could not start anything is left alone: twice as long each time, up to the longest."""
NO_ACCOUNT = "no_account"
"""Reason of an attempt that a host does not run for the user of its job."""
OUTCOMES = {
    "finished": Outcome.FINISHED,
    "failed": Outcome.FAILED,
    "time_limit": Outcome.FAILED,
    "memory": Outcome.FAILED,
    "not_started": Outcome.FAILED,
    "yielded": Outcome.YIELDED,
    "reclaim": Outcome.STOPPED,
    "requeue": Outcome.STOPPED,
    "cancel": Outcome.STOPPED,
    "refused": Outcome.LOST,
    "host_lost": Outcome.LOST,
    "supervisor_lost": Outcome.LOST,
    NO_ACCOUNT: Outcome.LOST,
}
"""What the reason of an exit record means for the task (docs/attempts.md, "A task")."""


def run(live: Orchestrator, event: TaskRunning) -> None:
    """The command of an attempt runs."""
    attempt = live.attempts.get(event.attempt)
    if attempt is not None and not attempt.is_running:
        live.do(say.Running(event.attempt))


def end(live: Orchestrator, event: TaskEnded) -> None:
    """An attempt is over. If that was reported before, only tell the machine again to forget it."""
    attempt = live.attempts.get(event.attempt)
    if attempt is None or event.machine not in {None, attempt.machine}:
        live.order(Forget(event.attempt, event.machine or ""))
        return
    job, host = attempt.job, attempt.places[0][0]
    was_noticed = attempt.notice is not None
    exit_ = event.exit or Exit(event.outcome.value)
    then, instant = _then(live, attempt, event.outcome, exit_.reason)
    live.do(say.Ended(event.attempt, then, instant, *exit_))
    live.order(Forget(event.attempt, attempt.machine))
    if exit_.reason == "refused" and not attempt.stopping:
        _count_refusal(live, attempt.machine, exit_.detail)
    if (why := _at_fault(job, host, exit_)) and job.hold is None and not job.is_over:
        live.do(say.HoldSet(job.name, why))
    if was_noticed or attempt.units > 1 or job.terms.min_count or not live.hand_over(job, host):
        live.changed(job.resource_group)
    end_if_over(live, job)


def _then(live: Orchestrator, attempt: Attempt, outcome: Outcome, reason: str) -> tuple[str, int]:
    """What becomes of the task, and when it is tried again."""
    job = attempt.job
    if outcome is Outcome.FINISHED:
        return say.DONE, 0
    if job.is_cancelled or attempt.index in (job.left_out or ()):
        return (say.FAILED if outcome is Outcome.FAILED else say.CANCELLED), 0
    if reason == SUPERVISOR_LOST and job.supervisors_lost(attempt.index) + 1 >= MOST_SUPERVISORS:
        return say.FAILED, 0  # it may be the task itself that kills them
    own_fault = reason in {"time_limit", "memory", "not_started"}
    if outcome is not Outcome.FAILED or (attempt.noticed and not own_fault):
        return say.AGAIN, 0
    failures = (job.failures or {}).get(attempt.index, 0)
    if failures < job.terms.retries:
        return say.LATER, live.now + _pause(job, failures)
    return say.FAILED, 0


def _at_fault(job: JobRecord, host: str, exit_: Exit) -> str:
    """Why a job is not tried again until somebody lets it go on, empty = nothing keeps it."""
    if exit_.reason == NO_ACCOUNT:
        return f"host {host or 'of the service'} does not run it: {exit_.detail}"
    if job.failed_on is not None and len(job.failed_on) >= MOST_MACHINES:
        return f"it failed on {MOST_MACHINES} hosts, and none of its tasks succeeded"
    return ""


def _pause(job: JobRecord, failures: int) -> int:
    """Microseconds before the next try."""
    asked = job.terms.backoff
    return min(asked << min(failures, 32), max(asked, LONGEST_BACKOFF))


def _count_refusal(live: Orchestrator, machine: str, detail: str) -> None:
    """Close a machine that cannot start anything for a while; otherwise it would take and fail every waiting task.

    A machine without disk space is not broken: it is closed at the first refusal. After a pause one refusal is enough.
    """
    live.do(say.MachineRefused(machine))
    record = live.cluster.machine(machine)
    if record.shut is not None:
        return
    if detail.startswith(NO_SPACE):
        why = "it has no space left to start anything"
    elif record.refusals >= MOST_REFUSALS:
        why = f"it could not start {MOST_REFUSALS} attempts in a row"
    elif record.pauses:
        why = "it still could not start anything"
    else:
        return
    try_at = live.now + min(FIRST_PAUSE << min(record.pauses, 8), LONGEST_PAUSE)
    live.do(say.MachineShut(machine, why, try_at, record.pauses + 1))
    live.changed_all()
