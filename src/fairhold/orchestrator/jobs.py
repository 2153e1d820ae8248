"""The requests of users about jobs."""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError, count
from fairhold.model.siting import siting_of
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.events import JobSubmitted
from fairhold.orchestrator.fitting import check_hosts
from fairhold.orchestrator.instructions import JobOver
from fairhold.orchestrator.queue_fitting import check_deserved, is_fixed, not_of_queue
from fairhold.orchestrator.vector_fitting import check_place, check_together, check_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.events import (
        JobCancelled,
        JobChanged,
        JobHeld,
        JobReleased,
        JobRequeued,
        TaskCancelled,
    )
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.orchestrator.tasks import JobRecord

MOST = 2**40
"""The largest number of tasks, slots and the like: sums of millions of them stay whole numbers of 64 bits."""
ONS = ("ok", "fail", "any")
LEAST = {"count": 1, "priority": -MOST, "units": 1, "throttle": 0, "retries": 0, "backoff": 0, "time_limit": 0}
"""Numbers of a job, and the least that each may be."""
_numbers = attrgetter(*LEAST)


def submit(live: Orchestrator, event: JobSubmitted) -> None:
    """Accept a job; it waits, is held, or is blocked by others."""
    check(live, event)
    hold = "" if event.is_held else None
    after = tuple((needed.job, needed.on) for needed in event.after)
    terms = say.JobAdded(
        event.job,
        event.consumer,
        event.resource_group,
        event.count,
        event.priority,
        event.user,
        event.units,
        event.throttle,
        event.retries,
        event.backoff,
        hold,
        after,
        event.siting if any(event.siting) else (),
        event.time_limit,
        event.unit,
        event.min_count,
        event.preemptible,
    )
    live.do(terms)
    for job in dict.fromkeys(needed for needed, _ in after):
        if live.jobs[job].is_over:  # over, but not forgotten
            for unable in _settle(live, live.jobs[job], (event.job,)):
                end_if_over(live, unable)
    live.changed(event.resource_group)


def check(live: Orchestrator, event: JobSubmitted) -> None:
    """Raise InputError where `submit` would, with nothing changed either way."""
    books = live.books.get(event.resource_group)
    if books is None:
        raise _refused(
            event,
            "unknown-resource-group",
            f"no policy shares the resource group `{event.resource_group}`",
            f"use one of {', '.join(live.books)}",
        )
    leaf = _leaf(live, event.resource_group, event.consumer)
    _check_terms(books, leaf, event)
    if event.job in live.jobs or _is_of_gang(live, event.job):
        raise _refused(event, "duplicate-job", f"there is a job named `{event.job}` already", "give it another name")
    if event.count < 1:
        raise _refused(event, "out-of-range", f"it has {event.count} tasks", "give it one or more")
    for (name, least), value in zip(LEAST.items(), _numbers(event), strict=True):
        if not least <= value <= MOST:
            raise _refused(event, "out-of-range", f"its `{name}` is {value}", f"give it {least} to {MOST}")
    for needed in event.after:
        if needed.job not in live.jobs or needed.job == event.job:
            raise _refused(
                event,
                "unknown-job",
                f"it waits for the job `{needed.job}`, which does not exist",
                "name an existing job",
            )
        if needed.on not in ONS:
            raise _refused(event, "unknown-word", f"`{needed.on}` is not an end to wait for", f"write {', '.join(ONS)}")


def _check_terms(books: Books, leaf: int, event: JobSubmitted) -> None:
    """What a task needs could be had some day."""
    if books.vectors is not None:
        check_unit(books, event)
    elif event.unit:
        what = "`unit` is for resources of hosts, and this group shares slots"
        raise _refused(event, "wrong-unit", what, "write `units`: the slots that a task needs at once")
    elif event.preemptible is not None:
        raise not_of_queue(event)
    elif event.min_count and event.units > 1:
        what = f"its tasks need {event.units} slots each, and only tasks of one slot start together"
        raise _refused(event, "wrong-unit", what, "write one of `units` and `min_count`")
    else:
        check_together(event)
        at_once = max(event.units, event.min_count)
        _check_fit(books, leaf, at_once, event.user)
        check_hosts(books, at_once, event.siting)


def _check_fit(books: Books, leaf: int, units: int, user: str) -> None:
    """Refuse a gang larger than its leaf could ever hold: waiting, it would only keep slots from others.

    A task of one slot keeps nothing from anybody: it waits for a host or another plan, and `explain` says for which.
    """
    if units <= 1:
        return
    rows = books.rows
    most, why = max(rows.group.slots, sum(books.hosts.slots)), f"`{rows.group.name}` has"
    if user and rows.controls.user_limit[leaf] < most:
        most, why = rows.controls.user_limit[leaf], f"the user limit of `{rows.path(leaf)}` is"
    row = leaf
    while row > 0:
        if rows.plan.limit[row] < most:
            most, why = rows.plan.limit[row], f"the limit of `{rows.path(row)}` is"
        row = rows.tree.parent[row]
    if units > most:
        what = f"a task of {count(units, 'slot')} at once can never start: {why} {most}"
        raise InputError([Fault("never-fits", what, f"ask for {most} or fewer, or raise the limit in the plan")])


def _is_of_gang(live: Orchestrator, name: str) -> bool:
    """Whether a request of another job may have this name."""
    owner = live.jobs.get(name.rpartition("[")[0])
    return owner is not None and owner.units > 1


def _leaf(live: Orchestrator, group: str, consumer: str) -> int:
    rows = live.books[group].rows
    leaf = rows.by_path.get(consumer)
    if leaf is None or not rows.is_leaf(leaf):
        what = f"`{consumer}` is not a leaf of the plan"
        raise InputError([Fault("not-a-leaf", what, "name a leaf")])
    return leaf


def cancel(live: Orchestrator, event: JobCancelled) -> None:
    """Drop the waiting tasks of a job and stop the running ones; nothing if it has ended."""
    job = live.jobs.get(event.job)
    if job is not None and not job.is_cancelled and not job.is_over:
        _cancel(live, job)


def _cancel(live: Orchestrator, job: JobRecord) -> None:
    _drop(live, job)
    end_if_over(live, job)


def _drop(live: Orchestrator, job: JobRecord, needed: str = "", ended: str = "") -> None:
    live.do(say.JobDropped(job.name, needed, ended))
    for number in tuple(job.attempts):
        live.stop(live.attempts[number], "cancel")
    live.changed(job.resource_group)


def hold(live: Orchestrator, event: JobHeld) -> None:
    """Nothing more of a job starts."""
    job = _known(live, event.job)
    live.do(say.HoldSet(job.name, event.reason))
    live.changed(job.resource_group)


def release(live: Orchestrator, event: JobReleased) -> None:
    """A held job may start again."""
    job = _known(live, event.job)
    if job.hold is not None:
        live.do(say.HoldSet(job.name, None))
        live.changed(job.resource_group)


def requeue(live: Orchestrator, event: JobRequeued) -> None:
    """Stop the running tasks of a job and queue them again at the front."""
    job = _known(live, event.job)
    for number in tuple(job.attempts):
        live.stop(live.attempts[number], "requeue")


def change(live: Orchestrator, event: JobChanged) -> None:
    """Another priority, another leaf, another size."""
    job = _known(live, event.job)
    size = event.tasks or job.terms.tasks, job.terms.min_count if event.min_count is None else event.min_count
    is_resized = size != (job.terms.tasks, job.terms.min_count)
    if is_resized:
        _check_size(live, job, *size)
    if event.priority is not None and not -MOST <= event.priority <= MOST:
        what = f"job `{event.job}`: its `priority` is {event.priority}"
        raise InputError([Fault("out-of-range", what, f"give it {-MOST} to {MOST}")])
    if event.consumer:
        leaf = _leaf(live, job.resource_group, event.consumer)
        _check_move(live.books[job.resource_group], leaf, job)
    if is_resized:  # when all that is asked for has been looked at
        live.do(say.JobResized(job.name, *size))
    if event.consumer and event.consumer != job.consumer:
        live.do(say.JobMoved(job.name, event.consumer))
    if event.priority is not None and event.priority != job.priority:
        live.do(say.JobRanked(job.name, event.priority))
    live.changed(job.resource_group)


def _check_size(live: Orchestrator, job: JobRecord, tasks: int, min_count: int) -> None:
    """So many tasks, so many of them together, could run some day."""
    terms, books = job.terms, live.books[job.resource_group]
    if not terms.tasks <= tasks <= MOST:
        what = f"job `{job.name}`: it has {terms.tasks} tasks, and would have {tasks}"
        raise InputError([Fault("out-of-range", what, f"give it {terms.tasks} to {MOST}; cancel tasks one by one")])
    if min_count != terms.min_count:
        event = JobSubmitted(
            *(job.name, job.consumer, job.resource_group, tasks, job.priority, terms.user, terms.units),
            siting=siting_of(terms.siting),
            unit=terms.unit,
            min_count=min_count,
            preemptible=terms.preemptible,
        )
        _check_terms(books, live.cluster.leaf_of(job), event)


def cancel_task(live: Orchestrator, event: TaskCancelled) -> None:
    """Drop one task where it waits, stop it where it runs; nothing if it is over."""
    job = live.jobs.get(event.job)
    if job is None or job.is_over:
        return
    attempts = [live.attempts[number] for number in job.attempts if live.attempts[number].index == event.task]
    if not 0 <= event.task < job.terms.tasks or not (attempts or job.is_waiting(event.task)):
        return
    live.do(say.TaskDropped(job.name, event.task))
    for attempt in attempts:
        live.stop(attempt, "cancel")
    live.changed(job.resource_group)
    end_if_over(live, job)


def _check_move(books: Books, leaf: int, job: JobRecord) -> None:
    """A job could run in another leaf some day, too."""
    if books.vectors is None:
        _check_fit(books, leaf, job.units, job.terms.user)
        return
    unit = books.vectors.unit(job.terms.unit)
    assert unit is not None, "a plan in force has the units of all its jobs"
    terms = job.terms
    check_place(books, books.rows.path(leaf), unit, terms.min_count, siting_of(terms.siting))
    if is_fixed(job):
        check_deserved(books, books.rows.path(leaf), unit, terms.min_count)


def end_if_over(live: Orchestrator, job: JobRecord) -> None:
    """End a job of which nothing waits or runs, and unblock the jobs that waited for it.

    Jobs that can never start any more are over with it; a chain of them may be long.
    """
    if not job.is_over:
        return
    over = deque([job])
    while over:
        job = over.popleft()
        waiting = tuple(live.cluster.dependents.get(job.name, ()))
        live.order(JobOver(job.name))
        live.do(say.JobEnded(job.name, state_of(job)))
        over.extend(_settle(live, job, waiting))


def state_of(job: JobRecord) -> str:
    """How an ended job ended; one all of whose tasks were dropped one by one was cancelled."""
    if job.is_cancelled or (job.left_out and not job.finished and not job.failed):
        return say.CANCELLED
    return say.FAILED if job.failed else say.DONE


def _settle(live: Orchestrator, job: JobRecord, dependents: Iterable[str]) -> list[JobRecord]:
    """Jobs that waited for the end of another may start; those that never can are cancelled and returned."""
    state, over = state_of(job), []
    for name in dependents:
        dependent = live.jobs.get(name)
        if dependent is None or dependent.is_cancelled:
            continue
        wishes = [on for needed, on in dependent.terms.after if needed == job.name]
        if all(on == "any" or (on == "ok") == (state == say.DONE) for on in wishes):
            for _ in wishes:
                live.do(say.JobFreed(job.name, name))
            live.changed(dependent.resource_group)
        else:
            _drop(live, dependent, job.name, state)
            over.append(dependent)
    return over


def _known(live: Orchestrator, name: str) -> JobRecord:
    job = live.jobs.get(name)
    if job is None or job.is_over:
        what = f"there is no job `{name}` that waits or runs"
        raise InputError([Fault("unknown-job", what, "`fairhold jobs` shows what there is")])
    return job


def _refused(event: JobSubmitted, code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, f"job `{event.job}`: {what}", mend)])
