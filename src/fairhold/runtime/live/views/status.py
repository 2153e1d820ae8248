"""The service on one screen: hosts, what is used, who waits, and what is under notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fairhold.ledger.vectors import POOLED
from fairhold.model.hostnames import fold
from fairhold.orchestrator.waiting_jobs import WaitingJobs
from fairhold.runtime.live.views.hosts import hosts_document
from fairhold.runtime.live.views.pools import resources_of_groups
from fairhold.runtime.live.views.prospect import prospect
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.runtime.live.core import Core

Document = dict[str, Any]


def status_document(core: Core, gone: Mapping[str, int] | None = None) -> Document:
    """All that the core knows of it; gone : as in `hosts_document`."""
    return {
        "hosts": _hosts(core, gone),
        "resource_groups": _groups(core),
        "waiting": _waiting(core),
        "reclaiming": _reclaiming(core),
    }


def _hosts(core: Core, gone: Mapping[str, int] | None) -> Document:
    """How many hosts there are, how many of them are up, and the names of the others by state."""
    rows = hosts_document(core, gone=gone)["hosts"]
    others: dict[str, list[str]] = {}
    for row in rows:
        if row["state"] != "up":
            others.setdefault(row["state"], []).append(row["host"])
    return {
        "all": len(rows),
        "up": len(rows) - sum(map(len, others.values())),
        "others": [
            {"state": state, "count": len(names), "hosts": fold(names)} for state, names in sorted(others.items())
        ],
    }


def _groups(core: Core) -> Document:
    """Resource group → what is used of what there is: of slots, or of resources."""
    found: Document = {}
    for group, books in core.orchestrator.books.items():
        if group != POOLED:
            snapshot = prospect(core, group).division.snapshot
            found[books.rows.group.name] = {"slots": {"total": snapshot.slots, "used": snapshot.held[0]}}
    for group, resources in (resources_of_groups(core) if POOLED in core.cluster.books else {}).items():
        found[group] = {"resources": resources}
    return {group: {"slots": None, "resources": None} | each for group, each in found.items()}


_WAITING: WeakKeyDictionary[Core, WaitingJobs] = WeakKeyDictionary()


def _waiting(core: Core) -> Document:
    """Tasks that could start if there were room, the jobs that they are of, and the one that was submitted first."""
    found = _WAITING.get(core)
    if found is None or found.cluster is not core.cluster:
        found = _WAITING[core] = WaitingJobs(core.cluster)
    jobs, oldest, told = found.count(), found.oldest(), None
    if oldest is not None:
        told = {"job": oldest.name, "consumer": oldest.consumer, "submitted": format_instant(oldest.submitted)}
    return {"tasks": found.tasks, "jobs": jobs, "oldest": told}


def _reclaiming(core: Core) -> Document:
    """Attempts under notice, what they hold, and the next deadline."""
    told = [each for each in core.cluster.attempts.values() if each.notice is not None]
    deadlines = [each.notice.deadline for each in told if each.notice is not None]
    return {
        "attempts": len(told),
        "units": sum(each.units for each in told),
        "next": format_instant(min(deadlines)) if deadlines else None,
    }
