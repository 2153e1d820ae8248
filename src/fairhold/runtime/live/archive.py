"""What is kept of attempts and jobs that are over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.model.siting import siting_of
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.queue_fitting import is_preemptible
from fairhold.ports import FinishedJob, FinishedTask
from fairhold.runtime.live.reclaims import detail_text

if TYPE_CHECKING:
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.reclaims import Reclaim


def finished_task(attempt: Attempt, change: say.Ended, now: int, reclaim: Reclaim | None = None) -> FinishedTask:
    """An attempt that ended at `now`; reclaim: the notice that it was under."""
    job = attempt.job
    return FinishedTask(
        job=job.name,
        task=attempt.index,
        number=attempt.number,
        attempt=attempt.name,
        consumer=job.consumer,
        user=job.terms.user,
        host=attempt.places[0][0],
        units=attempt.units,
        state=change.then,
        reason=change.reason,
        code=change.code,
        signal=change.signal,
        detail=detail_text(change.detail, reclaim),
        started=attempt.started,
        ended=now,
        cpu=change.cpu,
        peak=change.peak,
    )


def counts(job: JobRecord) -> dict[str, int]:
    """How many tasks of a job are where; together they are its tasks, `reclaimed` apart."""
    return {
        "tasks": job.terms.tasks,
        "waiting": job.waiting,
        "delayed": len(job.delays or ()),
        "running": job.running,
        "done": job.finished,
        "failed": job.failed,
        "cancelled": job.cancelled + job.dropped,
        "reclaimed": job.reclaimed,
    }


def asked_unit(terms: say.JobAdded) -> dict[str, Any]:
    """What each task needs of resources, None where it needs slots, and how many begin together."""
    return {"unit": dict(terms.unit) or None, "min_count": terms.min_count}


def sited(siting: tuple[tuple[str, ...] | str, ...]) -> dict[str, Any]:
    """What a job says of hosts, by the names of the contract."""
    need, prefer, avoid, place = siting_of(siting)
    return {"need": [*need], "prefer": [*prefer], "avoid": [*avoid], "place": place or None}


def exit_code(then: str, code: int, signal: int) -> int:
    """Exit code that stands for a task: 0 where it is done, else its own, 128 and its signal's number, or 1."""
    if then == say.DONE:
        return 0
    return code if code > 0 else 128 + signal if signal else 1


def finished_job(
    job: JobRecord,
    change: say.JobEnded,
    now: int,
    cluster: Cluster,
    spec: Spec | None,
    *,
    code: int = 1,
    dropped: say.JobDropped | None = None,
) -> FinishedJob:
    """A job that ended at `now`; code: of its last task; dropped: its cancel, where that came with its end."""
    terms = job.terms
    summary = counts(job) | {
        "resource_group": job.resource_group,
        "priority": job.priority,
        "units": terms.units,
        "throttle": terms.throttle,
        "retries": terms.retries,
        "after": [{"job": needed, "on": on} for needed, on in terms.after],
        **(sited(terms.siting) if terms.siting else {}),
        **(asked_unit(terms) if terms.unit else {}),
        **({} if is_preemptible(cluster, job) else {"preemptible": False}),
        "exit_code": 0 if change.state == say.DONE else code if terms.tasks == 1 else 1,
    }
    if dropped and dropped.needed:
        summary["never_ready"] = {"job": dropped.needed, "state": dropped.ended}
    return FinishedJob(
        job=job.name,
        consumer=job.consumer,
        user=terms.user,
        name=spec.name if spec else "",
        state=change.state,
        submitted=job.submitted,
        ended=now,
        labels=dict(spec.labels) if spec else {},
        summary=json.dumps(summary),
    )
