"""On which parcels the units of a state stand, and in which pool that is (R-POOL-2, R-ADJUST-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import lower, minus, plus
from fairhold.cycle.verify.pooled.lending import booked_first
from fairhold.cycle.verify.pooled.terms import OWN, TOP, Terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.pooled.stock import Host, Parcel, Unit

Lenders = dict["Unit", frozenset[str]]


def book(terms: Terms, host: Host, lenders: Lenders) -> None:
    """Book the units of a host: those on their own first, then those without lenders, then the others."""
    for parcel in host.parcels:
        parcel.idle = parcel.amounts
    for unit in sorted(host.units, key=lambda unit: (unit.pool != OWN, bool(lenders[unit]))):
        said, pool = lenders[unit], unit.pool
        _stand(terms, unit, frozenset())
        if said and set(unit.lenders(terms)) != said:
            for parcel, part in unit.books.items():
                parcel.idle = plus(parcel.idle, part)
            unit.pool = pool
            _stand(terms, unit, said)


def _stand(terms: Terms, unit: Unit, lenders: frozenset[str]) -> None:
    unit.books, rest = {}, unit.asked.unit

    def place(parcel: Parcel) -> tuple[int, tuple[int, ...]]:
        leaf, pool = unit.asked.leaf, unit.pool
        levels = (
            parcel.owner == leaf,
            parcel.owner in lenders,
            parcel.owner == pool or (parcel.owner == TOP and pool == OWN),
            pool == TOP or pool in parcel.owners(),
            True,
        )
        return levels.index(True), booked_first(terms, parcel, leaf, pool)

    for parcel in sorted(unit.host.parcels, key=place):
        part = lower(rest, parcel.idle)
        if any(part):
            unit.books[parcel] = part
            parcel.idle = minus(parcel.idle, part)
            rest = minus(rest, part)
    unit.pool = _pool(terms, unit)


def _pool(terms: Terms, unit: Unit) -> str:
    """The nearest pool, not deeper than where it was, in which all of its parcels can be."""
    leaf = unit.asked.leaf
    if {parcel.owner for parcel in unit.books} == {leaf}:
        return OWN
    way = terms.up[leaf][1:]
    if unit.pool in way:
        way = way[way.index(unit.pool) :]
    return next(pool for pool in way if pool == TOP or all(pool in parcel.owners() for parcel in unit.books))


def share_out(units: int, lenders: Mapping[str, int]) -> list[frozenset[str]]:
    """The lenders of each unit where a state says only how many stand on whose: as few a unit as can be."""
    left = {path: number for path, number in lenders.items() if number}
    found = []
    for rest in range(units, 0, -1):
        mine = [path for path, number in left.items() if number >= rest]
        if not mine and left and sum(left.values()) >= rest:
            mine = [next(iter(left))]
        for path in mine:
            left[path] -= 1
        left = {path: number for path, number in left.items() if number}
        found.append(frozenset(mine))
    return found


def nearest_pool(terms: Terms, unit: Unit, leaf: str) -> str:
    """The pool in which a leaf will stand where a unit goes: the nearest that has all of its parcels, or OWN."""
    if {parcel.owner for parcel in unit.books} == {leaf}:
        return OWN
    return next(
        pool for pool in terms.up[leaf][1:] if pool == TOP or all(pool in parcel.owners() for parcel in unit.books)
    )
