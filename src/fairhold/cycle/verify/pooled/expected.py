"""Recomputes the parts of a result that belong to entries that share vectors (SPEC §6, §11)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.force import Share, shares_now
from fairhold.cycle.verify.pooled.lending import lend_up, usable
from fairhold.cycle.verify.pooled.opening import open_stock
from fairhold.cycle.verify.pooled.report import (
    grant_rows,
    moved_rows,
    ownership_rows,
    pool_table,
    reclaim_rows,
    refused_rows,
    shortage_rows,
    state_rows,
    unmet_rows,
    unsettled_rows,
)
from fairhold.cycle.verify.pooled.restraint import decide
from fairhold.cycle.verify.pooled.siting import will_do
from fairhold.cycle.verify.pooled.stock import fits_in
from fairhold.cycle.verify.pooled.sweeps import Sweeps
from fairhold.cycle.verify.pooled.terms import TOP
from fairhold.cycle.verify.pooled.usage import Pool
from fairhold.cycle.verify.queued.report import queue_rows
from fairhold.cycle.verify.queued.table import make_table
from fairhold.model.vector import amounts_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Stock
    from fairhold.model.plan import Plan
    from fairhold.model.state import Allocation, Notice, State

Json = dict[str, Any]
MOVES = ("stops", "grants", "reclaims", "withdrawn")


def expected_pools(plan: Plan, state: State) -> Json:
    """The part of `fairhold quota --json`; empty where no vectors are shared."""
    found = []
    queues: Json = {}
    for share in shares_now(plan, state):
        stock = open_stock(plan, share, state)
        if share.entry.policy.has_queues:
            queues[share.name] = queue_rows(plan, make_table(plan, share, state, stock), stock)
            continue
        for owner in [*stock.terms.leaves, *stock.private()]:
            _lend_unusable(stock, owner)
        pools = [Pool(stock, path) for path in [TOP, *stock.private()]]
        for pool in pools:
            pool.divide(lambda asked: asked.waiting)
        found.append((share, _tables(plan, share, pools)))
    return _joined(found) | ({"queues": queues} if queues else {})


def _lend_unusable(stock: Stock, owner: str) -> None:
    """Lend up idle resources of hosts where no waiting unit of consumers below fits, in this state (SPEC §6.2)."""
    waiting = [asked for asked in stock.asked.values() if asked.waiting and owner in stock.terms.up[asked.leaf]]
    for host in stock.hosts.values():
        able = [asked for asked in waiting if will_do(asked, host)]
        if not any(fits_in(asked, usable(stock.terms, host, asked.leaf, owner)) for asked in able):
            lend_up(host.parcels, owner, stock.terms.up[owner][1])


def expected_moves(plan: Plan, state: State) -> Json:
    """The part of `fairhold cycle --json`, with the sections of the state after it; empty where none are shared."""
    pools: list[tuple[Share, Json]] = []
    queues: Json = {}
    found: Json = {kind: [] for kind in (*MOVES, "observed", "ownership", "refused", "warnings")}
    after: Json = {
        "allocations": [],
        "reclaims": [],
        "held": [],
        "ownership": [],
        "own_entries": [],
        "shortages": [],
        "adjusted": {},
    }
    for share in shares_now(plan, state):
        decided = decide(plan, share, state)
        stock, sweeps = decided.stock, decided.sweeps
        found["stops"] += moved_rows(stock, decided.stops)
        found["grants"] += grant_rows(stock, sweeps.placed)
        found["reclaims"] += reclaim_rows(stock, sweeps.noticed)
        found["observed"] += reclaim_rows(stock, decided.observed)
        found["withdrawn"] += moved_rows(stock, Counter((u.asked.id, u.host.name) for u in sweeps.withdrawn))
        found["refused"] += refused_rows(plan, stock)
        found["warnings"] += unmet_rows(plan, stock) + decided.warnings + unsettled_rows(is_over=sweeps.is_over)
        found["ownership"] += ownership_rows(plan, stock)
        if last := stock.adjusted:
            said = {"at": format_instant(last.at), "of": last.of}
            after["adjusted"] |= dict.fromkeys(share.groups, said)
        after["shortages"] += shortage_rows(plan, decided.shortages)
        for section, rows in state_rows(plan, stock, sweeps.coming).items():
            after[section] += rows
        if isinstance(sweeps, Sweeps):
            pools.append((share, _tables(plan, share, sweeps.taking.pools.values())))
        else:
            queues[share.name] = decided.queues
    if not pools and not queues:
        return {}
    found |= _joined(pools) | ({"queues": queues} if queues else {})
    return found | {"state": _with_down(plan, state, after)}


def _tables(plan: Plan, share: Share, pools: Iterable[Pool]) -> Json:
    top = {plan.tree.paths[row] for row in share.members}
    return {pool.path: pool_table(plan, pool, top) for pool in pools}


def _joined(found: list[tuple[Share, Json]]) -> Json:
    if len(found) == 1:
        return {"pools": found[0][1]}
    return {"pools": {share.name: tables for share, tables in found}} if found else {}


def _with_down(plan: Plan, state: State, after: Json) -> Json:
    """Keep units on hosts that are down in the state."""
    mine = {request.id for request in state.requests if request.unit}
    paths = plan.tree.paths
    for row in state.allocations:
        if row.request in mine and row.host in state.hosts_down:
            said: Json = {"request": row.request, "host": row.host, "units": row.units}
            said |= {"started": format_instant(row.started), "pool": row.pool}
            after["allocations"].append(said | _parcels_of(plan, row))
    for notice in state.notices:
        if notice.request in mine and notice.host in state.hosts_down:
            said = {"request": notice.request, "consumer": paths[notice.consumer], "host": notice.host}
            said |= {"units": notice.units} | ({"for": notice.taker_request} if notice.taker_request else {})
            said |= {"deadline": format_instant(notice.deadline)}
            said |= {} if notice.reason == "quota" else {"reason": notice.reason}
            if notice.started is not None:
                said |= {"started": format_instant(notice.started), "pool": notice.pool} | _parcels_of(plan, notice)
            after["reclaims"].append(said)
    return after


def _parcels_of(plan: Plan, row: Allocation | Notice) -> Json:
    """The owners of the parcels that units use."""
    paths = plan.tree.paths
    lenders = {paths[at]: units for at, units in row.lenders}
    parts = {paths[at]: amounts_document(plan.resources, amounts) for at, amounts in row.parts}
    return ({"lenders": lenders} if lenders else {}) | ({"stands_on": parts} if parts else {})
