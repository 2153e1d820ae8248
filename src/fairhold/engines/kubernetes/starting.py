"""Pods that were let go and do not start: kube-scheduler cannot bind them, or their containers cannot start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.avoiding import AVOIDED_FOR
from fairhold.engines.kubernetes.work import UNSTARTED
from fairhold.orchestrator.events import JobCancelled
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.works import Works

BINDING = 10 * SECOND
"""How long kube-scheduler may be unable to bind a pod before it is placed again."""


def watch_trouble(works: Works, work: Work) -> None:
    """kube-scheduler cannot bind a pod where it was let go to: after a while it is placed again, elsewhere."""
    now = works.now()
    if not work.bound_by:
        work.bound_by = now + BINDING
        works.wake_at(work.bound_by, work.pod.uid)
    elif work.bound_by <= now and work.pod.family is not None:
        for each in works.members(work.job):
            each.is_moving = True
        works.avoided.add(work.pod.family, work.host, now + AVOIDED_FOR, work.pod.trouble)
        works.wake_at(now + AVOIDED_FOR)
        works.news.append(JobCancelled(work.job))


def watch_start(works: Works, work: Work) -> None:
    """A pod cannot start, and is not placed again: after a while it is stopped, and others get what it holds."""
    now, hindrance = works.now(), work.hindrance
    if not works.start_within or not hindrance or work.stopping:
        work.start_by = 0
    elif not work.start_by:
        work.start_by = now + works.start_within
        works.wake_at(work.start_by, work.pod.uid)
    elif work.start_by <= now:
        work.stopping, work.why = UNSTARTED, (UNSTARTED, hindrance)
