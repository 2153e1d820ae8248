"""When all jobs that wait will start: a forecast of all at once, with fewer draws than that of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.sim.forecast import HORIZON, Effort, cannot_start, quantile, starts
from fairhold.units import format_duration, format_instant

if TYPE_CHECKING:
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.sim.forecast import Lookout

    Document = dict[str, Any]

DRAWS = 20
EFFORT = Effort(work=50_000, events=10_000)
"""Some ten seconds of work: of jobs behind thousands of others no start is told."""


def expected_starts(
    look: Lookout, draws: int = DRAWS, seed: int = 0, horizon: int = HORIZON, effort: Effort = EFFORT
) -> Document:
    """`draws`, and `jobs`: of every job of which a task waits `p50`, `p90` (null: not told), and `why` not."""
    cluster = look.cluster()
    waiting = {name: job for name, job in cluster.jobs.items() if not job.is_over and (job.waiting or job.delays)}
    if not waiting:
        return {"draws": 0, "jobs": {}}
    found = starts(look, waiting, draws, seed, horizon, effort=effort)
    reasons = _Reasons(look, cluster, horizon, is_cut=found.is_cut)
    jobs: Document = {}
    for name, job in waiting.items():
        p50, p90 = (quantile(found.of[name], percent) for percent in (50, 90))
        jobs[name] = {
            "p50": None if p50 is None else format_instant(p50),
            "p90": None if p90 is None else format_instant(p90),
            "why": "" if p50 is not None else reasons.of(job),
        }
    return {"draws": found.draws, "jobs": jobs}


class _Reasons:
    """Why no start is told; looked up once for jobs that ask for the same."""

    def __init__(self, look: Lookout, cluster: Cluster, horizon: int, *, is_cut: bool) -> None:
        self._look, self._cluster, self._horizon, self._is_cut = look, cluster, horizon, is_cut
        self._never: dict[tuple[int, str], str] = {}

    def of(self, job: JobRecord) -> str:
        """In words."""
        if job.hold is not None or job.needs:
            return "it is held" if job.hold is not None else "it waits for other jobs"
        place = id(job.terms), job.consumer
        if place not in self._never:
            never = cannot_start(self._cluster, job)
            self._never[place] = never["text"] if never else ""
        if self._never[place]:
            return self._never[place]
        if not self._look.past.of(job.consumer)[1]:
            return "no task has ended yet, so it is not known how long tasks run"
        if self._is_cut:
            return "so many tasks start before it that it was not looked so far ahead"
        return f"it does not begin within {format_duration(self._horizon)}, as far as can be told"
