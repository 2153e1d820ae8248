"""The one place that puts a run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.run import run
from fairhold.engines.guard import Guard
from fairhold.engines.local import LocalEngine
from fairhold.engines.orphans import Orphans
from fairhold.kernels._jit import prefer_compiled
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.devices import first_gpus
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.runtime.clock import WallClock
from fairhold.runtime.loop import Ending, Loop, View
from fairhold.runtime.record import Record
from fairhold.runtime.signals import Interrupts
from fairhold.runtime.tally import Tally

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fairhold.model.job import Job
    from fairhold.model.plan import Plan

MANY_ROWS = 500
"""From so many consumers on, the cycles of a run pay for the half second that compiled kernels need to start."""


class LocalRun:
    """One run of jobs under a plan on this machine.

    directory : output directory, absolute, exists; not that of another run
    complain  : is told what is wrong beside the events of the run

    ending  : why the run ended, None before
    elapsed : microseconds that it took
    signal  : the one that interrupted it, None where none did

    Raises FileExistsError where the directory is that of another run.
    """

    def __init__(self, plan: Plan, jobs: Sequence[Job], directory: Path, complain: Callable[[str], None]) -> None:
        self.plan = plan
        self.jobs = jobs
        self._complain = complain
        self._clock = WallClock()
        books = open_cluster_books(plan, self._clock.now())
        of_slots = [book for book in books.values() if book.vectors is None]
        if any(len(book.rows) >= MANY_ROWS for book in of_slots):
            prefer_compiled(MANY_ROWS)
            for book in of_slots:  # compiled now and not in the middle of the run
                run(book, self._clock.now())
        cluster = Cluster(books)
        self._record = Record(plan, cluster, directory, complain)
        self.orchestrator = Orchestrator(cluster, on_cycle=self._record.cycle, on_vectors=self._record.cycle_of_vectors)
        self.tally = Tally(self.orchestrator)
        self._guard, self._orphans = Guard(complain), Orphans()
        by_name = {job.name: job for job in jobs}
        paths = plan.tree.paths
        self._engine = LocalEngine(
            by_name, paths, directory, complain, self._guard, orphans=self._orphans, first_gpu=first_gpus(plan)
        )
        self.ending: Ending | None = None
        self.elapsed = 0
        self.signal: signal.Signals | None = None

    @property
    def unrecorded(self) -> str:
        """Why the record does not reach to the end of the run; empty where it does."""
        return self._record.failure

    def carry_out(self, view: View) -> Ending:
        """Run to the end; nothing that was started is left running, whatever happens, a SIGKILL of this included."""
        loop = Loop(
            self.orchestrator,
            self._engine,
            self._clock,
            tally=self.tally,
            record=self._record,
            view=view,
            say=self._complain,
        )
        interrupts = Interrupts(loop.interrupt, self._engine.hurry)
        try:
            self._guard.open()
            self._orphans.adopt()
            with interrupts:
                self.ending = loop.run(self.jobs, self.plan.tree.paths)
        finally:
            self._engine.close()
            self._guard.close()
            self._record.close()
            self.elapsed = self._clock.now() - loop.start
        if self.ending is Ending.INTERRUPTED:
            self.signal = interrupts.first
        return self.ending
