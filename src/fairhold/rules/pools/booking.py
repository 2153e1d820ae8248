"""Books the units of a state on parcels (SPEC §6.1, §6.7.4, R-POOL-2, R-ADJUST-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, fits, less, total
from fairhold.ledger.pools import OWN, PUBLIC, Parcel, PoolBooks, Unit
from fairhold.rules.pools.content import booking_order, is_lent_to

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import Machine
    from fairhold.model.state import Parts


Kind = tuple[int, int, tuple[int, ...], "Parts"]
"""What tells units of a request on one host from one another: started, pool, and whose parcels they stand on: lenders,
and what they use of whose parcel where that is of several."""
KnownPools = dict[tuple[int, int, int], int]
"""(leaf, pool where a unit was placed, owner of all that it stands on) → the pool that it stands in."""


def book_units(books: PoolBooks, host: Machine, stood: Mapping[Unit, Kind], pools: KnownPools) -> None:
    """Book all units of a host: first units whose earlier parcels are still there, then by R-POOL-2.

    Of the others, units of owners come first, then those without stated lenders. A unit first uses what is left of its
    earlier parcels, so that no parcel becomes idle only because a part of the unit had to go elsewhere.

    pools : what is known of pools, added to
    """
    parcel = _all_on_one(books.terms, host)
    host.is_plain = len(host.parcels) == 1 and host.parcels[0].owner == PUBLIC and not (parcel is None and host.units)
    if parcel is not None:
        owner = parcel.owner
        for unit in host.units:
            if owner == PUBLIC:
                unit.pool = PUBLIC
                continue
            key = unit.asked.leaf, unit.pool, owner
            if key not in pools:
                pools[key] = _pool(books.terms, unit)
            unit.pool = pools[key]
        return
    if not host.units:
        return
    order = {unit: at for at, unit in enumerate(host.units) if not _book_again(books.terms, unit, *stood[unit][2:])}
    for unit in sorted(order, key=lambda unit: (unit.pool != OWN, bool(stood[unit][2]), order[unit])):
        stated, pool = stood[unit][2], unit.pool
        found = _left_of(unit, stated, stood[unit][3])
        _book(books.terms, unit, (), found)
        if stated and set(unit.lenders(books.terms)) != set(stated):  # what it stood on then is not what is free now
            _unbook(unit)
            unit.pool = pool
            _book(books.terms, unit, stated, found)


def book_before(books: PoolBooks, host: Machine, stood: Mapping[Unit, Kind], pools: KnownPools) -> None:
    """The same on what was owned before, where units stay in the pools that the state says."""
    if _all_on_one(books.terms, host) is None:
        book_units(books, host, stood, pools)
        for unit in host.units:
            unit.pool = stood[unit][1]


def _all_on_one(terms: Terms, host: Machine) -> Parcel | None:
    """Book all units of a host that is one parcel: the common case, in which their order makes no difference."""
    parcels = host.parcels
    for parcel in parcels:
        parcel.idle = parcel.amounts
    units = host.units
    if not units:
        return None
    if len(parcels) > 1:
        parcels = [parcel for parcel in parcels if any(parcel.amounts)]
    if len(parcels) != 1:
        return None
    (parcel,) = parcels
    if host.taken is None:
        host.taken = total([unit.asked.unit for unit in units], terms.dimensions)
    idle = less(parcel.amounts, host.taken)
    if min(idle) < 0 or not any(parcel.amounts):
        return None
    parcel.idle = idle
    for unit in units:
        unit.books = parcel.alone(unit.asked.unit)
    return parcel


def _book_again(terms: Terms, unit: Unit, lenders: tuple[int, ...], parts: Parts) -> bool:
    """Book a unit on exactly its earlier parcels, if the state names them and they are there; whether it was booked."""
    found = _left_of(unit, lenders, parts)
    if found and total(found.values(), terms.dimensions) != unit.asked.unit:
        return False
    unit.books = found
    for parcel, part in found.items():
        parcel.idle = less(parcel.idle, part)
    if found:
        unit.pool = _pool(terms, unit)
    return bool(found)


def _left_of(unit: Unit, lenders: tuple[int, ...], parts: Parts) -> dict[Parcel, Vector]:
    """What is still there of that on which the state says that a unit stood; nothing where it does not say it."""
    if not parts and len(lenders) == 1:
        parts = ((lenders[0], unit.asked.unit),)
    found: dict[Parcel, Vector] = {}
    for owner, rest in parts:
        left = rest
        for parcel in unit.host.parcels:
            part = common(left, parcel.idle)
            if parcel.owner == owner and any(part):
                found[parcel] = part
                left = less(left, part)
    return found


def _unbook(unit: Unit) -> None:
    for parcel, part in unit.books.items():
        parcel.idle = add(parcel.idle, part)


def _book(terms: Terms, unit: Unit, lenders: tuple[int, ...], stays: Mapping[Parcel, Vector]) -> None:
    """Book a unit where it was placed; what is not there any more makes it a borrower of others.

    stays : what is still there of that on which it stood
    """
    leaf, pool = unit.asked.leaf, unit.pool
    found: dict[Parcel, Vector] = dict(stays)
    rest = unit.asked.unit
    for parcel, part in stays.items():
        parcel.idle = less(parcel.idle, part)
        rest = less(rest, part)
    able = [parcel for parcel in unit.host.parcels if any(parcel.idle)]
    if len(able) > 1:
        able.sort(key=lambda each: _place(terms, each, leaf, pool, lenders))
    for parcel in able:
        if fits(rest, parcel.idle):  # the common case
            found[parcel] = add(found[parcel], rest) if parcel in found else rest
            parcel.idle = less(parcel.idle, rest)
            break
        part = common(rest, parcel.idle)
        if any(part):
            found[parcel] = add(found[parcel], part) if parcel in found else part
            parcel.idle = less(parcel.idle, part)
            rest = less(rest, part)
            if not any(rest):
                break
    unit.books = found
    unit.pool = _pool(terms, unit)


def _place(terms: Terms, parcel: Parcel, leaf: int, pool: int, lenders: tuple[int, ...]) -> tuple[object, ...]:
    """Where a unit of a state is booked first: own, stated lenders, its pool, what is lent to it, then the rest.

    A unit stands within one part: of what its leaf owns only that counts as its own which may be in its pool.
    """
    order = booking_order(terms, parcel, leaf, pool)
    if parcel.owner == leaf and (pool == OWN or is_lent_to(parcel, pool)):
        return 0, order
    if parcel.owner in lenders:
        return 1, order
    if parcel.owner in {pool, PUBLIC if pool == OWN else pool}:
        return 2, order
    is_below = pool == PUBLIC or any(row == pool for row, _ in parcel.chain)
    return (3 if is_below else 4), order


def _pool(terms: Terms, unit: Unit) -> int:
    """The pool that a unit stands in: that where it was placed, as long as all of its parcels can be in there."""
    leaf = unit.asked.leaf
    if unit.books and all(parcel.owner == leaf for parcel in unit.books):
        return OWN
    if unit.pool == PUBLIC:
        return PUBLIC
    for row in terms.above[leaf][1:]:
        if unit.pool not in {OWN, row} and unit.pool in terms.above[row][1:]:
            continue  # not deeper than where it was
        if row == PUBLIC or all(row in terms.above[parcel.owner] for parcel in unit.books):
            return row
    return PUBLIC


def split_lenders(units: int, lenders: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    """The lenders of each of so many units, where a state has only their numbers: as few a unit as can be."""
    if not lenders:
        return [()] * units
    if units == 1:
        return [tuple([row for row, number in lenders if number])]
    left = dict(lenders)
    found: list[tuple[int, ...]] = []
    for at in range(units):
        rest = units - at
        mine = [row for row, number in left.items() if number >= rest]
        if not mine and sum(left.values()) >= rest and any(left.values()):
            mine = [next(row for row, number in left.items() if number)]
        for row in mine:
            left[row] -= 1
        found.append(tuple(mine))
    return found
