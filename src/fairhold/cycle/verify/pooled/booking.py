"""Books the units of a state on parcels, with their pools (R-POOL-2, R-ADJUST-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import lower, minus, plus
from fairhold.cycle.verify.pooled.lending import booked_first, is_lendable
from fairhold.cycle.verify.pooled.terms import OWN, TOP, Terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.stock import Host, Parcel, Unit

Kind = tuple[int, str, frozenset[str], tuple[tuple[str, "Amounts"], ...]]
"""What a state says of a unit: started, pool, lenders, and what it uses of whose parcel, where of several."""
Kinds = dict["Unit", Kind]


def book(terms: Terms, host: Host, kinds: Kinds) -> None:
    """Book units of a host where they were; else units on own parcels first, then without lenders, then others."""
    for parcel in host.parcels:
        parcel.idle = parcel.amounts
    rest = [unit for unit in host.units if not _stands_again(terms, unit, kinds[unit])]
    for unit in sorted(rest, key=lambda unit: (unit.pool != OWN, bool(kinds[unit][2]))):
        said, pool = kinds[unit][2], unit.pool
        stays = _left_of(unit, kinds[unit])
        _stand(terms, unit, frozenset(), stays)
        if said and set(unit.lenders(terms)) != said:
            for parcel, part in unit.books.items():
                parcel.idle = plus(parcel.idle, part)
            unit.pool = pool
            _stand(terms, unit, said, stays)


def _stands_again(terms: Terms, unit: Unit, kind: Kind) -> bool:
    """Book a unit exactly as the state says, if all of that is free; returns whether it is."""
    books = _left_of(unit, kind)
    if any(_without(unit.asked.unit, books)):
        return False
    unit.books = books
    for parcel, part in books.items():
        parcel.idle = minus(parcel.idle, part)
    unit.pool = _pool(terms, unit)
    return True


def _left_of(unit: Unit, kind: Kind) -> dict[Parcel, Amounts]:
    """The free part of the parcels on which a unit is according to the state."""
    _, _, lenders, parts = kind
    if len(lenders) == 1 and not parts:
        parts = tuple((path, unit.asked.unit) for path in lenders)
    books: dict[Parcel, Amounts] = {}
    for owner, need in parts:
        for parcel in unit.host.parcels:
            if parcel.owner == owner and any(part := lower(need, parcel.idle)):
                books[parcel], need = part, minus(need, part)  # noqa: PLW2901
    return books


def _without(unit: Amounts, books: Mapping[Parcel, Amounts]) -> Amounts:
    """The part of a unit that is not booked yet."""
    for part in books.values():
        unit = minus(unit, part)
    return unit


def _stand(terms: Terms, unit: Unit, lenders: frozenset[str], stays: Mapping[Parcel, Amounts]) -> None:
    """Book a unit where it was as far as that is free, then on parcels in order."""
    unit.books, rest = dict(stays), _without(unit.asked.unit, stays)
    for parcel, part in stays.items():
        parcel.idle = minus(parcel.idle, part)

    def place(parcel: Parcel) -> tuple[int, tuple[int, ...]]:
        leaf, pool = unit.asked.leaf, unit.pool
        levels = (
            parcel.owner == leaf and (pool == OWN or is_lendable(parcel, pool)),
            parcel.owner in lenders,
            parcel.owner == pool or (parcel.owner == TOP and pool == OWN),
            pool == TOP or pool in parcel.owners(),
            True,
        )
        return levels.index(True), booked_first(terms, parcel, leaf, pool)

    for parcel in sorted(unit.host.parcels, key=place):
        part = lower(rest, parcel.idle)
        if any(part):
            unit.books[parcel] = plus(unit.books[parcel], part) if parcel in unit.books else part
            parcel.idle = minus(parcel.idle, part)
            rest = minus(rest, part)
    unit.pool = _pool(terms, unit)


def _pool(terms: Terms, unit: Unit) -> str:
    """The nearest pool that contains all its parcels, and that is not deeper than its pool before."""
    leaf = unit.asked.leaf
    if {parcel.owner for parcel in unit.books} == {leaf}:
        return OWN
    way = terms.up[leaf][1:]
    if unit.pool in way:
        way = way[way.index(unit.pool) :]
    return next(pool for pool in way if pool == TOP or all(pool in parcel.owners() for parcel in unit.books))


def share_out(units: int, lenders: Mapping[str, int]) -> list[frozenset[str]]:
    """The lenders of each unit, as few as possible for each, where a state gives only numbers of units by lender."""
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


def nearest_pool(terms: Terms, parcels: list[Parcel], leaf: str) -> str:
    """The pool of a leaf's unit on parcels: the nearest that contains all of them, or OWN."""
    if all(parcel.owner == leaf for parcel in parcels):
        return OWN
    return next(
        pool for pool in terms.up[leaf][1:] if pool == TOP or all(is_lendable(parcel, pool) for parcel in parcels)
    )
