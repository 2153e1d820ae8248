"""Invented work: what an attempt has done, what of it is saved, and what is lost when it stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.sim.scene import Work


class Attempt:
    """A task that runs, or is about to.

    job      : row of its job in the workload; index: of the task in it
    units    : that it holds; started: instant since which it does
    begins   : instant of its first work; before: work that earlier attempts have saved
    left     : work that it has to do, after that
    event    : number of the end that is scheduled for it; an earlier one is void
    is_leaving : it was told to leave, and does
    """

    __slots__ = ("before", "begins", "event", "index", "is_leaving", "job", "left", "started", "units")

    def __init__(self, job: int, index: int, units: int, started: int) -> None:
        self.job, self.index, self.units, self.started = job, index, units, started
        self.begins = started
        self.before = self.left = 0
        self.event = 0
        self.is_leaving = False

    def done(self, now: int) -> int:
        """Work that it has done by an instant."""
        return min(max(0, now - self.begins), self.left)


class Progress:
    """What is saved of tasks that were stopped."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._saved: dict[tuple[int, int], int] = {}

    def begin(self, attempt: Attempt, duration: int, *, is_first: bool) -> None:
        """An attempt begins where what was saved ends."""
        work = self._work
        attempt.begins = attempt.started + work.start_delay + (0 if is_first else work.restart)
        attempt.before = self._saved.get((attempt.job, attempt.index), 0)
        attempt.left = duration - attempt.before

    def stop(self, attempt: Attempt, now: int, *, saves: bool) -> int:
        """An attempt is stopped, or has saved all that it has done; returns the work that is lost."""
        done = attempt.done(now)
        every = self._work.checkpoint
        saved = done if saves else (attempt.before + done) // every * every - attempt.before if every else 0
        saved = max(0, saved)
        if attempt.before + saved:
            self._saved[attempt.job, attempt.index] = attempt.before + saved
        return done - saved

    def finish(self, attempt: Attempt) -> None:
        """A task is over."""
        self._saved.pop((attempt.job, attempt.index), None)
