"""Runs one cycle of all entries that share vectors, and adds its result to that of slots (SPEC §11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import InForce, entries_at
from fairhold.cycle.pooled.pool_ledger import PoolLedger
from fairhold.cycle.pooled.run import PooledCycle, quota_pools, run_pools
from fairhold.model.vector import amounts_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.pooled.pool_ledger import News
    from fairhold.model.adjusted import Adjusted
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
Cycles = Sequence[tuple[InForce, PooledCycle]]
"""Entries in force, in plan order, with what each decided."""
_MOVES = ("stops", "grants", "reclaims", "withdrawn", "warnings")


def run_entries(plan: Plan, state: State) -> Cycles:
    """One cycle of every entry in force that shares vectors; entries have separate pools."""
    return [
        (force, run_pools(plan, force.entry, force.part_of(plan, state), force.members))
        for force in entries_at(plan, state)
    ]


def run_on(plan: Plan, state: State, ledgers: dict[int, PoolLedger], news: News) -> Cycles:
    """The same of a live cluster, on the books of the cycle before; of that cycle nothing is read any more.

    state   : without its requests and allocations
    ledgers : position of an entry → its books, changed: of entries that are not in force there are none
    """
    forces = entries_at(plan, state)
    before = dict(ledgers)
    ledgers.clear()
    ledgers.update({force.at: before.get(force.at) or PoolLedger() for force in forces})
    return [
        (
            force,
            run_pools(plan, force.entry, state, force.members, ledgers[force.at], force.news_of(plan, news)),
        )
        for force in forces
    ]


def quota_part(plan: Plan, state: State) -> Document:
    """The pools in the output of `quota`; empty where no vectors are shared."""
    forces = entries_at(plan, state)
    found = [(force, quota_pools(plan, force.entry, force.part_of(plan, state), force.members)) for force in forces]
    queues = {force.name: each for force, each in found if force.entry.policy.has_queues}
    pools = _pools((force, each) for force, each in found if not force.entry.policy.has_queues)
    return pools | ({"resource_groups": queues} if queues else {})


def with_pools(plan: Plan, document: Document, cycles: Cycles) -> Document:
    """The document of a cycle with what entries that share vectors decided; as it was where there are none."""
    if not cycles:
        return document
    joined = document | {kind: [*document[kind]] for kind in _MOVES}
    for _, cycle in cycles:
        for kind in _MOVES:
            joined[kind] += getattr(cycle, kind)
    observed = [row for _, cycle in cycles for row in cycle.observed]
    if observed:
        joined["observed"] = [*document.get("observed", ()), *observed]
    return joined | {
        **_pools((force, cycle.pools) for force, cycle in cycles if not cycle.queues),
        "resource_groups": document["resource_groups"]
        | {force.name: each.queues for force, each in cycles if each.queues},
        "ownership": [
            {
                "host": parcel.host,
                "consumer": plan.tree.paths[parcel.consumer],
                "amounts": amounts_document(plan.resources, parcel.amounts),
            }
            for _, cycle in cycles
            for parcel in cycle.ownership
        ],
        "refused": [row for _, cycle in cycles for row in cycle.refused],
    }


def _pools(found: Iterable[tuple[InForce, Document]]) -> Document:
    """The pools of one entry by name; of several by their groups first, since each has a public pool."""
    pools = list(found)
    if len(pools) == 1:
        return {"pools": pools[0][1]}
    return {"pools": {force.name: each for force, each in pools}} if pools else {}


def adjusted_in(cycles: Cycles) -> dict[str, Adjusted]:
    """Resource group → its last adjustment, where its entry says how often (R-ADJUST-5)."""
    return {
        group: last
        for force, cycle in cycles
        if (last := cycle.books.adjusted) is not None
        for group in force.entry.resource_groups
    }


def with_vectors(after: State, before: State, cycles: Cycles) -> State:
    """The state of slots after a cycle with the parts that hold vectors.

    Units on hosts that are down are in no pool, and stay in the state until somebody says that they are gone.
    """
    requests = {request.id for request in before.requests if request.unit}
    if not cycles:
        return after
    stays = [each for each in before.allocations if each.request in requests and each.host in before.hosts_down]
    noticed = [each for each in before.notices if each.request in requests and each.host in before.hosts_down]
    done = [cycle for _, cycle in cycles]
    return replace(
        after,
        hosts_down=after.hosts_down | before.hosts_down,
        hosts_never_seen=after.hosts_never_seen | before.hosts_never_seen,
        hosts_closed=before.hosts_closed,
        labels=before.labels,
        spent_amounts=before.spent_amounts,
        usage=before.usage,
        requests=(*after.requests, *(each for each in before.requests if each.unit)),
        allocations=(*after.allocations, *chain.from_iterable(cycle.allocations for cycle in done), *stays),
        notices=(*after.notices, *chain.from_iterable(cycle.notices for cycle in done), *noticed),
        held=(*after.held, *chain.from_iterable(cycle.held for cycle in done)),
        ownership=(*chain.from_iterable(cycle.ownership for cycle in done),),
        own_entries=(*chain.from_iterable(cycle.own_entries for cycle in done),),
        adjusted=adjusted_in(cycles),
        shortages=(*after.shortages, *chain.from_iterable(cycle.shortages for cycle in done)),
    )
