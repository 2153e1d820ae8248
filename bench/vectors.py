"""Vectors in a live cluster: what a cycle costs where little has changed."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from bench.pools import HOSTS, LEAVES, NOW, UNITS, cluster
from fairhold.model.plan import ConsumerSettings, PolicySettings
from fairhold.model.queue import FairShareSettings, QueueSettings
from fairhold.model.vector import told_of
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Exit, JobSubmitted, Outcome, TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Start
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.policies.fair_share.policy import FAIR_SHARE

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

    Row = dict[str, float]

SECOND = 1_000_000
TURNS = 15


def vectors() -> dict[str, Row]:
    """All figures of vectors in a live cluster."""
    found: dict[str, Row] = {}
    for policy in ("multidimensional", "fair_share"):
        plan = plan_of(policy)
        name = f"live, {LEAVES:,} leaves, {HOSTS:,} hosts, {UNITS:,} units, {policy}"
        found[f"{name}, one unit ends and one starts"] = {"ms": Busy(plan).turned(), "goal_ms": 2}
    return found


def plan_of(policy: str) -> Plan:
    """The cluster of the benchmark of pools, under a policy."""
    plan, _ = cluster(PolicySettings(), 0)
    if policy == "multidimensional":
        return plan
    queue = ConsumerSettings(queue=QueueSettings(deserved=((0, 80_000),)))
    leaves = [row for row in range(len(plan.tree)) if plan.tree.is_leaf(row)]
    settings = PolicySettings(fair_share=FairShareSettings())
    entry = replace(plan.policies[0], policy=FAIR_SHARE, settings=settings, consumers=dict.fromkeys(leaves, queue))
    return replace(plan, policies=(entry,))


class Busy:
    """A cluster in which every leaf runs what it asked for."""

    def __init__(self, plan: Plan) -> None:
        self.now = NOW
        self.live = Orchestrator(Cluster(open_cluster_books(plan, NOW), forgets=True))
        self._jobs = 0
        self._plan, self._running = plan, list[int]()
        _, state = cluster(PolicySettings(), 0)
        self._wanted = [(plan.tree.paths[each.consumer], told_of(plan.resources, each.unit)) for each in state.requests]
        for each in state.requests:
            self._submit(each.count)
        self._cycle()

    def turned(self) -> float:
        """Median milliseconds of the processor for a unit that ends, one that is asked for, and the cycle of both."""
        took = []
        for turn in range(TURNS + 1):
            self.now += 2 * SECOND
            started = process_time()
            self.live.handle(TaskEnded(self._running.pop(turn * 7), Outcome.FINISHED, Exit("finished", 0)), self.now)
            self._submit(1)
            self._cycle()
            took.append((process_time() - started) * 1e3)
        return round(median(took[1:]), 3)

    def _submit(self, count: int) -> None:
        path, unit = self._wanted[self._jobs % len(self._wanted)]
        self._jobs += 1
        self.live.handle(JobSubmitted(f"j{self._jobs}", path, "", count, unit=unit), self.now)

    def _cycle(self) -> None:
        orders = self.live.handle(Woken(), self.now)
        self._running += [each.attempt for each in orders if isinstance(each, Start)]
