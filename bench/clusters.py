"""Clusters of a given size, for the benchmarks: seeded, so that every run measures the same."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.ledger import transitions
from fairhold.ledger.decision import apply
from fairhold.model.plan import ConsumerSettings, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.state import Allocation, Request, State
from fairhold.model.tree import ConsumerTree
from fairhold.policies.hybrid.policy import HYBRID

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

NOW = 1_767_603_600_000_000


def plan_of(leaves: int, seed: int = 1) -> Plan:
    """Departments of about √leaves teams: owned, some reserves, some limits, graces; four slots a leaf and more."""
    random = Random(seed)
    wide = max(2, round(leaves**0.5))
    name, parent = [""], [-1]
    settings: dict[int, ConsumerSettings] = {}
    departments = [range(start, min(start + wide, leaves)) for start in range(0, leaves, wide)]
    for number, teams in enumerate(departments):
        name.append(f"d{number}")
        parent.append(0)
        department = len(name) - 1
        owned = 0
        for team in teams:
            name.append(f"t{team}")
            parent.append(department)
            mine = random.choice((0, 2, 5, 10, 20))
            reserved = random.choice((0, 0, mine // 5))
            limit = mine * 3 + 20
            owned += mine
            settings[len(name) - 1] = ConsumerSettings(mine, reserved, limit)
        settings[department] = ConsumerSettings(owned + random.randrange(20))
    total = sum(settings[row].owned for row, above in enumerate(parent) if above == 0)
    rank = [None if row == 0 else random.choice((None, 0, 1)) for row in range(len(name))]
    tree = ConsumerTree(name, parent, rank, [30_000_000] * len(name))
    group = ResourceGroup("compute", total, total)
    entry = PolicyEntry(("compute",), HYBRID, PolicySettings(), settings)
    return Plan("bench", "UTC", 0, tree, {"compute": group}, (entry,))


def busy_books(plan: Plan, units: int, seed: int = 2, requests_a_leaf: int = 1) -> Books:
    """A cluster under load: `units` units held by half the leaves, the others have just asked for theirs."""
    random = Random(seed)
    leaves = [row for row in range(1, len(plan.tree)) if plan.tree.is_leaf(row)]
    holders = leaves[::2]
    each = max(1, units // (len(holders) * requests_a_leaf))
    requests, allocations = [], []
    for row in leaves:
        holds = row in set(holders[:1]) or (row - leaves[0]) % 2 == 0
        for number in range(requests_a_leaf):
            name = f"{row}-{number}"
            submitted = NOW - random.randrange(1, 10**9)
            wanted = each + random.randrange(3) if holds else random.randrange(1, 12)
            requests.append(Request(name, row, "compute", wanted, submitted=submitted))
            if holds:
                allocations.append(Allocation(name, "", each, submitted))
    state = State(NOW, requests=tuple(requests), allocations=tuple(allocations))
    return open_books(plan, state)["compute"]


def settled_books(plan: Plan, units: int, changed: float, seed: int = 3) -> Books:
    """A full cluster at rest in which the demand of a part of the leaves has just changed."""
    random = Random(seed)
    books = busy_books(plan, units)
    while True:
        decision = run(books, NOW).decision
        if not any(decision):
            break
        apply(books, decision, NOW)
        for allocation in list(books.notices.by_allocation):
            if books.allocations.noticed[allocation]:
                transitions.release(books, allocation, books.allocations.noticed[allocation])
    by_leaf = books.requests.by_leaf
    for leaf in books.rows.leaves:
        if random.random() < changed:
            (request,) = by_leaf[leaf]
            transitions.want(books, request, random.randrange(25))
    return books


def wide_plan_text(consumers: int) -> str:
    """A plan file with so many consumers by path, each with settings."""
    lines = ["fairhold: 1", f"resource_groups: {{compute: {{slots: {consumers}}}}}", "consumers:"]
    paths = [f"/d{number // 1000}/t{number % 1000}" for number in range(consumers)]
    lines += [f"  {path}: {{rank: {number % 3}}}" for number, path in enumerate(paths)]
    lines += ["policies:", "  - resource_groups: [compute]", "    policy: hybrid", "    consumers:"]
    lines += [f"      /d{number}: {{owned: 1000}}" for number in range((consumers + 999) // 1000)]
    lines += [f"      {path}: {{owned: {number % 2}}}" for number, path in enumerate(paths)]
    return "\n".join(lines) + "\n"


def full_plan_text(consumers: int) -> str:
    """A plan file with so many consumers by path, every setting stated at every one."""
    lines = ["fairhold: 1", f"resource_groups: {{compute: {{slots: {5 * consumers}}}}}", "consumers:"]
    paths = [f"/d{number // 1000}/t{number % 1000}" for number in range(consumers)]
    lines += [f"  {path}: {{rank: {at % 3}, reclaim_grace: {at % 50 + 1}s}}" for at, path in enumerate(paths)]
    lines += ["policies:", "  - resource_groups: [compute]", "    policy: hybrid", "    consumers:"]
    lines += [f"      /d{number}: {{owned: 5000}}" for number in range((consumers + 999) // 1000)]
    for at, path in enumerate(paths):
        settings = f"owned: {at % 5 + 1}, reserved: {at % 2}, limit: {at % 90 + 10}"
        lines.append(f"      {path}: {{{settings}, rank: {at % 4}, reclaim_grace: {at % 70 + 1}s}}")
    return "\n".join(lines) + "\n"


def twenty_consumers() -> tuple[str, str]:
    """Plan and state of 20 consumers as JSON text."""
    tree: dict[str, object] = {f"d{d}": {"consumers": {f"t{t}": {} for t in range(4)}} for d in range(4)}
    settings: dict[str, object] = {f"/d{d}": {"owned": 25} for d in range(4)}
    settings |= {f"/d{d}/t{t}": {"owned": 5} for d in range(4) for t in range(4)}
    demand = {f"/d{d}/t{t}": {"compute": 3 * d + 5 * t} for d in range(4) for t in range(4)}
    plan = {
        "fairhold": 1,
        "resource_groups": {"compute": {"slots": 100}},
        "consumers": tree,
        "policies": [{"resource_groups": ["compute"], "policy": "hybrid", "consumers": settings}],
    }
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": demand}
    return json.dumps(plan), json.dumps(state)
