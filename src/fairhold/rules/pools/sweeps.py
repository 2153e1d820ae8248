"""The two sweeps of a cycle: idle resource first, reclaim for what still waits (SPEC §6.2, R-SWEEP-1, R-SWEEP-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN, PUBLIC, within
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.rules.pools.assigning import fill_own, fill_pool
from fairhold.rules.pools.content import is_lent_to, lend_up, may_use
from fairhold.rules.pools.limits import Limits
from fairhold.rules.pools.picking import Source
from fairhold.rules.pools.restraint import is_young
from fairhold.rules.pools.standing import Standing
from fairhold.rules.pools.taking import Taker
from fairhold.rules.pools.turns import Turns
from fairhold.rules.pools.unplacing import forget_unplaced, placed_now, unplace
from fairhold.rules.pools.victims import breaks_gang, bundle_of, giving_key, giving_order
from fairhold.rules.pools.ways import Ways, limits_as_moved
from fairhold.rules.pools.withdrawing import all_on_reserved, may_stay, withdraw, withdraw_nobodys

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, Machine, Parcel, PoolBooks, Unit
    from fairhold.model.vector import Owning


MOST_ROUNDS = 20
"""Times that a cycle goes through its sweeps at most; a few are enough, so that this is a bound for what nobody saw."""


@dataclass(slots=True)
class Sweeps:
    """What a cycle of one policy entry decides.

    pools     : rows with a private pool, in the order in which they are looked at
    placed    : units in the order of placing
    noticed   : units newly told to go; withdrawn: units whose notices are withdrawn
    standings : pool → how it is used, as for reclaim
    ways      : what is on its way to whom
    """

    books: PoolBooks
    ways: Ways
    pools: list[int]
    placed: list[Unit] = field(default_factory=list)
    noticed: list[Unit] = field(default_factory=list)
    withdrawn: list[Unit] = field(default_factory=list)
    standings: dict[int, Standing] = field(default_factory=dict)


def private_pools(books: PoolBooks) -> list[int]:
    """Rows with a private pool, the deepest first, then in plan order (S2.8)."""
    terms = books.terms
    rows = {*books.hosts_of}
    if len(terms.tree.children[PUBLIC]) < len(terms.above) - 1:  # there is more than one level
        rows |= {unit.pool for unit in books.units() if unit.pool > PUBLIC}
    return sorted((row for row in rows if terms.tree.children[row]), key=lambda row: (-len(terms.above[row]), row))


def run_sweeps(books: PoolBooks) -> Sweeps:
    """Both sweeps on books, which are changed."""
    ways = Ways(books, lambda units: may_stay(books, ways, units))
    ways.read()
    found = Sweeps(books, ways, private_pools(books))
    limits = Limits(books, books.units())
    early = _Early(books, ways, found, limits)
    for _ in range(MOST_ROUNDS):
        limits.expect(ways.shared())
        for _ in range(MOST_ROUNDS):
            if not _fill(found, limits, early):
                break
        ways.fill_again(limits_as_moved(books, ways))
        taker = Taker(books, ways, found.noticed)
        found.standings = taker.standings
        for unit in all_on_reserved(books):
            _give_up(taker, unit)  # SPEC §6.7.4
        keep_limits(taker)
        withdraw_nobodys(found, taker)
        _take_back(taker, found)
        is_needless = withdraw_nobodys(found, taker)
        is_unplaced = forget_unplaced(found.placed, limits)
        is_at_rest = not any(withdraw(found)) and not is_needless and not is_unplaced
        is_at_rest = not ways.hold_again() and is_at_rest
        is_at_rest = not ways.fill_again(limits_as_moved(books, ways)) and is_at_rest
        if is_at_rest:
            break
    return found


def _fill(found: Sweeps, limits: Limits, early: _Early) -> bool:
    """The first sweep: what is idle goes out, level by level, and notices that nobody needs now are withdrawn.

    Whether it has to be gone through again: something that was held is idle, or a gang that has its minimum now, or
    what is taken back early, may use what did not do before.
    """
    books, before = found.books, len(found.placed)
    early.forget()
    for host in books.hosts:
        for parcel in host.parcels:
            parcel.level = parcel.owner
    if _fill_levels(found, limits, early):
        _fill_rest(found, limits, early)
    is_unplaced = forget_unplaced(found.placed, limits)
    _, is_released = withdraw(found)
    has_room = limits.expect(found.ways.shared())
    may_go_on = early.is_any or any(unit.asked.model.min_count for unit in found.placed[before:])
    return is_unplaced or is_released or has_room or (may_go_on and len(found.placed) > before)


def _owners(books: PoolBooks) -> list[int]:
    """Leaves that own something, in path order."""
    return [leaf for leaf in books.terms.leaves if leaf in books.hosts_of] if books.hosts_of else []


def _fill_levels(found: Sweeps, limits: Limits, early: _Early) -> bool:
    """Own parcels, private pools, the public pool, each lending up what it leaves; whether all had their turn.

    It stops where something is taken back in which a unit of this cycle stands: that is not placed then, so that its
    space is there at once, and first at its own level (R-SWEEP-3).
    """
    books = found.books
    for leaf in _owners(books):
        mine = [parcel for host in books.hosts_in(leaf) for parcel in host.parcels if parcel.owner == leaf]
        by_preference = {parcel.preference: parcel for parcel in mine}
        for preference, parcel in sorted(by_preference.items(), key=lambda each: each[0]):
            found.placed += fill_own(books, parcel, early.waits, limits)
            if early.take_own(leaf, preference):
                return False
        lend_up(mine, leaf, books.terms.tree.parent[leaf])
    for pool in found.pools:
        found.placed += fill_pool(books, pool, early.waits, limits)
        if early.take_back(pool):
            return False
        above = books.terms.tree.parent[pool]
        lend_up((parcel for host in books.hosts_in(pool) for parcel in host.parcels), pool, above)
    found.placed += fill_pool(books, PUBLIC, early.waits, limits)
    return True


def _take_back(taker: Taker, found: Sweeps) -> None:
    """The second sweep: all levels, until nobody takes any more."""
    books, before = taker.books, -1
    while len(taker.notices) != before:
        before = len(taker.notices)
        for leaf in _owners(books):
            take_own(taker, leaf)
        for pool in found.pools:
            take_lent_back(taker, pool, lambda _entry: True)
            compare(taker, pool)
        compare(taker, PUBLIC)


class _Early:
    """What is taken back in the first sweep, before a worse level is used (`reclaim_before_next_level`)."""

    def __init__(self, books: PoolBooks, ways: Ways, found: Sweeps, limits: Limits) -> None:
        self.books, self.ways, self.found, self.limits = books, ways, found, limits
        self._before: dict[Asked, int] = {}

    @property
    def is_any(self) -> bool:
        """Whether anybody takes back in the first sweep."""
        return any(self._is_early(row) for row in self.books.terms.own)

    def forget(self) -> None:
        """The first sweep begins anew."""
        self._before.clear()

    def waits(self, asked: Asked) -> int:
        """Units that a request waits for at this level: what is on its way too, unless it was taken for it above."""
        return max(0, asked.waiting - self._before.get(asked, 0))

    def _is_early(self, row: int, preference: int | None = None) -> bool:
        return any(
            entry.reclaim_before_next_level
            and (preference is None or (entry.preference or DEFAULT_PREFERENCE) == preference)
            for entry in self.books.terms.own.get(row, ())
        )

    def take_own(self, leaf: int, preference: int) -> bool:
        """Take a leaf's parcels of a preference back, where its entry says so; whether one of this cycle gave way."""
        if not self._is_early(leaf, preference):
            return False
        return self._take(leaf, lambda taker: take_own(taker, leaf, preference))

    def take_back(self, pool: int) -> bool:
        """Take back what a private pool has lent up, where its owner's entry says so; the same."""
        if not self._is_early(pool):
            return False
        return self._take(
            pool, lambda taker: take_lent_back(taker, pool, lambda entry: entry.reclaim_before_next_level)
        )

    def _take(self, row: int, take: Callable[[Taker], None]) -> bool:
        before = sum(self.books.unplaced.values())
        take(Taker(self.books, self.ways, self.found.noticed))
        self._note(row)
        return sum(self.books.unplaced.values()) > before

    def _note(self, row: int) -> None:
        for asked in self.ways.of:
            if row in self.books.terms.above[asked.leaf]:
                self.ways.refresh(asked)
                self._before[asked] = self.ways.units(asked)
        self.limits.expect(self.ways.shared())


def _fill_rest(found: Sweeps, limits: Limits, early: _Early) -> None:
    """What a gang wants beyond its minimum may stand where the whole of it did not fit: on what stayed at its level."""
    books = found.books
    while any(asked.model.min_count and early.waits(asked) for asked in books.asked.values()):
        before = len(found.placed)
        for leaf in _owners(books):
            mine = {
                each.preference: each for host in books.hosts_in(leaf) for each in host.parcels if each.level == leaf
            }
            for _, parcel in sorted(mine.items(), key=lambda each: each[0]):
                found.placed += fill_own(books, parcel, early.waits, limits)
        for pool in [*found.pools, PUBLIC]:
            found.placed += fill_pool(books, pool, early.waits, limits)
        if len(found.placed) == before:
            return


def keep_limits(taker: Taker) -> None:
    """What is held above share limits goes, even if nobody waits (R-LIMIT-3)."""
    books, terms = taker.books, taker.books.terms
    for row in taker.limits.broken() if not books.restraint.is_still else ():
        while row in taker.limits.broken():
            over = [at for at, most in terms.limit[row] if taker.limits.used[row][at] > most]
            able = [
                unit
                for unit in books.units()
                if unit.notice is None
                and unit.pool >= 0
                and row in terms.above[unit.asked.leaf]
                and any(unit.asked.unit[at] for at in over)
            ]
            if not able:
                break
            unit = min(
                able,
                key=lambda unit: (
                    any(is_young(books, each) for each in bundle_of(unit, ())),
                    len(terms.above[unit.pool]),
                    giving_key(terms, taker.standing(unit.pool), unit.asked.leaf),
                    giving_order(terms, unit, breaks=breaks_gang(unit, ())),
                ),
            )
            _give_up(taker, unit)


def _give_up(taker: Taker, unit: Unit) -> None:
    """A unit goes though nobody waits, with its whole gang where that falls below its minimum."""
    books = taker.books
    if unit.notice is not None or books.restraint.is_still or unit not in unit.asked.units:
        return
    bundle = bundle_of(unit, ())
    for each in bundle:
        taker.give(each, None, "limit")
    new = placed_now(books, bundle)
    told = [each for each in bundle if each not in new]
    unplace(books, new)
    taker.notices += told
    books.restraint.gone += len(told)


def take_own(taker: Taker, leaf: int, preference: int | None = None) -> None:
    """An owner whose demand returned takes its parcels back, best preference first (R-TAKE-2)."""
    hosts = taker.books.hosts_in(leaf)
    stated = {parcel.preference for host in hosts for parcel in host.parcels if parcel.owner == leaf}
    for each in sorted(stated) if preference is None else [preference]:

        def mine(host: Machine, at: int = each) -> list[Parcel]:
            return [parcel for parcel in host.parcels if parcel.owner == leaf and parcel.preference == at]

        source = Source(OWN, mine, lambda _parcel: True, lambda unit: unit.pool != OWN)
        for asked in sorted(taker.books.by_leaf[leaf], key=lambda one: one.order):
            while taker.take(asked, source, hosts):
                pass


def take_lent_back(taker: Taker, pool: int, of: Callable[[Owning], bool]) -> None:
    """A private pool takes back what it lent up, for its leaves in the order of the assignment loop (R-TAKE-2).

    of : whether what is owned by an entry of the pool's owner is taken back now
    """
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
        order.renew(lambda asked: taker.ways.units_in(asked, pool))
        return order

    order = Standing(books, pool, with_lent=True)
    _in_turns(taker, pool, source, hosts, renewed)


def _is_of(parcel: Parcel, pool: int, of: Callable[[Owning], bool]) -> bool:
    return any(row == pool and of(entry) for row, entry in parcel.chain)


def compare(taker: Taker, pool: int) -> None:
    """Whoever is below its quota in a pool takes from who is above it (R-TAKE-1)."""
    books, terms = taker.books, taker.books.terms
    standing = taker.standing(pool)
    ways, members = taker.ways, standing.members
    if ways.of:
        waits = {a: ways.units_in(a, pool) + max(0, a.waiting - ways.units(a)) for a in members}
    else:
        waits = {a: left for a in members if (left := a.waiting)}
    standing.divide(waits)

    public_grace = within(terms.settings.public_pool_grace)

    def source(leaf: int) -> Source:
        is_in_time = terms.grace[leaf] <= public_grace

        def parcels(host: Machine) -> list[Parcel]:
            if host.is_plain:  # the common case
                return host.parcels if is_in_time and pool == PUBLIC else []
            there = {parcel for unit in host.units if unit.pool == pool for parcel in unit.books}
            return [
                parcel
                for parcel in host.parcels
                if (parcel.level == pool or (parcel in there and is_lent_to(parcel, pool)))
                and may_use(terms, parcel, leaf, pool)
            ]

        return Source(
            pool, parcels, lambda parcel: parcel.level == pool, lambda unit: unit.pool == pool, is_compared=True
        )

    _in_turns(taker, pool, source, books.hosts, lambda: standing)


def _in_turns(
    taker: Taker,
    pool: int,
    source: Callable[[int], Source],
    hosts: list[Machine],
    used: Callable[[], Standing],
) -> None:
    """Waiting leaves take in the order of the assignment loop, as moved; after every take all are asked again.

    used : how the pool is used now
    """
    standing, hosts = used(), [host for host in hosts if not host.is_closed]
    is_done = False
    while not is_done:
        is_done = True
        lines: dict[int, list[Asked]] = {}
        for asked in standing.members:
            if taker.wants(asked) and standing.size[asked]:
                lines.setdefault(asked.leaf, []).append(asked)
        if not lines:
            return
        turns = Turns(taker.books.terms, pool, lines, used().moved)
        while (leaf := turns.next()) is not None:
            place, line = source(leaf), lines[leaf]
            line.sort(key=lambda asked: asked.order)
            if _take_one(taker, line, place, hosts):
                is_done = False
                break
            turns.drop(leaf)


def _take_one(taker: Taker, line: list[Asked], source: Source, hosts: list[Machine]) -> bool:
    """Take for the first request of a leaf for which it can be; where one got nothing, its like are not tried."""
    tried: set[Vector] = set()
    for asked in line:
        is_plain = asked.siting is None and not asked.min_count and asked not in taker.ways.of
        if is_plain and asked.unit in tried:
            continue
        if taker.take(asked, source, hosts):
            return True
        if is_plain:
            tried.add(asked.unit)
    return False
