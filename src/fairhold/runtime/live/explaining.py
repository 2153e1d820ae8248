"""Why pods wait, found for a few at a time, and said at them."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from fairhold.runtime.live.views.waiting import reason_of
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports.governor import Governor
    from fairhold.runtime.live.core import Core

EVERY = 3 * SECOND
"""Microseconds between two looks."""
MOST = 1_000
"""Waiting jobs of a consumer, of each of which it is found why."""
LONGEST = 0.02
"""Seconds that a look may take."""


class Explaining:
    """Says at pods that have waited for some time why they do, in turn and not for long."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._unexplained: list[str] = []
        self._crowded: dict[str, int] = {}
        self._at, self._is_due = 0, False

    def look_later(self, core: Core) -> None:
        """Another pod waits, whose reason is told if it does for long."""
        if not self._is_due:
            self._is_due = True
            self._at = core.now() + EVERY
            self._governor.wake_at(self._at)

    def look(self, core: Core) -> None:
        """Say it at some pods, where it is time."""
        if core.now() < self._at:
            return
        self._at, self._is_due = core.now() + EVERY, False
        if not self._unexplained:
            self._unexplained = list(core.cluster.jobs)
            counted = Counter(job.consumer for job in core.cluster.jobs.values() if job.waiting)
            self._crowded = {consumer: number for consumer, number in counted.items() if number > MOST}
        end = time.perf_counter() + LONGEST
        while self._unexplained and time.perf_counter() < end:
            job = core.cluster.jobs.get(self._unexplained.pop())
            waiting = self._governor.waiting(job.name) if job is not None and job.waiting else []
            if job is None or not waiting:
                continue
            self._is_due = True
            code, text = self._why(core, job)
            for uid in waiting if code else ():
                self._governor.explain(uid, code, text)
        if self._is_due or self._unexplained:
            self._governor.wake_at(self._at)

    def _why(self, core: Core, job: JobRecord) -> tuple[str, str]:
        """Why a job waits; of a consumer with very many of them no more than that: nothing starts while it is found."""
        if number := self._crowded.get(job.consumer):
            return "many-wait", f"{number} jobs of {job.consumer} wait; `kubectl fairhold explain pod` says more"
        reason = reason_of(core, job)
        return ("", "") if reason is None else (reason.code, reason.text)
