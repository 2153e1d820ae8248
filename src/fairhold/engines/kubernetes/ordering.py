"""What the service orders about pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.news import text_of
from fairhold.engines.kubernetes.vacancies import replaced
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import Exit, JobRequeued, Outcome, TaskCancelled, TaskEnded
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.works import Works
    from fairhold.orchestrator.outbox import Order
    from fairhold.ports.governor import Seat


def execute(works: Works, order: Order) -> None:
    """Carry out an order of the service; what cannot be done any more is told as an end."""
    if isinstance(order, Start):
        _start(works, order)
        return
    if isinstance(order, Forget):
        _forget(works, order.attempt)
        return
    work = works.of.get(works.of_attempt.get(order.attempt, ""))
    if work is None:
        if isinstance(order, Stop):
            works.news.append(TaskEnded(order.attempt, Outcome.STOPPED, Exit(order.reason, detail="it has no pod")))
        return
    if isinstance(order, Notify):
        work.notice, work.deadline = text_of(order), order.deadline
    elif isinstance(order, Withdraw):
        _withdraw(works, work)
    else:
        stop(works, work, order.reason)
    works.touched[work.pod.uid] = None


def stop(works: Works, work: Work, reason: str) -> None:
    """Stop a pod; one that was not let go yet ends at once."""
    work.stopping = reason
    if not work.pod.is_gated or work.is_busy:
        return
    attempt, work.attempt = work.attempt, 0
    work.stopping, work.notice, work.deadline = "", "", 0
    del works.of_attempt[attempt]
    end = Exit(reason, detail="it was stopped before it was let go")
    works.news.append(TaskEnded(attempt, OUTCOMES.get(reason, Outcome.STOPPED), end))


def _withdraw(works: Works, work: Work) -> None:
    """A pod may stay; of a gang that has lost too many meanwhile, the others start again with them."""
    work.notice, work.deadline = "", 0
    if work.outgrown:
        works.asking.append(work)
    go_on = [bool(each.attempt) for each in works.members(work.job)]
    is_awaited = not all(go_on) or bool(works.vacancies.held(work.job))
    if is_awaited and sum(go_on) < works.least.get(work.job, 0):
        works.news.append(JobRequeued(work.job))


def _start(works: Works, order: Start) -> None:
    work = _most_valuable(works, (order.job, order.index))
    if work is None or work.is_told or work.pod.is_deleting:
        end = Exit("cancel", detail="its pod was deleted before it was let go")
        works.news += [TaskCancelled(order.job, order.index), TaskEnded(order.attempt, Outcome.STOPPED, end)]
    else:
        works.grant(work, order.attempt, order.host)


def _most_valuable(works: Works, seat: Seat) -> Work | None:
    """The pod that starts as a task: the most valuable of its job that waits; they change their places.

    Who starts last is stopped first. So of a gang the least valuable pods go first.
    """
    job, _ = seat
    mine, found = works.of.get(works.pod_of(seat)), None
    waiting = [work for work in works.members(job) if work.pod.is_gated and not (work.attempt or work.pod.is_deleting)]
    if waiting:
        found = min(waiting, key=lambda each: each.pod.worth)
    if found is None or found is mine:
        return mine
    left = found.seat
    del works.of_job[job][found.index]
    for work, place in ((found, seat), (mine, left)):
        if work is not None:
            works.seat(work, place)
            works.news.append(replaced(place, work.pod))
    return found


def _forget(works: Works, attempt: int) -> None:
    """The end of an attempt is recorded: its pod may go."""
    work = works.of.get(works.ended.pop(attempt, ""))
    if work is not None:
        work.is_recorded = True
        works.touched[work.pod.uid] = None
