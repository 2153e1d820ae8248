"""Reclaim at each level: by owners, by private pools, and by consumers below their quota (R-TAKE-1, R-TAKE-2)."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.rules.pools.content import entries_of, is_lent_to, is_within, may_use, within
from fairhold.rules.pools.picking import Source
from fairhold.rules.pools.pool_usage import Standing
from fairhold.rules.pools.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, Unit
    from fairhold.model.vector import Owning
    from fairhold.rules.pools.taking import Taker

_order = attrgetter("order")


def take_own(taker: Taker, leaf: int, preference: int | None = None) -> None:
    """An owner with demand again reclaims its parcels, best preference first (R-TAKE-2)."""
    open_ = [asked for asked in taker.books.by_leaf[leaf] if asked.count > len(asked.units)]
    line = sorted((asked for asked in open_ if taker.wants(asked)), key=_order)
    if not line:
        return
    hosts = taker.books.hosts_in(leaf)
    stated = {parcel.preference for host in hosts for parcel in host.parcels if parcel.owner == leaf}
    for each in sorted(stated) if preference is None else [preference]:

        def mine(host: Machine, at: int = each) -> list[Parcel]:
            return [parcel for parcel in host.parcels if parcel.owner == leaf and parcel.preference == at]

        source = Source(OWN, mine, lambda _parcel: True, lambda unit: unit.pool != OWN)
        tried: set[object] = set()
        for asked in line:
            alike = _alike(taker, asked)
            if (alike is not None and alike in tried) or not taker.wants(asked):
                continue
            while taker.take(asked, source, hosts):
                tried.clear()
                taker.books.backlog.serves_line(leaf)
            tried.add(_alike(taker, asked))  # of who took something, its last try says nothing of others


def take_lent_back(taker: Taker, pool: int, of: Callable[[Owning], bool]) -> None:
    """A private pool reclaims what it lent up, best preference of its owner first (R-TAKE-2).

    With several preferences, units that need parcels of more than one of them come last.

    of : whether what is owned by an entry of the pool's owner is taken back now
    """
    stated = {entry.preference or DEFAULT_PREFERENCE for entry in entries_of(taker.books, pool) if of(entry)}
    for each in sorted(stated) if len(stated) > 1 else ():

        def is_of(entry: Owning, at: int = each) -> bool:
            return of(entry) and (entry.preference or DEFAULT_PREFERENCE) == at

        _take_lent_back(taker, pool, is_of)
    _take_lent_back(taker, pool, of)


def _take_lent_back(taker: Taker, pool: int, of: Callable[[Owning], bool]) -> None:
    """What the owner of a pool has by some entries, for its leaves in the order of the assignment loop."""
    books, terms = taker.books, taker.books.terms
    outside = set(terms.above[pool]) - {pool}
    hosts = [host for host in books.hosts_in(pool) if any(_is_of(parcel, pool, of) for parcel in host.parcels)]
    if not any(unit.pool in outside for host in hosts for unit in host.units):
        return

    def source(leaf: int) -> Source:
        def parcels(host: Machine) -> list[Parcel]:
            return [
                parcel
                for parcel in host.parcels
                if _is_of(parcel, pool, of) and is_lent_to(parcel, pool) and may_use(terms, parcel, leaf, pool)
            ]

        def gives(unit: Unit) -> bool:
            return unit.pool in outside and pool not in terms.above[unit.asked.leaf]

        return Source(pool, parcels, lambda _parcel: True, gives)

    def renewed() -> Standing:
        order.renew(lambda asked: taker.reservations.units_in(asked, pool))
        return order

    order = Standing(books, pool, with_lent=True)
    _in_turns(taker, pool, source, hosts, renewed)


def _is_of(parcel: Parcel, pool: int, of: Callable[[Owning], bool]) -> bool:
    return any(row == pool and of(entry) for row, entry in parcel.chain)


def divided(taker: Taker, pool: int) -> Standing:
    """The usages of a pool after all moves, with demands and quotas of its consumers."""
    standing = taker.standing(pool)
    reservations, members = taker.reservations, standing.members
    waits = {a: max(0, a.waiting - reservations.units(a)) for a in members if a.count > len(a.units)}
    for asked in reservations.of:
        if asked in standing.size:
            waits[asked] = waits.get(asked, 0) + reservations.units_in(asked, pool)
    standing.divide(waits)
    return standing


def compare(taker: Taker, pool: int) -> None:
    """Consumers below their quota in a pool reclaim from consumers above theirs (R-TAKE-1)."""
    books, terms = taker.books, taker.books.terms
    standing = divided(taker, pool)
    public_grace = within(terms.settings.public_pool_grace)

    def source(leaf: int) -> Source:
        is_in_time = terms.grace[leaf] <= public_grace
        known: dict[Machine, list[Parcel]] = {}  # they stay the same until somebody takes

        def parcels(host: Machine) -> list[Parcel]:
            if host.is_plain:  # the common case
                return host.parcels if is_in_time and pool == PUBLIC else []
            found = known.get(host)
            if found is None:
                found = known[host] = [
                    parcel for parcel in host.parcels if is_lent_to(parcel, pool) and may_use(terms, parcel, leaf, pool)
                ]
            return found

        def is_idle(parcel: Parcel) -> bool:
            return is_within(terms, parcel, pool)

        return Source(pool, parcels, is_idle, lambda unit: unit.pool == pool, is_compared=True)

    _in_turns(taker, pool, source, books.hosts, lambda: standing)


def _in_turns(
    taker: Taker,
    pool: int,
    source: Callable[[int], Source],
    hosts: list[Machine],
    used: Callable[[], Standing],
) -> None:
    """Waiting leaves reclaim in the order of the assignment loop, by usages after all moves; each reclaim restarts it.

    used : the present usages of the pool
    """
    standing, hosts = used(), [host for host in hosts if not host.is_closed]
    is_done = False
    while not is_done:
        is_done = True
        lines: dict[int, list[PendingRequest]] = {}
        for asked in standing.members:
            if asked.count > len(asked.units) and taker.wants(asked) and standing.size[asked]:
                lines.setdefault(asked.leaf, []).append(asked)
        if not lines:
            return
        turns = Turns(taker.books.terms, pool, lines, used().moved)
        while (leaf := turns.next()) is not None:
            place, line = source(leaf), lines[leaf]
            line.sort(key=_order)
            if _take_one(taker, line, place, hosts):
                is_done = False
                break
            turns.drop(leaf)


def _take_one(taker: Taker, line: list[PendingRequest], source: Source, hosts: list[Machine]) -> bool:
    """Reclaim for the first request of a leaf for which it succeeds; after a failure, equal requests are not tried."""
    tried: set[object] = set()
    for asked in line:
        alike = _alike(taker, asked)
        if alike is not None and alike in tried:
            continue
        if taker.take(asked, source, hosts):
            return True
        tried.add(alike)
    return False


def _alike(taker: Taker, asked: PendingRequest) -> object | None:
    """What it shares with others of its leaf that get nothing where it did; None = it is like no other.

    Gangs that hold nothing are alike where they miss as much, and like nobody else: a gang may begin on what is idle.
    """
    if asked.siting is not None or asked in taker.reservations.of or (asked.min_count and asked.units):
        return None
    return asked.unit, taker.wants(asked) if asked.min_count else 0
