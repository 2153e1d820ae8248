"""Forecasts on trial: made at many instants of a recorded run with what was known then, and held against what came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import JobCancelled
from fairhold.orchestrator.freeze import freeze
from fairhold.sim.event_trace import Began
from fairhold.sim.forecast import BY_THEMSELVES, Lookout, Past, quantile, starts
from fairhold.sim.replay import Replay
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.event_trace import EventTrace
    from fairhold.sim.experiment import Experiment

    Document = dict[str, Any]

INSTANTS, MOST_JOBS = 20, 200
"""Instants at which forecasts are made, and jobs that are forecast at each, at most."""
PERCENTS = (50, 90)
MILLION = 1_000_000


class Known:
    """How long finished attempts ran, as the run goes on; a watch of the replay."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._began: dict[int, tuple[str, int]] = {
            each.name: (_leaf(cluster, each.job.name), each.started) for each in cluster.attempts.values()
        }
        self._leaf_of = {name: _leaf(cluster, name) for name in cluster.jobs}
        self.rows: list[tuple[str, int]] = []

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in."""
        for change in changes:
            if isinstance(change, said.JobAdded | said.JobMoved):
                self._leaf_of[change.job] = change.consumer
            elif isinstance(change, said.Started):
                self._began[change.attempt] = self._leaf_of[change.job], now
            elif isinstance(change, said.Ended):
                path, began = self._began.pop(change.attempt, ("", 0))
                if path and change.reason in BY_THEMSELVES:
                    self.rows.append((path, now - began))

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing: lengths are those of attempts."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing, likewise."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""


def backtest(
    experiment: Experiment,
    *,
    instants: int = INSTANTS,
    draws: int = 50,
    seed: int = 0,
    horizon: int,
    on_instant: Callable[[int], object] = lambda _: None,
) -> Document:
    """How many forecasts came true, on a recorded run under its own plan.

    Raises InputError `backtest-empty` where no job waits at any of the instants, or none of the forecasts counts.
    """
    event_trace = experiment.event_trace
    assert event_trace is not None
    ends = _Ends(event_trace)
    watches: list[Known] = []
    replay = Replay(experiment, watches)
    watches.append(Known(replay.live.cluster))
    plans = [experiment.plan]
    replay.on_plan = lambda plan, _: plans.append(plan)
    counts = {percent: [0, 0] for percent in PERCENTS}
    made = looked = 0
    for at in range(1, instants + 1):
        now = event_trace.begin + (event_trace.end - event_trace.begin) * at // (instants + 1)
        replay.run_until(now)
        jobs = _waiting(replay.live.cluster)
        on_instant(at)
        if not jobs:
            continue
        looked += 1
        found = starts(_lookout(replay, plans[-1], now, watches[0]), jobs, draws, seed, horizon)
        for job in jobs:
            began = ends.began(job, now)
            made += 1
            for percent, count in counts.items():
                told = quantile(found.of[job], percent)
                if told is not None and (began is not None or (told < event_trace.end and job not in ends.cancelled)):
                    count[0] += 1
                    count[1] += began is not None and began <= told
    if not made:
        what = "no job waits at any of the instants, so there is nothing to forecast"
        raise InputError([Fault("backtest-empty", what, "use a record of a busier time, or more instants")])
    if not any(told for told, _ in counts.values()):
        what = f"none of {made:,} forecasts can be compared with what happened"
        raise InputError([Fault("backtest-empty", what, "use a longer record, or a longer `--ahead`")])
    shares = {f"p{percent}": _share(*count) for percent, count in counts.items()}
    head = {"at": format_instant(event_trace.end), "instants": looked, "forecasts": made, "draws": draws, "seed": seed}
    return {**head, **shares}


def _lookout(replay: Replay, plan: Plan, now: int, known: Known) -> Lookout:
    return Lookout(plan, freeze(replay.live.cluster), replay.event_trace.own, now, Past(known.rows))


def _waiting(cluster: Cluster) -> list[str]:
    """Jobs that have not begun and could."""
    found = (
        job.name
        for job in cluster.jobs.values()
        if job.waiting == job.terms.tasks and job.hold is None and not job.is_cancelled and not job.tried()
    )
    return [job for job, _ in zip(found, range(MOST_JOBS), strict=False)]


def _share(told: int, covered: int) -> Document:
    return {"told": told, "covered": covered, "share": covered * MILLION // told if told else 0}


def _leaf(cluster: Cluster, name: str) -> str:
    return cluster.jobs[name].consumer


class _Ends:
    """When jobs really began."""

    def __init__(self, event_trace: EventTrace) -> None:
        self._began: dict[str, int] = {}
        self.cancelled: set[str] = set()
        for line in event_trace.lines:
            if isinstance(line.what, Began):
                self._began.setdefault(line.what.job, line.at)
            elif isinstance(line.what, JobCancelled):
                self.cancelled.add(line.what.job)

    def began(self, job: str, since: int) -> int | None:
        at = self._began.get(job)
        return at if at is not None and at >= since else None
