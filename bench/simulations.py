"""Simulations: jobs and events a second of a workload like that of a grid, and of one like that of a GPU cluster.

A scenario with a trace of one's own is measured as well where `FAIRHOLD_BENCH_SCENARIO` names its file.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.kernels._jit import prefer_compiled
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import MANY_ROWS
from fairhold.model.workload import Workload
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Experiment, Work
from fairhold.sim.log import Log
from fairhold.sim.play import Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan

    Row = dict[str, float]

SECOND = 1_000_000
GRID_JOBS, GPU_JOBS, VECTOR_JOBS = 8_000, 3_000, 600
OWNED = (30, 22, 16, 14, 10, 9, 8, 5, 4, 2)
WORK = Work(checkpoint=600 * SECOND)


def simulations() -> dict[str, Row]:
    """All figures of simulations."""
    found = {f"simulator, grid, {GRID_JOBS:,} tasks of 228 users, hybrid": played(grid())}
    for policy in ("hybrid", "share_ratio", "ownership"):
        found[f"simulator, {GPU_JOBS:,} jobs of GPUs, many gangs, {policy}"] = played(gpus(policy))
    for policy in ("multidimensional", "fair_share"):
        found[f"simulator, {VECTOR_JOBS:,} jobs of GPUs, many gangs, {policy}"] = played(pooled(policy))
    path = os.environ.get("FAIRHOLD_BENCH_SCENARIO")
    for name, experiment in read_scenario(path).experiments.items() if path else ():
        found[f"simulator, {name} of a scenario of one's own"] = played(experiment)
    return found


class _Events:
    """Counts what is fed: what happened, and cycles."""

    def __init__(self) -> None:
        self.count = 0

    def note(self, now: int, changes: object) -> None:  # noqa: ARG002 - as a watch is called
        self.count += 1

    def lost(self, now: int, attempt: int, work: int) -> None: ...

    def cycled(self, now: int, result: object) -> None: ...

    def cycled_vectors(self, now: int, result: object) -> None: ...


def played(experiment: Experiment) -> Row:
    """Milliseconds of the processor for one run, its log included, and what that comes to."""
    if len(experiment.plan.tree) >= MANY_ROWS:
        prefer_compiled(MANY_ROWS)
    events = _Events()
    simulation = Simulation(experiment, [Log(), events])
    started = time.process_time()
    simulation.run()
    took = time.process_time() - started
    jobs = len(experiment.workload)
    return {"ms": round(took * 1000), "jobs_per_s": round(jobs / took), "events_per_s": round(events.count / took)}


def grid() -> Experiment:
    """28 organisations above 200 users, single tasks, 200 slots: some hours want half as much again."""
    random = Random(1)
    owned = [max(1, 120 // (at + 1) ** 2) for at in range(28)]
    paths = [f"/vo{at}/u{user}" for at in range(28) for user in range(8 if at % 7 else 9)]
    weights = [owned[int(path.split("/")[1][2:])] for path in paths]
    plan = plan_of("hybrid", 200, {f"/vo{at}": {"owned": units} for at, units in enumerate(owned)}, paths)
    return _scene(plan, paths, weights, [(1, 1)], jobs=GRID_JOBS, load=1.15, random=random)


def gpus(policy: str) -> Experiment:
    """Ten virtual clusters, 120 GPUs, a third of the jobs gangs of 2 to 32."""
    random, paths = Random(2), [f"/vc{at}" for at in range(10)]
    owned = OWNED
    stated: dict[str, dict[str, Any]] = {}
    for at, path in enumerate(paths):
        if policy == "share_ratio":
            stated[path] = {"share_ratio": owned[at]}
        else:
            stated[path] = {"owned": owned[at]}
        if policy == "ownership":
            stated[path]["lend_to"] = [{"consumer": other} for other in paths[at + 1 :]]
            stated[path]["borrow_from"] = [{"consumer": other} for other in paths[:at]]
    sizes = [(1, 70), (2, 10), (4, 10), (8, 8), (32, 2)]
    return _scene(plan_of(policy, 120, stated, paths), paths, owned, sizes, jobs=GPU_JOBS, load=1.0, random=random)


def pooled(policy: str) -> Experiment:
    """The first of the same jobs, each slot of theirs a GPU of one of 15 hosts."""
    experiment = gpus("hybrid")
    stated: dict[str, dict[str, Any]] = {}
    for path, amount in zip(experiment.workload.consumers, OWNED, strict=True):
        if policy == "fair_share":
            stated[path] = {"deserved": {"gpu": amount}}
        else:
            own = {"resource_group": "compute", "total": {"gpu": amount}}
            stated[path] = {"own": [own], "share_ratio": amount}
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "g[01-15]", "gpu": 8}]}},
        "consumers": {path: {"reclaim_grace": "1m"} for path in experiment.workload.consumers},
        "policies": [{"resource_groups": ["compute"], "policy": policy, "consumers": stated}],
    }
    plan, whole = parse_plan(json.dumps(document), "plan")[0], experiment.workload
    columns = {
        name: getattr(whole, name)[:VECTOR_JOBS]
        for name in ("name", "submit", "consumer", "tasks", "duration", "min_count")
    }
    return replace(experiment, plan=plan, slot=(("gpu", "1"),), workload=replace(whole, **columns))


def plan_of(policy: str, slots: int, stated: dict[str, dict[str, Any]], paths: Sequence[str]) -> Plan:
    """A plan of one group without hosts; who holds others' slots has a minute."""
    document = {
        "fairhold": 1,
        "resource_groups": {"compute": {"slots": slots}},
        "consumers": {path: {"reclaim_grace": "1m"} for path in dict.fromkeys((*stated, *paths))},
        "policies": [{"resource_groups": ["compute"], "policy": policy, "consumers": stated}],
    }
    return parse_plan(json.dumps(document), "plan")[0]


def _scene(
    plan: Plan,
    paths: Sequence[str],
    weights: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    *,
    jobs: int,
    load: float,
    random: Random,
) -> Experiment:
    """Jobs in bursts, with run times of a heavy tail, that want so many times what there is on average."""
    tasks = random.choices([size for size, _ in sizes], [weight for _, weight in sizes], k=jobs)
    runs = [round(min(random.lognormvariate(6, 1.8), 86_400) * SECOND) + SECOND for _ in range(jobs)]
    group = next(iter(plan.resource_groups.values()))
    length = round(sum(count * run for count, run in zip(tasks, runs, strict=True)) / (group.slots * load))
    bursts = [random.randrange(length) for _ in range(max(1, jobs // 40))]
    submit = sorted(min(length, random.choice(bursts) + random.randrange(1 + length // 20)) for _ in range(jobs))
    consumer = random.choices(range(len(paths)), weights, k=jobs)
    workload = Workload(
        [f"j{at}" for at in range(jobs)],
        submit,
        consumer,
        tasks,
        runs,
        min_count=[count if count > 1 else 0 for count in tasks],
        consumers=tuple(paths),
    )
    return Experiment(plan, workload, 0, work=WORK)
