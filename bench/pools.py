"""Vectors on hosts: full cycles, and who owns what after hosts have come and gone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from gc import collect
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from fairhold.cycle.document import run_cycle
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.pooled.open import open_pools
from fairhold.cycle.pooled.run import run_pools
from fairhold.cycle.verify import verify
from fairhold.model.plan import ConsumerSettings, Host, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.state import Request, State
from fairhold.model.tree import ConsumerTree
from fairhold.model.vector import Owning, Resource
from fairhold.planio.state import state_document
from fairhold.policies.multidimensional.policy import MULTIDIMENSIONAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.cycle.pooled.run import PooledCycle

    Row = dict[str, float]

NOW = 1_767_603_600_000_000
RESOURCES = (Resource("cpu", step=1), Resource("memory", "GiB", 1024, 1), Resource("gpu", step=1))
HOST = (64_000, 512 * 1024, 8000)
SIZES = ((4000, 16 * 1024, 0), (4000, 16 * 1024, 1000), (1500, 40 * 1024, 500), (8000, 8 * 1024, 0))
HOSTS = 2000
LEAVES, BRANCHES, UNITS = 1000, 20, 20_000
RUNS = 5
OWN: dict[str, Callable[[int], Owning]] = {
    "whole hosts": lambda _: Owning("main", hosts=HOSTS // 200),
    "totals": lambda _: Owning("main", total=((2, 8 * HOST[2]),)),
}
"""What each of 200 owners has, by how it is written."""

DOCUMENTS = ("pools", "grants", "reclaims", "observed", "withdrawn", "stops", "refused", "warnings")
NOUNS = ("ownership", "allocations", "notices", "held")
"""What a cycle says, as documents and as parts of the state after it; it is made when somebody asks."""


def pools() -> dict[str, Row]:
    """All figures of vectors on hosts."""
    found: dict[str, Row] = {}
    for name, settings, owners in (
        ("", PolicySettings(), 0),
        (", balanced", PolicySettings(packing="balanced"), 0),
        (", 200 owners", PolicySettings(), 200),
    ):
        plan, state = cluster(settings, owners)
        full = after(plan, state)
        label = f"{LEAVES:,} leaves, {HOSTS:,} hosts, {UNITS:,} units"
        found[f"pools, {label} placed{name}"] = cycle_of(plan, state)
        found[f"pools, {label} there, 1 % changed{name}"] = cycle_of(plan, changed(full))
    found |= small() | told_and_checked()
    for name, own in OWN.items():
        found[f"ownership, 200 owners of {name}, {HOSTS:,} hosts, 50 changed"] = {
            "ms": adjusting(own),
            "goal_ms": 200,
        }
    return found


def told(plan: Plan, entry: PolicyEntry, state: State) -> PooledCycle:
    """A whole cycle, books opened and all, with all that can be said of it."""
    cycle = _decided(plan, entry, state)
    for part in DOCUMENTS:
        getattr(cycle, part)
    return cycle


def cycle_of(plan: Plan, state: State) -> Row:
    """Milliseconds of a whole cycle, and what it decided."""
    (entry,) = plan.policies
    result = told(plan, entry, state)
    figures: Row = {"goal_ms": 300, "reclaimed": sum(row["units"] for row in result.reclaims)}
    figures["granted"] = sum(row["units"] for row in result.grants)
    del result
    collect()  # else what other figures have left is looked through again and again
    return {"ms": timed(lambda: told(plan, entry, state))} | figures


def small() -> dict[str, Row]:
    """Milliseconds of cycles as a simulator runs them by the hundred thousand: books opened, decided, the state after.

    Documents are not asked for. 60 hosts of 8 GPUs, 15 leaves; in the last, everything is in use and nobody takes more.
    """
    tree = ConsumerTree(["", *(f"t{at}" for at in range(15))], [-1, *[0] * 15], [None] * 16, [30_000_000] * 16)
    plan = _plan(tree, PolicySettings(), {row: ConsumerSettings(share_ratio=1 + row % 3) for row in range(1, 16)}, 60)
    (entry,) = plan.policies

    def asked(number: int, count: int, since: int) -> tuple[Request, ...]:
        return tuple(
            Request(f"{since}-{at}", 1 + at % 15, "", count, submitted=NOW + since + at, unit=SIZES[1])
            for at in range(number)
        )

    running = after(plan, State(NOW, requests=asked(100, 3, 0)))
    one = replace(running, requests=(*running.requests, *asked(1, 1, 1000)))
    full = replace(running, requests=(*running.requests, *asked(60, 3, 2000), *asked(30, 2, 3000)))
    for turn in range(1, 7):  # until nothing moves
        full = replace(after(plan, full), now=NOW + turn * 31_000_000)
    found: dict[str, Row] = {}
    for name, state, goal in (
        ("nothing to do", running, 1),
        ("one unit to place", one, 1.5),
        ("full, 30 wait", full, 0),
    ):
        row: Row = {"ms": timed(partial(_decided, plan, entry, state), 50)}
        found[f"pools, 15 leaves, 60 hosts, {name}"] = row | ({"goal_ms": goal} if goal else {})
    return found


def _decided(plan: Plan, entry: PolicyEntry, state: State) -> PooledCycle:
    """A cycle and the state after it."""
    cycle = run_pools(plan, entry, state)
    for part in NOUNS:
        getattr(cycle, part)
    return cycle


def told_and_checked() -> dict[str, Row]:
    """Milliseconds of explanations and of a check of a cycle; on 400 hosts every second leaf wants twice as much."""
    found: dict[str, Row] = {}
    for hosts, is_busy, of_leaf, of_check in ((400, True, 1500, 2000), (HOSTS, False, 5000, 10_000)):
        plan, state = cluster(PolicySettings(), hosts // 10, hosts)
        state = changed(after(plan, state))
        more = tuple(replace(each, count=each.count * (1 + at % 2)) for at, each in enumerate(state.requests))
        state = replace(state, requests=more) if is_busy else state
        label = f"{hosts:,} hosts, {sum(each.count for each in state.requests):,} units wanted"
        cycle = run_cycle(plan, state)
        held = Counter({each.id: 0 for each in state.requests})
        for row in cycle.after.allocations:
            held[row.request] += row.units
        one = max(state.requests, key=lambda each: each.count - held[each.id])  # who waits for most
        told = {"a leaf": (plan.tree.paths[one.consumer], of_leaf), "all": ("/", 10_000)}
        for whom, (path, goal) in told.items():
            call = partial(explain_pools, plan, state, path)
            found[f"explain of {whom}, {label}"] = {"ms": timed(call, 1), "goal_ms": goal}
        result = cycle.document | {"state": state_document(plan, cycle.after)}
        found[f"verify of a cycle, {label}"] = {
            "ms": timed(partial(verify, plan, state, result), 1),
            "goal_ms": of_check,
        }
    return found


def cluster(settings: PolicySettings, owners: int, hosts: int = HOSTS) -> tuple[Plan, State]:
    """A cluster without work, and a request of every leaf; the first leaves own hosts, all of them together.

    hosts : other than HOSTS: leaves and units in proportion
    """
    leaf_count, units = LEAVES * hosts // HOSTS, UNITS * hosts // HOSTS
    wide = leaf_count // BRANCHES
    names, parents = [""], [-1]
    for branch in range(BRANCHES):
        names.append(f"d{branch}")
        parents.append(0)
        above = len(names) - 1
        for team in range(wide):
            names.append(f"t{team}")
            parents.append(above)
    tree = ConsumerTree(names, parents, [None] * len(names), [30_000_000] * len(names))
    leaves = [row for row in range(len(tree)) if tree.is_leaf(row)]
    consumers = {row: ConsumerSettings(share_ratio=1 + row % 3) for row in leaves}
    for branch in tree.children[0] if owners else ():
        consumers[branch] = ConsumerSettings(own=(Owning("main", hosts=hosts // BRANCHES),))
        for row in tree.children[branch][: owners // BRANCHES]:
            consumers[row] = replace(consumers[row], own=(Owning("main", hosts=hosts // owners),))
    requests = tuple(
        Request(f"r{row}", row, "", units // leaf_count, submitted=NOW - row, unit=SIZES[row % len(SIZES)])
        for row in leaves
    )
    return _plan(tree, settings, consumers, hosts), State(NOW, requests=requests)


def after(plan: Plan, state: State) -> State:
    """The state after a cycle."""
    (entry,) = plan.policies
    done = run_pools(plan, entry, state)
    return replace(state, allocations=done.allocations, notices=done.notices, held=done.held, ownership=done.ownership)


def changed(state: State) -> State:
    """A leaf in a hundred has ended half of its work, and another one wants three units more."""
    ended = {request.id for request in state.requests[::100]}
    more = {request.id for request in state.requests[50::100]}
    return replace(
        state,
        now=state.now + 1_000_000,
        previous_cycle=state.now,
        requests=tuple(
            replace(each, count=each.count // 2 if each.id in ended else each.count + 3 * (each.id in more))
            for each in state.requests
        ),
        allocations=tuple(each for at, each in enumerate(state.allocations) if each.request not in ended or at % 2),
    )


def adjusting(own: Callable[[int], Owning]) -> float:
    """Milliseconds in which 200 owners divide their hosts again after 25 of them are lost and 25 are back."""
    owners = 200
    tree = ConsumerTree(
        ["", *(f"o{at}" for at in range(owners))],
        [-1, *[0] * owners],
        [None, *(at % 5 for at in range(owners))],
        [30_000_000] * (owners + 1),
    )
    plan = _plan(tree, PolicySettings(), {row: ConsumerSettings(own=(own(row),)) for row in range(1, owners + 1)})
    (entry,) = plan.policies
    names = [host.name for host in plan.resource_groups["main"].hosts]
    requests = tuple(
        Request(f"r{row}", row, "", 30, submitted=NOW, unit=SIZES[row % len(SIZES)]) for row in range(1, owners + 1)
    )
    before = after(plan, State(NOW, requests=requests, hosts_down=frozenset(names[40:2000:80])))
    state = replace(before, now=NOW + 1_000_000, hosts_down=frozenset(names[80:2000:80]))
    return timed(lambda: open_pools(plan, entry, state))


def _plan(
    tree: ConsumerTree, settings: PolicySettings, consumers: Mapping[int, ConsumerSettings], hosts: int = HOSTS
) -> Plan:
    group = ResourceGroup("main", 0, 0, hosts=tuple(Host(f"h{at:04}", 0, (), HOST) for at in range(hosts)))
    entry = PolicyEntry(("main",), MULTIDIMENSIONAL, settings, dict(consumers))
    return Plan("bench", "UTC", 0, tree, {"main": group}, (entry,), resources=RESOURCES)


def timed(call: Callable[[], object], runs: int = RUNS) -> float:
    """Median milliseconds of a call, after one that does not count."""
    call()
    times = []
    for _ in range(runs):
        begun = perf_counter()
        call()
        times.append((perf_counter() - begun) * 1e3)
    return round(median(times), 3)
