"""Simulated work: what an attempt has done, what of it is saved, and what is lost when it stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.workload import ENDLESS
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import Exit, Outcome
from fairhold.sim.driver import Durations

if TYPE_CHECKING:
    from fairhold.orchestrator.instructions import Start
    from fairhold.sim.driver import Driver
    from fairhold.sim.experiment import Experiment


class Attempt:
    """A task that runs, or is about to.

    job    : row of its job in the workload; index: of the task in it
    begins : instant of its first work; before: work that earlier attempts have saved
    left   : work that it has to do, after that
    is_leaving : it was told to leave, and does
    """

    __slots__ = ("before", "begins", "index", "is_leaving", "job", "left")

    def __init__(self, job: int, index: int, begins: int, before: int, left: int) -> None:
        self.job, self.index, self.begins, self.before, self.left = job, index, begins, before, left
        self.is_leaving = False

    def done(self, now: int) -> int:
        """Work that it has done by an instant."""
        return min(max(0, now - self.begins), self.left)


class InventedWork(Durations):
    """Tasks run as long as the workload of an experiment says, in all attempts together."""

    def __init__(self, experiment: Experiment, row_of: dict[str, int]) -> None:
        """row_of : name of a job that runs → its row in the workload."""
        self._work, self._durations, self._row_of = experiment.work, experiment.workload.duration, row_of
        self._attempts: dict[int, Attempt] = {}
        self._saved: dict[tuple[int, int], int] = {}

    def start(self, driver: Driver, order: Start) -> None:
        """An attempt begins where what was saved ends."""
        work, row, now = self._work, self._row_of[order.job], driver.now
        duration = self._durations[row]
        before = self._saved.get((row, order.index), 0)
        begins = now + work.start_delay + (0 if order.number == 1 else work.restart)
        attempt = self._attempts[order.attempt] = Attempt(row, order.index, begins, before, duration - before)
        end = begins + attempt.left
        if duration != ENDLESS:
            driver.ends(order.attempt, end, Outcome.FINISHED)
        if order.longest and (duration == ENDLESS or now + order.longest < end):
            driver.ends(order.attempt, now + order.longest, Outcome.FAILED, Exit("time_limit"))

    def leave(self, driver: Driver, attempt: int) -> None:
        """A task that saves its state leaves, also where the notice is withdrawn meanwhile; another works on."""
        if self._work.yields:
            self._end(driver, attempt, Outcome.YIELDED, Exit("yielded"), saves=True)

    def stop(self, driver: Driver, attempt: int) -> None:
        """What is not saved is lost."""
        if attempt in self._attempts:
            self._end(driver, attempt, Outcome.STOPPED, Exit("reclaim"), saves=False)

    def ended(self, driver: Driver, change: said.Ended) -> None:
        """A task that is done needs nothing more; one that has to begin again has lost what it did not save."""
        attempt = self._attempts.pop(change.attempt, None)
        if attempt is None:
            return
        if change.then in {said.DONE, said.FAILED, said.CANCELLED}:
            self._saved.pop((attempt.job, attempt.index), None)
        elif not attempt.is_leaving:
            driver.lose(change.attempt, self._save(attempt, driver.now, saves=False))

    def _end(self, driver: Driver, number: int, outcome: Outcome, exit_: Exit, *, saves: bool) -> None:
        attempt = self._attempts[number]
        if not attempt.is_leaving:
            attempt.is_leaving = True
            driver.lose(number, self._save(attempt, driver.now, saves=saves))
            driver.ends(number, driver.now + self._work.stop_delay, outcome, exit_)

    def _save(self, attempt: Attempt, now: int, *, saves: bool) -> int:
        """Save all that an attempt has done, or what its last checkpoint has; returns the work that is lost."""
        done = attempt.done(now)
        every = self._work.checkpoint
        saved = done if saves else (attempt.before + done) // every * every - attempt.before if every else 0
        saved = max(0, saved)
        if attempt.before + saved:
            self._saved[attempt.job, attempt.index] = attempt.before + saved
        return done - saved
