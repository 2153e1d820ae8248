"""Accepted pods that ask for something else by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import TaskCancelled

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.works import Works


def reread(works: Works, work: Work) -> bool:
    """Look whether a pod that has a job asks for something else; True: the service is to be asked about it again.

    Nothing is granted on what a pod at the gate does not say any more: it gets another job. One that was let go can be
    resized, and nothing else of it counts.
    """
    pod = work.pod
    if work.is_busy or work.asked is None or not work.job or work.is_told or pod.is_deleting:
        return False
    if pod.wishes == work.asked:
        return False
    if not pod.is_gated:
        is_resized, work.asked = pod.amounts != work.asked[0], pod.wishes
        return is_resized and bool(work.attempt)
    if work.attempt:
        works.stop(work, "requeue")
    if not work.attempt:
        works.news.append(TaskCancelled(*work.seat))
        works.ask_anew(work)
    return False
