"""The two sweeps of a cycle: idle resource first, reclaim for what still waits (SPEC §6.2, R-SWEEP-1, R-SWEEP-2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond
from fairhold.ledger.pools import PUBLIC
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.assigning import fill_own, fill_pool
from fairhold.rules.pools.content import entries_of, lend_up
from fairhold.rules.pools.leaving import give_up, keep_limits
from fairhold.rules.pools.levels import compare, divided, take_lent_back, take_own
from fairhold.rules.pools.limits import Limits
from fairhold.rules.pools.reservations import Reservations, limits_as_moved
from fairhold.rules.pools.superfluous import spare_superfluous
from fairhold.rules.pools.taking import Taker
from fairhold.rules.pools.unplacing import forget_unplaced
from fairhold.rules.pools.withdrawing import all_on_reserved, keep_told, may_stay, withdraw, withdraw_nobodys
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.pools import Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.model.vector import Vector
    from fairhold.rules.pools.pool_usage import Standing


MOST_ROUNDS = 20
"""Times that a cycle goes through its sweeps at most: what is open then is told, and the next cycle goes on."""


@dataclass(slots=True)
class Sweeps:
    """What a cycle of one policy entry decides.

    pools     : rows with a private pool, in the order in which they are served
    placed    : units in the order of placing
    noticed   : units that got notice; withdrawn: units whose notices are withdrawn
    taker     : reclaims units in pools, None = no pools are needed; is_at_rest: there was nothing to decide
    reservations : units on their way to requests
    rounds    : number of rounds of both sweeps; is_settled: whether the last round changed nothing
    """

    books: PoolBooks
    reservations: Reservations
    pools: list[int] = field(default_factory=list)
    placed: list[Unit] = field(default_factory=list)
    noticed: list[Unit] = field(default_factory=list)
    withdrawn: list[Unit] = field(default_factory=list)
    taker: Taker | None = None
    is_at_rest: bool = False
    rounds: int = 0
    is_settled: bool = True

    @property
    def standings(self) -> dict[int, Standing]:
        """Pool → how it is used, as for reclaim; worked out when it is asked for where nobody wanted any."""
        if self.is_at_rest and self.taker is None:
            found = run_sweeps(self.books)  # it moves nothing
            self.taker, self.pools = found.taker, found.pools
        if self.taker is None:
            return {}
        for pool in [*self.pools, PUBLIC]:
            if not self.taker.standing(pool).is_divided:
                divided(self.taker, pool)
        return self.taker.standings

    def stop_at_bound(self) -> None:
        """The bound on rounds is reached with something still open: the decisions stand, and another cycle is due."""
        self.is_settled = False
        self.books.restraint.not_after(self.books.now + SECOND)


def private_pools(books: PoolBooks) -> list[int]:
    """Rows with a private pool, the deepest first, then in plan order (S2.8)."""
    terms = books.terms
    rows = {*books.hosts_of}
    if terms.own and len(terms.tree.children[PUBLIC]) < len(terms.above) - 1:  # there is more than one level
        rows |= {unit.pool for unit in books.units() if unit.pool > PUBLIC}
    return sorted((row for row in rows if terms.tree.children[row]), key=lambda row: (-len(terms.above[row]), row))


def sweeps_at_rest(books: PoolBooks) -> Sweeps:
    """The same where there is nothing to decide (`is_at_rest`)."""
    return Sweeps(books, Reservations(books), is_at_rest=True)


def run_sweeps(books: PoolBooks) -> Sweeps:
    """Both sweeps on books, which are changed."""
    reservations = Reservations(books, lambda units: may_stay(books, reservations, units))
    reservations.read()
    found = Sweeps(books, reservations, private_pools(books))
    limits = Limits(books, books.units())
    early = _Early(books, reservations, found, limits)
    for found.rounds in range(1, MOST_ROUNDS + 1):
        limits.expect(reservations.shared())
        is_filled = any(not _fill(found, limits, early) for _ in range(MOST_ROUNDS))
        reservations.fill_again(limits_as_moved(books, reservations))
        held, taker = reservations.held(), Taker(books, reservations, found.noticed)
        found.taker = taker
        for unit in all_on_reserved(books):
            give_up(taker, unit)  # SPEC §6.7.4
        keep_limits(taker)
        may_go_on = withdraw_nobodys(found, taker) and waits_any_gang(books)
        _take_back(taker, found)
        is_needless = withdraw_nobodys(found, taker) or may_go_on
        is_unplaced = forget_unplaced(found.placed, limits)
        is_at_rest = not any(withdraw(found)) and not is_needless and not is_unplaced and is_filled
        is_at_rest = not spare_superfluous(found) and is_at_rest
        is_at_rest = not reservations.hold_again() and not _is_less(held) and is_at_rest
        is_at_rest = not reservations.fill_again(limits_as_moved(books, reservations)) and is_at_rest
        if is_at_rest:
            break
    else:
        found.stop_at_bound()
    keep_told(found)
    return found


def _is_less(held: list[tuple[Parcel, dict[PendingRequest, Vector]]]) -> bool:
    """Whether less is held of a parcel than before somebody went: it is idle, and others may use it (R-SWEEP-2)."""
    return any(
        any(beyond(amounts, parcel.kept[asked])) if asked in parcel.kept else any(amounts)
        for parcel, kept in held
        for asked, amounts in kept.items()
    )


def _fill(found: Sweeps, limits: Limits, early: _Early) -> bool:
    """The first sweep: grants idle resources level by level, and withdraws notices that are no longer needed.

    Returns whether it has to be repeated: something that was held is idle; or a gang that has its minimum now, or
    an early reclaim, may use what was not enough before.
    """
    books, before = found.books, len(found.placed)
    early.forget()
    for host in books.hosts if books.hosts_of else ():
        for parcel in host.parcels:
            parcel.level = parcel.owner
    if _fill_levels(found, limits, early):
        _fill_rest(found, limits, early, before)
    is_unplaced = forget_unplaced(found.placed, limits)
    is_any, is_released = withdraw(found)
    # What stays after all lets its leaf use its host, and a gang that goes on may get more.
    is_released = is_released or (is_any and (are_alone(books) or waits_any_gang(books)))
    has_room = limits.expect(found.reservations.shared())
    may_go_on = early.is_any or any(unit.asked.model.min_count for unit in found.placed[before:])
    return is_unplaced or is_released or has_room or (may_go_on and len(found.placed) > before)


def waits_any_gang(books: PoolBooks) -> bool:
    """Whether a gang waits for units; one that was to stop whole, and stays, does again."""
    return any(asked.min_count and asked.waiting for asked in books.wanting)


def _owners(books: PoolBooks) -> list[int]:
    """Leaves that own something, in path order."""
    return [leaf for leaf in books.terms.leaves if leaf in books.hosts_of] if books.hosts_of else []


def _fill_levels(found: Sweeps, limits: Limits, early: _Early) -> bool:
    """Fill own parcels, private pools and the public pool; each lends up what it leaves. Whether all had a turn.

    It stops if an early reclaim hits a unit placed in this cycle: this unit is not placed then, and its space is
    available at once, first at its own level (R-SWEEP-3).
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
    """The second sweep: reclaims at all levels, until no request takes any more."""
    books, before = taker.books, -1
    if not taker.reservations.of and not any(asked.waiting for asked in books.wanting):  # nobody takes anything
        return
    while len(taker.notices) != before:
        before = len(taker.notices)
        for leaf in _owners(books):
            take_own(taker, leaf)
        for pool in found.pools:
            take_lent_back(taker, pool, lambda _entry: True)
            compare(taker, pool)
        compare(taker, PUBLIC)


class _Early:
    """Reclaims of the first sweep, before a worse level is used (`reclaim_before_next_level`)."""

    def __init__(self, books: PoolBooks, reservations: Reservations, found: Sweeps, limits: Limits) -> None:
        self.books, self.reservations, self.found, self.limits = books, reservations, found, limits
        self._before: dict[PendingRequest, int] = {}
        own = books.terms.own.items()
        self._rows = {row for row, entries in own if any(each.reclaim_before_next_level for each in entries)}

    @property
    def is_any(self) -> bool:
        """Whether any entry reclaims in the first sweep."""
        return any(self._is_early(row) for row in self._rows)

    def forget(self) -> None:
        """The first sweep begins anew."""
        self._before.clear()

    def waits(self, asked: PendingRequest) -> int:
        """Units that a request waits for at this level: what is on its way too, unless it was taken for it above."""
        return max(0, asked.waiting - self._before.get(asked, 0)) if self._before else asked.waiting

    def _is_early(self, row: int, preference: int | None = None) -> bool:
        return row in self._rows and any(
            entry.reclaim_before_next_level
            and (preference is None or (entry.preference or DEFAULT_PREFERENCE) == preference)
            for entry in entries_of(self.books, row)
        )

    def take_own(self, leaf: int, preference: int) -> bool:
        """Reclaim a leaf's parcels of a preference, if its entry says so; whether a unit of this cycle gave way."""
        if not self._is_early(leaf, preference):
            return False
        return self._take(leaf, lambda taker: take_own(taker, leaf, preference))

    def take_back(self, pool: int) -> bool:
        """Reclaim what a private pool has lent up, if its owner's entry says so; returns the same."""
        if not self._is_early(pool):
            return False
        return self._take(
            pool, lambda taker: take_lent_back(taker, pool, lambda entry: entry.reclaim_before_next_level)
        )

    def _take(self, row: int, take: Callable[[Taker], None]) -> bool:
        before = sum(self.books.unplaced.values())
        take(Taker(self.books, self.reservations, self.found.noticed))
        self._note(row)
        return sum(self.books.unplaced.values()) > before

    def _note(self, row: int) -> None:
        for asked in self.reservations.of:
            if row in self.books.terms.above[asked.leaf]:
                self.reservations.refresh(asked)
                self._before[asked] = self.reservations.units(asked)
        self.limits.expect(self.reservations.shared())


def _fill_rest(found: Sweeps, limits: Limits, early: _Early, before: int) -> None:
    """Place units of gangs beyond their minimum on what is still idle at a level where the whole gang did not fit.

    before : units that were placed before any gang may have got its minimum
    """
    books = found.books
    while any(unit.asked.min_count and early.waits(unit.asked) for unit in found.placed[before:]):
        before = len(found.placed)
        for leaf in _owners(books):
            mine = {
                each.preference: each for host in books.hosts_in(leaf) for each in host.parcels if each.level == leaf
            }
            for _, parcel in sorted(mine.items(), key=lambda each: each[0]):
                found.placed += fill_own(books, parcel, early.waits, limits)
        for pool in [*found.pools, PUBLIC]:
            found.placed += fill_pool(books, pool, early.waits, limits)
