"""What is told of one job whose tasks take units of vectors: its request, who has units, and what comes to its leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.pooled.active_entries import groups_of_members
from fairhold.ledger.vectors import POOLED
from fairhold.runtime.live.views.pools import told_of_request
from fairhold.runtime.live.views.queues import state_today
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
MOST_HOLDERS = 20


def job_in_pools(core: Core, job: JobRecord) -> Document:
    """What `explain --json` of a state tells of a request, with the leaves that have units where it could stand.

    A cycle bounds units of vectors by no quota of a leaf: `request` says level by level what keeps more from it.
    """
    leaf = job.consumer
    return {
        "leaf": None,
        "bound": None,
        "bounds": [],
        "holders": list(_holders(core, job)),
        "notices": list(_coming(core, leaf)),
        "request": told_of_request(core, job),
    }


def what_would_help(core: Core, name: str) -> Callable[[Document], Document]:
    """Adds to what is told of a job what would give it more; called in another thread than the desk's.

    What is sought for is the state at hand, by whole cycles that are tried: that takes long where much waits.
    """
    job = core.cluster.jobs.get(name)
    if job is None or job.resource_group != POOLED or not job.startable:
        return lambda told: told
    plan, state, leaf = core.plan, state_today(core), job.consumer

    def look(told: Document) -> Document:
        requests = (each for mine in explain_pools(plan, state, leaf, request=name) for each in mine["requests"])
        found: Document = next((each for each in requests if each["request"] == name), {})
        if "would_help" not in found or told["request"] is None:
            return told
        sought = {name: found[name] for name in ("would_help", "search")}
        return told | {"request": told["request"] | sought}

    return look


def _holders(core: Core, job: JobRecord) -> Iterator[Document]:
    """Other leaves with units on hosts of the groups that the job's leaf shares, the largest first."""
    plan = core.plan
    groups = groups_of_members(plan)[plan.tree.first_level[plan.tree.rows[job.consumer]]]
    hosts = {host.name for name in groups for host in plan.resource_groups[name].hosts}
    found: dict[str, list[Attempt]] = {}
    for attempt in _attempts(core):
        if attempt.places[0][0] in hosts and attempt.job.consumer != job.consumer:
            found.setdefault(attempt.job.consumer, []).append(attempt)
    for path in sorted(found, key=lambda path: (-len(found[path]), path))[:MOST_HOLDERS]:
        deadlines = [each.notice.deadline for each in found[path] if each.notice is not None]
        yield {
            "consumer": path,
            "units": len(found[path]),
            "quota": None,
            "reclaiming": len(deadlines),
            "deadline": format_instant(max(deadlines)) if deadlines else None,
        }


def _coming(core: Core, leaf: str) -> Iterator[Document]:
    """Units under notice that are on their way to a leaf, the earliest deadline first."""
    told = [(each.notice, each) for each in _attempts(core) if each.notice is not None and each.notice.taker == leaf]
    for notice, attempt in sorted(told, key=lambda pair: (pair[0].deadline, pair[1].name)):
        yield {
            "consumer": attempt.job.consumer,
            "attempt": attempt.name,
            "units": 1,
            "for": leaf,
            "deadline": format_instant(notice.deadline),
        }


def _attempts(core: Core) -> Iterator[Attempt]:
    return (each for each in core.cluster.attempts.values() if each.job.resource_group == POOLED)
