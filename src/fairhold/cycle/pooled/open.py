"""Books of vectors from a plan and a state, and back (SPEC §6, §11)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.pool_terms import terms_of
from fairhold.ledger.pools import OWN, PUBLIC, Asked, Machine, Notice, Parcel, PoolBooks, Unit, remove
from fairhold.model.state import Allocation, HeldUnits
from fairhold.model.state import Notice as NoticeNoun
from fairhold.model.vector import Owning
from fairhold.model.vector import Parcel as ParcelNoun
from fairhold.rules.pools.booking import book_units, split_lenders
from fairhold.rules.pools.owners import Before, adjust
from fairhold.rules.pools.sweeps import stands_on_reserved

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Terms
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State
    from fairhold.rules.pools.ways import Ways

POLICY = "multidimensional"


def entries_of(plan: Plan) -> list[PolicyEntry]:
    """Entries that share vectors."""
    return [entry for entry in plan.policies if entry.policy == POLICY]


def open_pools(plan: Plan, entry: PolicyEntry, state: State) -> PoolBooks:
    """The books of one entry at the instant of a state, ownership adjusted, every unit booked."""
    terms = terms_of(plan, entry)
    books = _books(plan, entry, terms, state)
    lenders = _units(plan, books, state)
    before = _before(books, state, lenders)
    adjust(books, before, tuple(resource.step for resource in plan.resources))
    for host in books.hosts:
        book_units(books, host, lenders)
    _notices(books, state)
    _keeps(books, state)
    return books


def _books(plan: Plan, entry: PolicyEntry, terms: Terms, state: State) -> PoolBooks:
    hosts: list[Machine] = []
    for name in entry.resource_groups:
        for host in plan.resource_groups[name].hosts:
            if host.name not in state.hosts_down:
                total = tuple(
                    int(amount * resource.overcommit)
                    for amount, resource in zip(host.amounts, plan.resources, strict=True)
                )
                hosts.append(Machine(host.name, name, len(hosts), host.amounts, total))
    asked: dict[str, Asked] = {}
    by_leaf: dict[int, list[Asked]] = {leaf: [] for leaf in terms.leaves}
    for request in state.requests:
        if request.unit:
            found = asked[request.id] = Asked(request, len(asked))
            by_leaf[request.consumer].append(found)
    return PoolBooks(terms, hosts, asked, by_leaf, {host.name: host for host in hosts}, state.now)


def _units(plan: Plan, books: PoolBooks, state: State) -> dict[Unit, tuple[int, ...]]:
    """Units of the state where they stand; unit → the lenders that the state names."""
    lenders: dict[Unit, tuple[int, ...]] = {}
    for allocation in state.allocations:
        asked, host = books.asked.get(allocation.request), books.host_of.get(allocation.host)
        if asked is None:
            continue
        if host is None:
            asked.away += allocation.units
            continue
        pool = OWN if allocation.pool == "own" else plan.tree.rows.get(allocation.pool, PUBLIC)
        for rows in split_lenders(allocation.units, dict(allocation.lenders)):
            unit = Unit(asked, host, allocation.started, books.next_serial(), pool)
            asked.units[unit] = None
            host.units[unit] = None
            lenders[unit] = rows
    return lenders


def _notices(books: PoolBooks, state: State) -> None:
    """Notices of the state on units of their holder: on what they were given for, then the latest started first."""
    for noun in state.notices:
        asked = books.asked.get(noun.request)
        if asked is None:
            continue
        taker = books.asked.get(noun.taker_request)
        free = [unit for unit in asked.units if unit.host.name == noun.host and unit.notice is None]
        fitting = {unit: _is_for(books, unit, taker) for unit in free}
        free.sort(key=lambda unit: (-unit.started, -unit.serial))
        free.sort(key=fitting.__getitem__, reverse=True)
        for unit in free[: noun.units]:
            unit.notice = Notice(taker, noun.deadline, noun.reason, books.next_serial(), is_new=False)


def _is_for(books: PoolBooks, unit: Unit, taker: Asked | None) -> bool:
    """Whether a unit stands on what its notice can be for: the taker's own, or what is reserved for others."""
    if taker is None:
        return stands_on_reserved(books, unit)
    return any(parcel.owner == taker.leaf for parcel in unit.books)


def _before(books: PoolBooks, state: State, lenders: dict[Unit, tuple[int, ...]]) -> Before:
    """What was owned before, and where units stood on it."""
    before = Before()
    for noun in state.ownership or ():
        host = books.host_of.get(noun.host)
        if host is None:
            continue
        chain = tuple((row, Owning(host.group)) for row in books.terms.above[noun.consumer][:-1])
        parcel = Parcel(host, noun.consumer, chain, noun.amounts)
        host.parcels.append(parcel)
        owned = before.owned.setdefault(host, {})
        for row, _ in chain:
            owned[row] = add(owned[row], noun.amounts) if row in owned else noun.amounts
    for host in before.owned:
        left = host.total
        for parcel in host.parcels:
            left = less(left, common(left, parcel.amounts))
        host.parcels.append(Parcel(host, PUBLIC, (), left))
        pools = {unit: unit.pool for unit in host.units}
        book_units(books, host, lenders)
        for unit in host.units:
            before.busy.update((row, host) for parcel in unit.books for row, _ in parcel.chain)
            unit.pool = pools[unit]
    return before


def _keeps(books: PoolBooks, state: State) -> None:
    """For whom space is held, as the cycle before has left it."""
    for noun in state.held:
        asked, host = books.asked.get(noun.request), books.host_of.get(noun.host)
        if asked is not None and host is not None:
            books.keeps[asked, host] = books.keeps.get((asked, host), 0) + noun.units


def settle_pools(books: PoolBooks, state: State) -> list[tuple[str, str, int]]:
    """Units whose grace has run out are stopped; what they free is held for their taker: (request, host, units)."""
    if state.previous_cycle is not None and state.previous_cycle >= state.now:
        return []
    found: dict[tuple[str, str], int] = defaultdict(int)
    for unit in [unit for unit in books.units() if unit.notice is not None and unit.notice.deadline <= state.now]:
        taker = unit.notice.taker if unit.notice else None
        found[unit.asked.model.id, unit.host.name] += 1
        remove(unit)
        if taker is not None:
            books.keeps.setdefault((taker, unit.host), taker.model.count)
    return [(request, host, units) for (request, host), units in found.items()]


def reserved_against(books: PoolBooks) -> list[Unit]:
    """Units that stand on what is reserved for others now (SPEC §6.7.4)."""
    return [unit for unit in books.units() if unit.notice is None and stands_on_reserved(books, unit)]


def parcels_of(plan: Plan, books: PoolBooks) -> tuple[ParcelNoun, ...]:
    """What consumers own now, by consumer in path order, then in inventory order."""
    found: dict[tuple[int, int], Vector] = {}
    for host in books.hosts:
        for parcel in host.parcels:
            if parcel.owner != PUBLIC:
                key = parcel.owner, host.place
                plain = _plain(plan, host, parcel.amounts)
                found[key] = add(found[key], plain) if key in found else plain
    order = sorted(found, key=lambda key: (books.terms.position[key[0]], key[1]))
    return tuple(ParcelNoun(books.hosts[place].name, owner, found[owner, place]) for owner, place in order)


def _plain(plan: Plan, host: Machine, amounts: Vector) -> Vector:
    """Amounts of a parcel without overcommitment."""
    if host.plain == host.total:
        return amounts
    del plan
    return tuple(
        -(-amount * plain // all_) if all_ else 0
        for amount, plain, all_ in zip(amounts, host.plain, host.total, strict=True)
    )


def allocations_of(plan: Plan, books: PoolBooks) -> tuple[Allocation, ...]:
    """What requests hold: units of one start, host and pool together."""
    found: dict[tuple[str, str, int, int], list[Unit]] = {}
    for asked in books.asked.values():
        for unit in asked.units:
            found.setdefault((asked.model.id, unit.host.name, unit.started, unit.pool), []).append(unit)
    rows = []
    for (request, host, started, pool), units in found.items():
        name = "own" if pool == OWN else plan.tree.paths[pool]
        rows.append(Allocation(request, host, len(units), started, name, lenders_of(books.terms, units)))
    return tuple(rows)


def lenders_of(terms: Terms, units: list[Unit]) -> tuple[tuple[int, int], ...]:
    """Lender → units that stand on what it owns, in path order."""
    found: dict[int, int] = {}
    for unit in units:
        for row in unit.lenders(terms):
            found[row] = found.get(row, 0) + 1
    return tuple(sorted(found.items(), key=lambda each: terms.position[each[0]]))


def notices_of(books: PoolBooks) -> tuple[NoticeNoun, ...]:
    """Units under notice, those of one holder, host, taker and deadline together, in the order given."""
    found: dict[tuple[str, str, str, int, str], int] = {}
    noticed = [unit for unit in books.units() if unit.notice is not None]
    for unit in sorted(noticed, key=lambda unit: unit.notice.serial if unit.notice else 0):
        notice = unit.notice
        assert notice is not None
        taker = notice.taker.model.id if notice.taker else ""
        key = unit.asked.model.id, unit.host.name, taker, notice.deadline, notice.reason
        found[key] = found.get(key, 0) + 1
    rows = []
    for (request, host, taker, deadline, reason), units in found.items():
        holder = books.asked[request].leaf
        leaf = books.asked[taker].leaf if taker else -1
        rows.append(NoticeNoun(holder, "", units, leaf, deadline, reason, request, host, taker))
    return tuple(rows)


def held_of(ways: Ways) -> tuple[HeldUnits, ...]:
    """Units for which space is held, freed or still under notice."""
    return tuple(
        HeldUnits(asked.model.id, host.name, way.units)
        for asked, hosts in ways.of.items()
        for host, way in hosts.items()
        if way.units
    )
