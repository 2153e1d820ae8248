"""One cycle of a policy entry that shares vectors, and its document (SPEC §6.2, §11)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.open import (
    allocations_of,
    held_of,
    lenders_of,
    notices_of,
    open_pools,
    parcels_of,
    reserved_against,
    settle_pools,
)
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.standing import Standing
from fairhold.rules.pools.sweeps import private_pools, run_sweeps
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.pools import PoolBooks, Unit
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Allocation, HeldUnits, State
    from fairhold.model.state import Notice as NoticeNoun
    from fairhold.model.vector import Parcel as ParcelNoun

Document = dict[str, Any]


@dataclass(frozen=True)
class PooledCycle:
    """What one cycle of an entry decided, and the parts of the state after it."""

    books: PoolBooks
    pools: Document
    grants: list[Document]
    reclaims: list[Document]
    withdrawn: list[Document]
    stops: list[Document]
    refused: list[Document]
    ownership: tuple[ParcelNoun, ...]
    allocations: tuple[Allocation, ...]
    notices: tuple[NoticeNoun, ...]
    held: tuple[HeldUnits, ...]


def run_pools(plan: Plan, entry: PolicyEntry, state: State) -> PooledCycle:
    """Settle, adjust, both sweeps."""
    books = open_pools(plan, entry, state)
    stops = settle_pools(books, state)
    found = run_sweeps(books, reserved_against(books))
    for asked, host in [key for key in books.keeps if not key[0].waiting]:
        del books.keeps[asked, host]
    return PooledCycle(
        books=books,
        pools={_name(plan, pool): _pool(plan, found.standings[pool]) for pool in sorted(found.standings)},
        grants=_grants(plan, books, found.placed),
        reclaims=_reclaims(plan, books, found.noticed),
        withdrawn=_rows(plan, found.withdrawn),
        stops=[{"request": request, "host": host, "units": units} for request, host, units in stops],
        refused=_refused(books, found.standings[PUBLIC]),
        ownership=parcels_of(plan, books),
        allocations=allocations_of(plan, books),
        notices=notices_of(books),
        held=held_of(books),
    )


def quota_pools(plan: Plan, entry: PolicyEntry, state: State) -> Document:
    """The usages and quotas of all pools of the state as it is, nothing moved (SPEC §6.2)."""
    from fairhold.rules.pools.content import lend_up  # noqa: PLC0415

    books = open_pools(plan, entry, state)
    pools = private_pools(books)
    for leaf in books.terms.leaves:
        mine = [parcel for host in books.hosts for parcel in host.parcels if parcel.owner == leaf]
        lend_up(mine, leaf, books.terms.tree.parent[leaf])
    for pool in pools:
        lend_up((each for host in books.hosts for each in host.parcels), pool, books.terms.tree.parent[pool])
    document: Document = {}
    for pool in sorted([PUBLIC, *pools]):
        standing = Standing(books, pool)
        standing.divide({asked: asked.waiting for asked in standing.members})
        document[_name(plan, pool)] = _pool(plan, standing)
    return document


def _name(plan: Plan, pool: int) -> str:
    return "own" if pool == OWN else plan.tree.paths[pool]


def _pool(plan: Plan, standing: Standing) -> Document:
    consumers: Document = {}
    terms = standing.books.terms
    for row in range(len(terms.above)):
        if standing.pool in terms.above[row]:
            consumers[plan.tree.paths[row]] = {
                "usage": str(Fraction(standing.usage.get(row, 0), standing.whole)),
                "usage_demand": str(standing.demand.get(row, Fraction(0))),
                "usage_quota": str(standing.quota.get(row, Fraction(0))),
            }
    return {"consumers": consumers}


def _grants(plan: Plan, books: PoolBooks, placed: Iterable[Unit]) -> list[Document]:
    """Units in the order of placing; neighbours that are alike in one row."""
    rows: list[tuple[tuple[str, str, int], list[Unit]]] = []
    for unit in placed:
        key = unit.asked.model.id, unit.host.name, unit.pool
        if rows and rows[-1][0] == key:
            rows[-1][1].append(unit)
        else:
            rows.append((key, [unit]))
    found = []
    for (request, host, pool), units in rows:
        row: Document = {"consumer": plan.tree.paths[units[0].asked.leaf], "request": request, "host": host}
        row |= {"units": len(units), "pool": _name(plan, pool)}
        lenders = lenders_of(books.terms, units)
        if lenders:
            row["lenders"] = {plan.tree.paths[lender]: number for lender, number in lenders}
        found.append(row)
    return found


def _rows(plan: Plan, units: Iterable[Unit]) -> list[Document]:
    found: dict[tuple[str, str], Document] = {}
    for unit in units:
        row = found.setdefault(
            (unit.asked.model.id, unit.host.name),
            {
                "consumer": plan.tree.paths[unit.asked.leaf],
                "request": unit.asked.model.id,
                "host": unit.host.name,
                "units": 0,
            },
        )
        row["units"] += 1
    return list(found.values())


def _reclaims(plan: Plan, books: PoolBooks, noticed: Iterable[Unit]) -> list[Document]:
    del books
    found: dict[tuple[str, str, str, int, str], Document] = {}
    for unit in noticed:
        notice = unit.notice
        assert notice is not None
        taker = notice.taker.model.id if notice.taker else None
        row = found.setdefault(
            (unit.asked.model.id, unit.host.name, taker or "", notice.deadline, notice.reason),
            {
                "consumer": plan.tree.paths[unit.asked.leaf],
                "request": unit.asked.model.id,
                "host": unit.host.name,
                "units": 0,
                "for": taker,
                "deadline": format_instant(notice.deadline),
                "reason": notice.reason,
            },
        )
        row["units"] += 1
    return list(found.values())


def _refused(books: PoolBooks, public: Standing) -> list[Document]:
    """Requests whose unit fits no host of the entry at all."""
    del public
    sizes = {host.total for host in books.hosts}
    return [
        {"request": asked.model.id, "reason": "unplaceable"}
        for asked in books.asked.values()
        if asked.waiting and not any(all(a <= b for a, b in zip(asked.unit, size, strict=True)) for size in sizes)
    ]
