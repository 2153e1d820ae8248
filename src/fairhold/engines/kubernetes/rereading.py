"""Accepted pods that ask for something else by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.ordering import stop
from fairhold.orchestrator.events import JobHeld, JobRequeued
from fairhold.ports.governor import AWAITED

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.works import Works


def reread(works: Works, work: Work) -> bool:
    """Look whether a pod that has a job asks for something else; True: the service is to be asked about it again.

    Nothing is granted on what a pod at the gate does not say any more: it gets another job. Others of its gang that
    start without it start again, where they are less than its minimum. One that was let go can be resized, and nothing
    else of it counts.
    """
    pod = work.pod
    if work.is_busy or work.asked is None or not work.job or work.is_told or pod.is_deleting:
        return False
    if pod.wishes == work.asked:
        return False
    if not pod.is_gated:
        is_resized, work.asked = pod.amounts != work.asked[0], pod.wishes
        return is_resized and bool(work.attempt)
    _leave(works, work)
    return False


def _leave(works: Works, work: Work) -> None:
    """A pod at the gate leaves its job, and gives back what it was granted."""
    job = work.job
    if not work.attempt:
        works.ask_anew(work)
        return
    others = [each for each in works.members(job) if each.attempt and each is not work]
    is_too_few = 0 < len(others) < works.least.get(job, 0)
    if is_too_few:  # before anything of it is given back, with which another part of it could start
        works.news.append(JobHeld(job, AWAITED))
    stop(works, work, "requeue")
    works.ask_anew(work)
    for each in others if is_too_few else ():
        stop(works, each, "requeue")
    if is_too_few and any(each.attempt for each in others):  # they are stopped after a crash, too
        works.news.append(JobRequeued(job))
