"""Withdraws notices that are no longer needed (SPEC §6.6, R-NOTICE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.pools.alone import are_alone, is_awaited
from fairhold.rules.pools.reservations import limits_as_moved
from fairhold.rules.pools.victims import is_stopped_whole

if TYPE_CHECKING:
    from fairhold.ledger.pools import Notice, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.pools.sweeps import Sweeps
    from fairhold.rules.pools.taking import Taker


def withdraw(found: Sweeps) -> tuple[bool, bool]:
    """Notices that their takers need no more; whether there were any, and whether what was held is idle again."""
    gone, is_released = found.reservations.withdraw()
    let_stay(found, gone)
    more, is_more_released = _keep_within_limits(found) if found.books.terms.limit else (False, False)
    return bool(gone) or more, is_released or is_more_released


def _keep_within_limits(found: Sweeps) -> tuple[bool, bool]:
    """What is on its way beyond a share limit is let go: first of who got units now, then of the last listed.

    The same two.
    """
    placed = {unit.asked for unit in found.placed}
    is_any = is_released = False
    last_first = list(found.reservations.of)[::-1]
    for asked in sorted(last_first, key=lambda each: each not in placed):
        while found.reservations.shared()[asked] and not limits_as_moved(found.books, found.reservations).allow(
            asked, 0
        ):
            gone, is_idle = found.reservations.give_up(asked)
            let_stay(found, gone)
            is_any, is_released = is_any or bool(gone), is_released or is_idle
    return is_any, is_released


def let_stay(found: Sweeps, units: list[Unit]) -> None:
    """Notices that were for somebody are withdrawn."""
    _take_off(found, units)
    for unit in units:
        unit.notice = None


def may_stay(books: PoolBooks, reservations: Reservations, units: list[Unit]) -> bool:
    """Whether share limits allow units of one request under notice to stay, with units on their way to others counted.

    Units withdrawn in the same step count as staying. Otherwise a request that relies on their space would give up its
    units on their way, and reclaim others for them.
    """
    asked, shared = units[0].asked, sum(unit.pool >= 0 for unit in units)
    if not any(row in books.terms.limit for row in books.terms.above[asked.leaf]):  # the common case
        return True
    limits = limits_as_moved(books, reservations) if reservations.limits is None else reservations.limits
    return limits.allow(asked, shared)


def withdraw_nobodys(found: Sweeps, taker: Taker) -> bool:
    """Withdraw notices without a taker that limits do not need, e.g. after their holder gave to others (R-NOTICE-2).

    Returns whether there were any.
    """
    books, limits = found.books, limits_as_moved(found.books, found.reservations)
    nobodys = [unit for unit in books.under_notice(found.noticed) if unit.notice and unit.notice.taker is None]
    nobodys.sort(key=lambda unit: (unit.notice.deadline, unit.notice.serial) if unit.notice else (0, 0), reverse=True)
    done: set[Unit] = set()
    gone: list[Unit] = []
    for unit in nobodys:
        whole = list(unit.asked.units) if is_stopped_whole(unit.asked) else [unit]
        is_free = not any(stands_on_reserved(books, each) or is_for_taker(each) for each in whole)
        if are_alone(books):  # or somebody relies on it
            is_free = is_free and not any(is_awaited(found.reservations, each.asked, each.host) for each in whole)
        shared = sum(each.pool >= 0 for each in whole)
        if unit not in done and is_free and limits.allow(unit.asked, shared):
            limits.add(unit.asked, shared)
            gone += whole
        done.update(whole)
    _take_off(found, gone)
    taker.spare(gone)
    return bool(gone)


def is_for_taker(unit: Unit) -> bool:
    """Whether a unit is to go for somebody."""
    return unit.notice is not None and unit.notice.taker is not None


def _take_off(found: Sweeps, units: list[Unit]) -> None:
    """Notices are withdrawn; those of this cycle were never given. Told again, a unit goes by when it was to go."""
    new = {unit for unit in units if unit.notice is not None and unit.notice.is_new}
    found.books.restraint.gone -= len(new)
    found.noticed[:] = [unit for unit in found.noticed if unit not in new]
    before = {unit: unit.notice for unit in units if unit.notice is not None and not unit.notice.is_new}
    found.books.told_before |= before
    found.withdrawn += before


def keep_told(found: Sweeps) -> None:
    """Keep notices that were withdrawn and given again for the same request with the same deadline.

    So if two gangs give way to each other in turn until the cycle has to end, neither is told.
    """
    same: set[Unit] = set()
    for unit, before in found.books.told_before.items():
        new = unit.notice
        if new is not None and new.is_new and _means(new) == _means(before):
            unit.notice = before
            same.add(unit)
    if same:
        found.books.restraint.gone -= len(same)
        found.noticed[:] = [unit for unit in found.noticed if unit not in same]
        found.withdrawn[:] = [unit for unit in found.withdrawn if unit not in same]


def _means(notice: Notice) -> tuple[PendingRequest | None, int, bool]:
    return notice.taker, notice.deadline, notice.is_move


def all_on_reserved(books: PoolBooks) -> list[Unit]:
    """Units that stand on what is reserved for others, host by host."""
    if not any(entry.reserved for own in books.terms.own.values() for entry in own):
        return []
    hosts = [host for host in books.hosts if any(entry.reserved for each in host.parcels for _, entry in each.chain)]
    return [unit for host in hosts for unit in host.units if stands_on_reserved(books, unit)]


def stands_on_reserved(books: PoolBooks, unit: Unit) -> bool:
    """Whether a unit stands on what is reserved for others (SPEC §6.7.4)."""
    above = books.terms.above[unit.asked.leaf]
    return any(entry.reserved and row not in above for parcel in unit.books for row, entry in parcel.chain)
