"""The parts of a state after a cycle of pools (SPEC §11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add
from fairhold.ledger.pools import OWN, PUBLIC, Unit
from fairhold.model.state import Allocation, HeldUnits
from fairhold.model.state import Notice as NoticeNoun
from fairhold.model.vector import OwnEntry
from fairhold.model.vector import Parcel as ParcelNoun
from fairhold.rules.pools.content import is_lent_to

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import Machine, PoolBooks
    from fairhold.model.plan import Plan
    from fairhold.model.state import Parts
    from fairhold.rules.pools.booking import Kind
    from fairhold.rules.pools.reservations import Reservations


def parcels_of(books: PoolBooks) -> tuple[ParcelNoun, ...]:
    """What consumers own now, by consumer in path order, then in inventory order."""
    if books.owned is not None:
        return books.owned
    found: dict[tuple[int, int], Vector] = {}
    for host in books.hosts if books.terms.own else ():
        for parcel in host.parcels:
            if parcel.owner != PUBLIC:
                key = parcel.owner, host.place
                plain = plain_of(host, parcel.amounts)
                found[key] = add(found[key], plain) if key in found else plain
    order = sorted(found, key=lambda key: (books.terms.position[key[0]], key[1]))
    return tuple(ParcelNoun(books.hosts[place].name, owner, found[owner, place]) for owner, place in order)


def own_entries_of(books: PoolBooks) -> tuple[OwnEntry, ...]:
    """Parcels by entry, where a consumer has several entries in a group; in the same order."""
    position = books.terms.position
    order = sorted(books.own_entries, key=lambda each: (position[each[1]], each[0].place, each[2]))
    return tuple(OwnEntry(host.name, row, at, amounts) for host, row, at, amounts in order)


def plain_of(host: Machine, amounts: Vector) -> Vector:
    """Amounts of a parcel without overcommitment."""
    if host.plain == host.total:
        return amounts
    return tuple(
        -(-amount * plain // all_) if all_ else 0
        for amount, plain, all_ in zip(amounts, host.plain, host.total, strict=True)
    )


def parts_of(unit: Unit) -> Parts:
    """The amounts that a unit uses of each owner's parcels, where pool and lenders do not determine them."""
    if len(unit.books) == 1 and (len(unit.host.parcels) == 1 or not _is_beside_own(unit)):  # the common case
        return ()
    parts: dict[int, Vector] = {}
    for parcel, part in unit.books.items():
        parts[parcel.owner] = add(parts[parcel.owner], part) if parcel.owner in parts else part
    return tuple(sorted(parts.items())) if len(parts) > 1 or _is_beside_own(unit) else ()


def _is_beside_own(unit: Unit) -> bool:
    """Whether a unit stands on what its pool's owner has, on a host of which its own leaf has some in the pool, too."""
    leaf, pool = unit.asked.leaf, unit.pool
    return all(parcel.owner == pool for parcel in unit.books) and any(
        parcel.owner == leaf and is_lent_to(parcel, pool) for parcel in unit.host.parcels
    )


def _kind_of(terms: Terms, unit: Unit) -> Kind:
    if not terms.own:  # nobody owns anything
        return unit.started, unit.pool, (), ()
    return unit.started, unit.pool, unit.lenders(terms), parts_of(unit)


def _kind_noun(plan: Plan, kind: Kind, units: int) -> tuple[int, str, tuple[tuple[int, int], ...], Parts]:
    started, pool, lenders, parts = kind
    name = "own" if pool == OWN else plan.tree.paths[pool]
    return started, name, tuple([(row, units) for row in sorted(lenders)]) if lenders else (), parts


def allocations_of(plan: Plan, books: PoolBooks) -> tuple[Allocation, ...]:
    """Allocations of requests: units on one host that started together, in one pool and on the same parcels."""
    rows: list[Allocation] = []
    terms = books.terms
    for asked in books.asked.values():
        found: dict[tuple[Machine, Kind], list[Unit]] = {}
        last: Unit | None = None
        line: list[Unit] = []
        for unit in asked.units:
            if last is None or not _is_beside(last, unit):
                line = found.setdefault((unit.host, _kind_of(terms, unit)), [])
                last = unit
            line.append(unit)
        rows += [_allocation(plan, *key, units) for key, units in found.items()]
    return tuple(rows)


def _is_beside(one: Unit, other: Unit) -> bool:
    """Whether units of a request are seen to be of one host and kind."""
    if one.host is not other.host or one.books is not other.books:
        return False
    return one.pool == other.pool and one.started == other.started


def _allocation(plan: Plan, host: Machine, kind: Kind, units: list[Unit]) -> Allocation:
    """Units that are alike as the state says it; where it said just that before, its own words."""
    said, number = units[0].said, len(units)
    started, pool, lenders, parts = _kind_noun(plan, kind, number)
    if said is not None:
        of_said = said.units, said.pool, said.lenders, said.parts, said.attempt
        if of_said == (number, pool, lenders, parts, 0):
            return said
    return Allocation(units[0].asked.model.id, host.name, number, started, pool, lenders, parts)


def lenders_of(terms: Terms, units: list[Unit]) -> tuple[tuple[int, int], ...]:
    """Lender → units that stand on what it owns, in path order."""
    if len(units) == 1:  # the common case
        lenders = units[0].lenders(terms)
        return tuple([(row, 1) for row in lenders]) if lenders else ()
    found: dict[int, int] = {}
    for unit in units:
        for row in unit.lenders(terms):
            found[row] = found.get(row, 0) + 1
    return tuple(sorted(found.items(), key=lambda each: terms.position[each[0]]))


def notices_of(plan: Plan, books: PoolBooks) -> tuple[NoticeNoun, ...]:
    """Units under notice, those of one holder, host, taker and deadline together, in the order given.

    What tells units of one holder on one host from one another is said where they are not all alike.
    """
    noticed = [(unit.notice.serial, unit, unit.notice) for unit in books.units() if unit.notice is not None]
    found: dict[tuple[str, str, str, int, str, Kind], int] = {}
    for _, unit, notice in sorted(noticed, key=lambda each: each[0]):
        taker = notice.taker.model.id if notice.taker else ""
        about = unit.asked.model.id, unit.host.name, taker, notice.deadline, notice.reason
        key = *about, _kind_of(books.terms, unit)
        found[key] = found.get(key, 0) + 1
    kinds: dict[tuple[str, str], set[Kind]] = {}
    for asked in {unit.asked: None for _, unit, _ in noticed}:
        for unit in asked.units:
            kinds.setdefault((asked.model.id, unit.host.name), set()).add(_kind_of(books.terms, unit))
    rows = []
    for (request, host, taker, deadline, reason, kind), units in found.items():
        leaf = books.asked[taker].leaf if taker else -1
        noun = NoticeNoun(books.asked[request].leaf, "", units, leaf, deadline, reason, request, host, taker)
        if len(kinds[request, host]) > 1:
            started, pool, lenders, parts = _kind_noun(plan, kind, units)
            noun = replace(noun, started=started, pool=pool, lenders=lenders, parts=parts)
        rows.append(noun)
    return tuple(rows)


def held_of(reservations: Reservations) -> tuple[HeldUnits, ...]:
    """Units for which space is held, freed or still under notice."""
    return tuple(
        HeldUnits(asked.model.id, host.name, reservation.units)
        for asked, hosts in reservations.of.items()
        for host, reservation in hosts.items()
        if reservation.units
    )
