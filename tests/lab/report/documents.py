"""Summaries of small runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fairhold.sim.account import Spans
from fairhold.sim.experiment import Experiment
from fairhold.sim.log import Log
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from fairhold.sim.summary import summarize
from tests.sim.scenes import SECOND, jobs_of, plan_of, random_jobs

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.workload import Workload

TREE = {"A": {"reclaim_grace": "2s", "consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "2s"}}
OWNED = {"/A": {"owned": 2}, "/B": {"owned": 2}}
LENDS = plan_of(OWNED, slots=4, tree=TREE)
SPLITS = plan_of({path: {**entry, "limit": 2} for path, entry in OWNED.items()}, slots=4, tree=TREE)
JOBS = jobs_of((0, "/B", 4, 100), (30, "/A/a1", 2, 10), (31, "/A/a2", 1, 10), (31, "/X", 3, 1))


@cache
def lends() -> dict[str, Any]:
    """B borrows what A owns, and gives it back within 2 s."""
    return document(LENDS, JOBS, 60)


@cache
def splits() -> dict[str, Any]:
    """Nobody borrows anything."""
    return document(SPLITS, JOBS, 60)


@cache
def many() -> dict[str, Any]:
    """15 departments of 16 teams each: 255 consumers."""
    teams = [f"/d{one:02}/t{two:02}" for one in range(15) for two in range(16)]
    tree: dict[str, Any] = {f"d{one:02}": {"consumers": {f"t{two:02}": {} for two in range(16)}} for one in range(15)}
    owned = {f"/d{one:02}": {"owned": 10 - one // 2} for one in range(15)}
    return document(plan_of(owned, slots=100, tree=tree), random_jobs(1, teams, jobs=150), 30, piece=1)


def document(plan: Plan, jobs: Workload, seconds: int, piece: int = 10) -> dict[str, Any]:
    watches: list[Any] = []
    simulation = Simulation(Experiment(plan, jobs, 0, end=seconds * SECOND), watches)
    measures = Measures(simulation.live.cluster, "compute", "slots", Spans(0, piece * SECOND))
    log = Log()
    watches += [log, measures]
    simulation.run()
    measures.close(seconds * SECOND)
    return summarize([measures], simulation.refused, log.digest)
