"""Books of vectors from a plan and a state, and back (SPEC §6, §11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.close import parcels_of
from fairhold.cycle.pooled.owned_before import see_before
from fairhold.kernels.vectors import add, times
from fairhold.ledger.free_hosts import FreeHosts
from fairhold.ledger.pool_terms import terms_of
from fairhold.ledger.pools import OWN, PUBLIC, Machine, Notice, Parcel, PendingRequest, PoolBooks, Unit, remove
from fairhold.model.adjusted import Adjusted, print_of
from fairhold.model.siting import label_set
from fairhold.model.vector import steps_of
from fairhold.rules.pools.booking import Kind, KnownPools, book_units, split_lenders
from fairhold.rules.pools.infeasible import GangRooms, find_never
from fairhold.rules.pools.owners import Before, adjust
from fairhold.rules.pools.restraint import is_young
from fairhold.rules.pools.siting import will_do
from fairhold.rules.pools.users import share_rooms
from fairhold.rules.pools.victims import giving_order
from fairhold.rules.pools.withdrawing import stands_on_reserved

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.queued.queue_ledger import QueueLedger
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.unmet import Unmet
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Allocation, State
    from fairhold.model.vector import OwnEntry
    from fairhold.model.vector import Parcel as ParcelNoun

Stop = tuple[str, str, int]
"""(request, host, units) that are stopped."""


def entries_of(plan: Plan) -> list[PolicyEntry]:
    """Entries that share vectors."""
    return [entry for entry in plan.policies if entry.policy.shares_vectors]


def open_pools(plan: Plan, entry: PolicyEntry, state: State) -> PoolBooks:
    """The books of one entry at the instant of a state as it is, ownership adjusted, every unit booked."""
    opened = open_anew(plan, entry, state)
    stand(plan, entry, opened, state)
    return opened.books


def open_settled(plan: Plan, entry: PolicyEntry, state: State) -> tuple[Opening, list[Stop]]:
    """The same after units with an expired grace are stopped; what they free is held for their takers."""
    opened = open_anew(plan, entry, state)
    stops: list[Stop] = []
    if not state.is_settled and (state.previous_cycle is None or state.previous_cycle < state.now):
        due = tuple(noun for noun in state.notices if noun.deadline <= state.now)
        stops = _settle(plan, opened, replace(state, notices=due)) if due else []
        state = replace(state, notices=tuple(noun for noun in state.notices if noun.deadline > state.now))
    stand(plan, entry, opened, state)
    return opened, stops


def _settle(plan: Plan, opened: Opening, state: State) -> list[Stop]:
    """Stop the units of all notices, as they stood before (R-SETTLE-1)."""
    books = opened.books
    see_before(opened, state, {})
    _notices(plan, books, state, opened.stated)
    found: dict[tuple[str, str], int] = {}
    for unit in [unit for unit in books.units() if unit.notice is not None]:
        taker = unit.notice.taker if unit.notice else None
        place = unit.asked.model.id, unit.host.name
        found[place] = found.get(place, 0) + 1
        remove(unit)
        books.wanting[unit.asked] = None
        if taker is not None and not unit.host.is_closed:
            books.keeps[taker, unit.host] = None
    for host in books.hosts:
        host.parcels, host.taken = [], None
    return [(request, host, units) for (request, host), units in found.items()]


def stand(
    plan: Plan, entry: PolicyEntry, opened: Opening, state: State, dirty: dict[Machine, None] | None = None
) -> None:
    """Find the owners of all parcels, and book all units on them.

    dirty : hosts to do again, None = all; the others keep their bookings as long as their parcels have the same
            owners and amounts
    """
    books, stated = opened.books, opened.stated
    if dirty is not None and opened.rests and state.ownership is opened.ownership:
        _stand_again(opened, dirty)
    else:
        _stand_anew(plan, entry, opened, state, dirty)
    if not books.terms.own:
        if opened.free is None:
            opened.free = FreeHosts(books.hosts, books.terms.dimensions)
        else:
            opened.free.renew(books.opened)
        books.free = opened.free
    books.told = _notices(plan, books, state, stated)
    _keeps(books, state)
    opened.gang_rooms = find_never(books, opened.gang_rooms)
    share_rooms(books)


def _stand_again(opened: Opening, dirty: dict[Machine, None]) -> None:
    """Keep the owners as they were, because every consumer owned exactly what it asks for (`is_exact`)."""
    books = opened.books
    books.hosts_of, books.unmet = opened.hosts_of, opened.unmet
    books.owned = opened.ownership if books.terms.own else ()
    opened.unseen.update(dirty)
    for host in dirty:
        host.parcels = [Parcel(host, each.owner, each.chain, each.amounts) for each in host.parcels]
        for parcel in host.parcels:
            parcel.level = parcel.owner
        _book(opened, host)


def _stand_anew(
    plan: Plan, entry: PolicyEntry, opened: Opening, state: State, dirty: dict[Machine, None] | None
) -> None:
    """Find the owners of parcels; book units again on hosts whose parcels changed, and on dirty ones."""
    books = opened.books
    stood = {} if dirty is None else {host: host.parcels for host in books.hosts}
    if dirty is None:
        dirty = dict.fromkeys(books.hosts)
    dirty.update(opened.unseen)
    opened.unseen, opened.gang_rooms = {}, None
    keeps = False
    if interval := entry.settings.rebalance_interval:
        now = Adjusted(state.now, print_of(plan, entry, entry.resource_groups, state.hosts_down))
        last = {state.adjusted.get(group) for group in entry.resource_groups}
        keeps = state.ownership is not None and all(
            each is not None and each.of == now.of and each.at + interval > now.at for each in last
        )
        books.adjusted = min((each for each in last if each), key=lambda each: each.at) if keeps else now
    if books.terms.own:
        see_before(opened, state, dirty)
    else:  # what the state says is nobody's by now
        opened.ownership = state.ownership
    adjust(books, opened.before, steps_of(plan.resources), keeps=keeps)
    for host in books.hosts:
        was = stood.get(host) if host not in dirty else None
        if was is not None and _are_alike(was, host.parcels):
            host.parcels = was
        else:
            _book(opened, host)
    opened.hosts_of, opened.unmet = books.hosts_of, books.unmet
    opened.rests = not interval and books.owns_exactly and (not books.terms.own or parcels_of(books) == state.ownership)


def _book(opened: Opening, host: Machine) -> None:
    """Book the units of a host on its parcels."""
    for unit in host.units:
        unit.pool = opened.stated[unit][1]
    book_units(opened.books, host, opened.stated, opened.pools)
    opened.books.opened.append(host)


def _books(plan: Plan, entry: PolicyEntry, terms: Terms, state: State) -> PoolBooks:
    hosts: list[Machine] = []
    down: list[Machine] = []
    for name, group, plain, total, labels in _inventory(plan, entry.resource_groups):
        into = down if name in state.hosts_down else hosts
        host = Machine(name, group, len(into), plain, total)
        host.is_closed = name in state.hosts_closed
        host.labels = labels if state.labels is None else state.labels.get(name, frozenset())
        into.append(host)
    asked: dict[str, PendingRequest] = {}
    by_leaf: dict[int, list[PendingRequest]] = {leaf: [] for leaf in terms.leaves}
    for request in state.requests:
        if request.unit:
            found = asked[request.id] = PendingRequest(request, len(asked))
            by_leaf[request.consumer].append(found)
    here = {host.name: host for host in hosts}
    books = PoolBooks(terms, hosts, asked, by_leaf, here, state.now, hosts_down=down)
    for host in hosts:
        host.holding = books.holding
    return books


Stocked = tuple[str, str, "Vector", "Vector", frozenset[str]]
"""A host: its name and group, what it has, the same with overcommitment, and its labels by the plan."""


def _inventory(plan: Plan, groups: tuple[str, ...]) -> list[Stocked]:
    """The hosts of some groups, worked out once for a plan."""
    found: list[Stocked] | None = plan.known.get(("inventory", groups))
    if found is None:
        found = plan.known["inventory", groups] = []
        totals: dict[Vector, Vector] = {}
        over = [resource.overcommit for resource in plan.resources]
        for name in groups:
            for host in plan.resource_groups[name].hosts:
                if host.amounts not in totals:
                    pairs = zip(host.amounts, over, strict=True)
                    totals[host.amounts] = tuple(int(amount * each) for amount, each in pairs)
                found.append((host.name, name, host.amounts, totals[host.amounts], label_set(host.labels)))
    return found


class Opening:
    """Books that are being opened, with what else is known of them.

    state  : the state that they are opened from
    stated : unit → what the state says of it; units: attempt → the unit of it
    before : what was owned before, and where units stood on it
    nouns  : host → what the state says that is owned of it, as of `before`; ownership, own_entries: all of that
    pools  : what is known of pools; it follows from the terms alone
    free   : where there is room, as long as nobody owns anything; gang_rooms: where gangs could start, were all empty
    queues : under `fair_share`, what queues ask for and hold; uncounted: requests that are to be counted there again
    rests  : whether the same is owned again as long as the state says so; hosts_of, unmet: of the books then
    unseen : hosts where the bookings of units may differ from `before`
    """

    def __init__(self, plan: Plan, entry: PolicyEntry, state: State, books: PoolBooks) -> None:
        self.plan, self.entry, self.state, self.books = plan, entry, state, books
        self.stated: dict[Unit, Kind] = {}
        self.units: dict[int, Unit] = {}
        self.before = Before()
        self.nouns: dict[str, list[ParcelNoun]] = {}
        self.ownership: tuple[ParcelNoun, ...] | None = None
        self.own_entries: tuple[OwnEntry, ...] = ()
        self.pools: KnownPools = {}
        self.free: FreeHosts | None = None
        self.gang_rooms: GangRooms | None = None
        self.queues: QueueLedger | None = None
        self.uncounted: dict[PendingRequest, None] = {}
        self.rests = False
        self.hosts_of: dict[int, list[Machine]] = {}
        self.unmet: list[Unmet] = []
        self.unseen: dict[Machine, None] = {}
        self.count_again(books.asked.values())

    def count_again(self, requests: Iterable[PendingRequest]) -> None:
        """Queues have to count some requests again; without queues there is nothing to count."""
        if self.entry.policy.has_queues:
            self.uncounted.update(dict.fromkeys(requests))


def open_anew(plan: Plan, entry: PolicyEntry, state: State) -> Opening:
    """The hosts, requests and units of a state; units are not yet booked on parcels."""
    opened = Opening(plan, entry, state, _books(plan, entry, terms_of(plan, entry), state))
    books = opened.books
    opened.stated = _units(plan, books, state)
    books.wanting = {asked: None for asked in books.asked.values() if asked.count > asked.held}
    opened.units = {unit.attempt: unit for unit in opened.stated}
    return opened


def _are_alike(some: list[Parcel], others: list[Parcel]) -> bool:
    """Whether a host is divided in the same way."""
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(a.owner == b.owner and a.amounts == b.amounts and a.chain == b.chain for a, b in pairs)


def kind_of(plan: Plan, said: Allocation) -> Kind:
    """What the state says of one unit."""
    return said.started, _pool_row(plan, said.pool), tuple([row for row, number in said.lenders if number]), said.parts


def _units(plan: Plan, books: PoolBooks, state: State) -> dict[Unit, Kind]:
    """Units of the state where they stand; unit → what the state says of it."""
    stated: dict[Unit, Kind] = {}
    pools: dict[str, int] = {}
    alike: dict[Kind, Kind] = {}
    splits: dict[tuple[int, tuple[tuple[int, int], ...]], list[tuple[int, ...]]] = {}
    serial = books.serial
    for said in state.allocations:
        asked, host = books.asked.get(said.request), books.host_of.get(said.host)
        if asked is None:
            continue
        pool = pools.get(said.pool)
        if pool is None:
            pool = pools[said.pool] = _pool_row(plan, said.pool)
        if host is None:
            _hold_away(books, asked, said, pool)
            continue
        started, units = said.started, said.units
        split = splits.get((units, said.lenders))
        if split is None:
            split = splits[units, said.lenders] = split_lenders(units, said.lenders)
        for lenders in split:
            kind: Kind = started, pool, lenders, said.parts
            serial += 1
            unit = Unit(asked, host, started, serial, pool)
            unit.said = said
            asked.units[unit] = host.units[unit] = None
            stated[unit] = alike.setdefault(kind, kind)
    books.serial = serial
    return stated


def _hold_away(books: PoolBooks, asked: PendingRequest, said: Allocation, pool: int) -> None:
    """Units on a host that is down count in the pool where they were placed, and that has of the host what they use."""
    if pool != OWN and pool not in books.terms.above[asked.leaf][1:]:
        pool = PUBLIC
    asked.holds_away(pool, said.units)
    there = books.away.setdefault(pool, {})
    amounts = times(asked.unit, said.units)
    there[said.host] = add(there[said.host], amounts) if said.host in there else amounts


def _pool_row(plan: Plan, name: str) -> int:
    return OWN if name == "own" else plan.tree.rows.get(name, PUBLIC)


def _notices(plan: Plan, books: PoolBooks, state: State, stated: dict[Unit, Kind]) -> list[Unit]:
    """Notices of the state on units of their holder: on those that they name, else on what they were given for.

    Of these those that have run long enough (R-CONTROL-5), in the order of `victims`. Which units they are on.
    """
    told: list[Unit] = []
    for noun in state.notices:
        asked = books.asked.get(noun.request)
        if asked is None:
            continue
        taker = books.asked.get(noun.taker_request)
        free = [unit for unit in asked.units if unit.host.name == noun.host and unit.notice is None]
        if noun.attempt:
            free = [unit for unit in free if unit.attempt == noun.attempt]
        kind = noun.started, _pool_row(plan, noun.pool), tuple(row for row, _ in noun.lenders), noun.parts
        fitting = {unit: _is_for(books, unit, taker) for unit in free}
        free.sort(key=lambda unit: (is_young(books, unit), giving_order(books.terms, unit, breaks=False)))
        free.sort(key=fitting.__getitem__, reverse=True)
        free.sort(key=lambda unit: stated[unit] == kind, reverse=True)
        for unit in free[: noun.units]:
            unit.notice = Notice(taker, noun.deadline, noun.reason, books.next_serial(), is_new=False)
            told.append(unit)
    return told


def _is_for(books: PoolBooks, unit: Unit, taker: PendingRequest | None) -> bool:
    """Whether a unit stands on what its notice can be for: the taker's own, or what is reserved for others."""
    if taker is None:
        return stands_on_reserved(books, unit)
    return any(parcel.owner == taker.leaf for parcel in unit.books)


def _keeps(books: PoolBooks, state: State) -> None:
    """For whom space is held, in the order in which the cycle before left it; then for whom units have gone since."""
    for request, name in state.freed:
        asked, host = books.asked.get(request), books.host_of.get(name)
        if asked is not None and host is not None and not host.is_closed:
            books.keeps[asked, host] = None
    said: dict[tuple[PendingRequest, Machine], int] = {}
    for noun in state.held:
        asked, host = books.asked.get(noun.request), books.host_of.get(noun.host)
        if asked is not None and host is not None and not host.is_closed and will_do(asked, host):
            said[asked, host] = said.get((asked, host), 0) + noun.units
    books.keeps = said | {place: None for place in books.keeps if place not in said}
