"""Queues: fair shares, a cluster that is filled, and units that are taken back with the order kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bench.pools import NOW, timed
from fairhold.cycle.pooled.run import run_pools
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.model.plan import ConsumerSettings, Host, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.queue import FairShareSettings, QueueSettings
from fairhold.model.state import Allocation, Request, State
from fairhold.model.tree import ConsumerTree
from fairhold.model.vector import Resource
from fairhold.policies.fair_share.policy import FAIR_SHARE
from fairhold.rules.queues.shares import fair_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = dict[str, float]

RESOURCES = (Resource("cpu"), Resource("memory", "GiB", 1024, 1024), Resource("gpu"))
HOSTS, GPUS = 500, 8
JOBS = HOSTS * GPUS
ONE_GPU = (4000, 32 * 1024, 1000)
QUEUES, BRANCHES = 40, 8
MINUTE = 60_000_000


def queues() -> dict[str, Row]:
    """All figures of queues."""
    found: dict[str, Row] = {}
    for name, branches in (("siblings", 1), ("in 20 branches", 20)):
        found[f"fair shares, 1,000 queues {name}, 3 resources"] = {"ms": dividing(branches), "goal_ms": 2}
    plan, state = waiting()
    found[f"queues, {JOBS:,} jobs of one GPU fill {HOSTS} hosts"] = cycle_of(plan, state, 300)
    full = _after(plan, state)
    found["the same, nothing changed"] = cycle_of(plan, full, 300)
    for name, gang in (("2,000 jobs", False), ("a gang of 2,000", True)):
        plan, state = taking(gang=gang)
        found[f"queues, {name} take back of {JOBS:,} units"] = cycle_of(plan, state, 2000)
    return found


def cycle_of(plan: Plan, state: State, goal: float) -> Row:
    """Milliseconds of a whole cycle, books opened and all, and what it decided."""
    (entry,) = plan.policies
    result = run_pools(plan, entry, state)
    return {
        "ms": timed(lambda: run_pools(plan, entry, state)),
        "goal_ms": goal,
        "reclaimed": sum(row["units"] for row in result.reclaims),
        "granted": sum(row["units"] for row in result.grants),
    }


def dividing(branches: int) -> float:
    """Milliseconds of the fair shares of 1,000 queues in all resources; most of them cannot have all that they want."""
    plan = plan_of(1000, branches, {})
    leaves = [row for row in range(len(plan.tree)) if plan.tree.is_leaf(row)]
    stated = {
        row: QueueSettings(
            deserved=tuple((at, (row * 7 + at) % 5 * 1000) for at in range(3)),
            limit=tuple((at, 40_000 + row % 11 * 1000) for at in range(3)) if row % 3 == 0 else (),
            weight=tuple((at, Fraction(1 + row % 4)) for at in range(3)),
            priority=(50, 100, 200)[row % 3 if row in leaves else 1],
        )
        for row in range(1, len(plan.tree))
    }
    entry = replace(plan.policies[0], consumers={row: ConsumerSettings(queue=each) for row, each in stated.items()})
    terms = queue_terms_of(plan, entry)
    requested = [[0] * len(plan.tree) for _ in RESOURCES]
    for at, column in enumerate(requested):
        for leaf in leaves:
            for row in terms.above[leaf]:
                column[row] += (leaf * 13 + at) % 17 * 1000
    totals = [sum(column[leaf] for leaf in leaves) * 2 // 3 for column in requested]
    return timed(lambda: [fair_shares(terms, at, totals[at], requested[at], {}) for at in range(3)])


def waiting() -> tuple[Plan, State]:
    """An empty cluster and as many jobs as it has GPUs, in queues of several priorities and weights."""
    stated = {
        path: QueueSettings(
            deserved=((2, 50_000),), weight=((2, Fraction(1 + at % 3)),), priority=(100, 100, 50)[at % 3]
        )
        for at, path in enumerate(_paths(QUEUES, BRANCHES))
    }
    plan = plan_of(QUEUES, BRANCHES, stated)
    leaves = [plan.tree.rows[path] for path in stated]
    requests = tuple(_job(f"j{at}", leaves[at % len(leaves)], at) for at in range(JOBS))
    return plan, State(NOW, requests=requests)


def taking(*, gang: bool) -> tuple[Plan, State]:
    """A full cluster: most queues hold twice what they deserve, one that deserves half of all has come.

    gang : what it wants is one gang
    """
    paths = _paths(QUEUES, BRANCHES)
    mine = JOBS // 2 * 1000
    rest = mine // (QUEUES - 1) // 1000 * 1000
    stated = {path: QueueSettings(deserved=((2, rest),)) for path in paths[1:]}
    stated |= {paths[0]: QueueSettings(deserved=((2, mine),))}
    for branch in range(BRANCHES):
        below = [each for path, each in stated.items() if path.startswith(f"/d{branch}/")]
        stated[f"/d{branch}"] = QueueSettings(deserved=((2, sum(each.deserved[0][1] for each in below)),))
    plan = plan_of(QUEUES, BRANCHES, stated)
    leaves = [plan.tree.rows[path] for path in paths]
    jobs = [_job(f"j{at}", leaves[1 + at % (QUEUES - 1)], at) for at in range(JOBS)]
    stands = tuple(
        Allocation(job.id, f"h{at % HOSTS}", 1, NOW - (at * 7919 % JOBS + 1) * MINUTE) for at, job in enumerate(jobs)
    )
    if gang:
        new = [replace(_job("new", leaves[0], 0), count=JOBS // 2, min_count=JOBS // 2)]
    else:
        new = [_job(f"new{at}", leaves[0], at) for at in range(JOBS // 2)]
    return plan, State(NOW, requests=(*jobs, *new), allocations=stands)


def plan_of(queues: int, branches: int, stated: Mapping[str, QueueSettings]) -> Plan:
    """A plan of queues, evenly in branches."""
    names, parents = [""], [-1]
    for branch in range(branches):
        names.append(f"d{branch}")
        parents.append(0)
        above = len(names) - 1
        for each in range(queues // branches):
            names.append(f"q{each}")
            parents.append(above)
    tree = ConsumerTree(names, parents, [None] * len(names), [30_000_000] * len(names))
    hosts = tuple(Host(f"h{at}", 0, (), (GPUS * 8000, GPUS * 64 * 1024, GPUS * 1000)) for at in range(HOSTS))
    consumers = {tree.rows[path]: ConsumerSettings(queue=each) for path, each in stated.items()}
    entry = PolicyEntry(("main",), FAIR_SHARE, PolicySettings(fair_share=FairShareSettings()), consumers)
    groups = {"main": ResourceGroup("main", 0, None, hosts)}
    return Plan("", "UTC", 0, tree, groups, (entry,), resources=RESOURCES)


def _paths(queues: int, branches: int) -> Sequence[str]:
    return [f"/d{branch}/q{each}" for branch in range(branches) for each in range(queues // branches)]


def _job(name: str, leaf: int, at: int) -> Request:
    return Request(name, leaf, "", 1, priority=at % 5, submitted=NOW - (JOBS - at) * MINUTE, unit=ONE_GPU)


def _after(plan: Plan, state: State) -> State:
    """The state that a cycle leaves."""
    cycle = run_pools(plan, plan.policies[0], state)
    return replace(
        state, allocations=cycle.allocations, notices=cycle.notices, held=cycle.held, ownership=cycle.ownership
    )
