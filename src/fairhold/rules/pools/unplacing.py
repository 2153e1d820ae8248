"""A unit that a cycle has placed and would reclaim at once is not placed (SPEC §6.6, R-SWEEP-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond, times
from fairhold.ledger.pools import OWN, remove
from fairhold.rules.pools.reach import hold_beyond

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.limits import Limits
    from fairhold.rules.pools.reservations import Reservations


def placed_now(books: PoolBooks, units: Iterable[Unit]) -> list[Unit]:
    """Of units that would go those of this cycle, which are not placed instead."""
    return [unit for unit in units if unit.is_new] if not books.restraint.is_trial else []


def unplace(books: PoolBooks, units: Iterable[Unit]) -> dict[Machine, set[Parcel]]:
    """Undo the placement of units; returns their hosts and parcels."""
    found: dict[Machine, set[Parcel]] = {}
    for unit in units:
        books.unplaced[unit.asked] = books.unplaced.get(unit.asked, 0) + 1
        found.setdefault(unit.host, set()).update(unit.books)
        unit.notice = None
        remove(unit)
    return found


def unplace_for(reservations: Reservations, asked: PendingRequest, units: Iterable[Unit]) -> None:
    """The same of units that would go for a request: what it needs of theirs is held for it at once."""
    for host, parcels in unplace(reservations.books, units).items():
        reservation = reservations.of[asked][host]
        reservation.takes([unit for unit in reservation.victims if unit in unit.asked.units])
        need = beyond(times(asked.unit, reservation.units), reservations.freed_there(asked, host))
        hold_beyond(asked, host, [each for each in reservations.reach(asked, host) if each in parcels], need)
        reservation.pool = reservations.pool_of(asked, host)


def forget_unplaced(placed: list[Unit], limits: Limits) -> bool:
    """Leave out of what was placed what is not placed after all; whether there is any."""
    gone = [unit for unit in placed if unit not in unit.asked.units]
    if gone:
        placed[:] = [unit for unit in placed if unit in unit.asked.units]
    for unit in gone:
        if unit.pool != OWN:
            limits.add(unit.asked, -1)
    return bool(gone)
