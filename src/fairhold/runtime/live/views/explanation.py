"""Why a job waits, or was stopped: its place, the bound, who has the units, and when graces bring them back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.derivation import derive_standing
from fairhold.cycle.explain.nouns import rule_of
from fairhold.ledger.tables import NOBODY
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.owned import owned_slots
from fairhold.runtime.live.finished_overlay import attempts_over
from fairhold.runtime.live.reclaims import read_detail
from fairhold.runtime.live.views.jobs import state_of
from fairhold.runtime.live.views.pool_jobs import MOST_HOLDERS, job_in_pools
from fairhold.runtime.live.views.prospect import Coming, prospect
from fairhold.runtime.live.views.waiting import place_of, reason_of, why_never_ready
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import FinishedTask
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.reclaims import Reclaim
    from fairhold.runtime.live.views.prospect import Prospect

Document = dict[str, Any]
MOST_ATTEMPTS = 1_000
"""Finished attempts of a job that are looked through for reclaims."""


def job_explanation(core: Core, name: str) -> Document | None:
    """All that can be said of a job's waiting and its reclaims; None where there is no such job (any more)."""
    job = core.cluster.jobs.get(name)
    if job is None:
        done = core.finished(name)
        if done is None:
            return None
        why = why_never_ready(json.loads(done.summary))
        text = why.text if why else f"it is over: {done.state}"
        over: Document = {"job": name, "state": done.state, "reason": why.code if why else None, "text": text}
        empty: Document = {"leaf": None, "bound": None, "bounds": [], "holders": [], "notices": []}
        return over | {"place": None} | empty | {"request": None} | {"reclaims": list(_reclaims(core, name))}
    reason = reason_of(core, job)
    document: Document = {
        "job": name,
        "state": state_of(job),
        "reason": reason.code if reason else None,
        "text": reason.text if reason else "",
        "place": place_of(core, job),
    }
    if job.resource_group == POOLED:
        return document | job_in_pools(core, job) | {"reclaims": [*_reclaims(core, name), *_now(core, job)]}
    look = prospect(core, job.resource_group)
    leaf = look.leaf_of(job)
    bounds = list(_bounds(look, leaf))
    return document | {
        "leaf": _leaf(look, leaf),
        "bound": bounds[-1]["bound"] if bounds else None,
        "bounds": bounds,
        "holders": [_holder(look, other) for other in look.holders(leaf, MOST_HOLDERS)],
        "notices": [_notice(look, each) for each in look.coming_to(leaf)],
        "request": None,
        "reclaims": [*_reclaims(core, name), *_now(core, job)],
    }


def _leaf(look: Prospect, leaf: int) -> Document:
    rows, result = look.books.rows, look.result
    limit = rows.plan.limit[leaf]
    return {
        "consumer": rows.path(leaf),
        "resource_group": look.group,
        "quota": result.draft.quota[leaf],
        "allocated": result.snapshot.held[leaf],
        "demand": result.snapshot.demand[leaf],
        "limit": None if limit >= UNLIMITED else limit,
        "owned": owned_slots(rows, result.snapshot.slots)[leaf],
        "owned_in_plan": rows.plan.owned[leaf],
    }


def _bounds(look: Prospect, leaf: int) -> Iterator[Document]:
    """What holds the quota of the leaf, and of each consumer above it, where it is; from the top down."""
    rows = look.books.rows
    line = [leaf]
    while rows.tree.parent[line[-1]] > 0:
        line.append(rows.tree.parent[line[-1]])
    for row in reversed(line):
        standing = derive_standing(look.result, row)
        yield {
            "consumer": standing.path,
            "bound": standing.bound.value,
            "rule": rule_of(standing.bound),
            "quota": standing.quota,
            "exact": str(standing.exact),
            "allocated": standing.held,
        }


def _holder(look: Prospect, leaf: int) -> Document:
    """Another leaf with its units; deadline: when the last of those under notice are due."""
    mine = [each for each in look.coming if each.holder == leaf]
    return {
        "consumer": look.books.rows.path(leaf),
        "units": look.books.held[leaf],
        "quota": look.result.draft.quota[leaf],
        "reclaiming": sum(each.units for each in mine),
        "deadline": format_instant(mine[-1].deadline) if mine else None,
    }


def _notice(look: Prospect, each: Coming) -> Document:
    rows = look.books.rows
    return {
        "consumer": rows.path(each.holder),
        "attempt": each.attempt,
        "units": each.units,
        "for": None if each.taker == NOBODY else rows.path(each.taker),
        "deadline": format_instant(each.deadline),
    }


def _reclaims(core: Core, name: str) -> Iterator[Document]:
    """Attempts that ended under notice, in the order of tasks."""
    for task in attempts_over(core, name, limit=MOST_ATTEMPTS):
        _, reclaim = read_detail(task.detail)
        if reclaim is not None:
            yield _reclaim(task.attempt, task.task, task.number, reclaim) | _end(task)


def _end(task: FinishedTask) -> Document:
    return {"ended": format_instant(task.ended), "end": task.reason}


def _now(core: Core, job: JobRecord) -> Iterator[Document]:
    """Attempts that are under notice."""
    for number in job.attempts:
        reclaim = core.reclaims.of(number)
        if reclaim is not None:
            attempt = core.cluster.attempts[number]
            yield _reclaim(number, attempt.index, attempt.number, reclaim) | {"ended": None, "end": None}


def _reclaim(attempt: int, task: int, number: int, reclaim: Reclaim) -> Document:
    """An attempt under notice. number: from 1, of its task."""
    return {
        "attempt": attempt,
        "task": task,
        "number": number,
        "cycle": reclaim.cycle or None,
        "rule": reclaim.rule or None,
        "reason": reclaim.reason,
        "why": reclaim.why or None,
        "for": reclaim.taker or None,
        "at": format_instant(reclaim.at),
        "deadline": format_instant(reclaim.deadline),
    }
