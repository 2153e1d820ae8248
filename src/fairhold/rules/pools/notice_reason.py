"""The rule behind a notice (SPEC §6.5 to §6.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN
from fairhold.rules.pools.withdrawing import stands_on_reserved

if TYPE_CHECKING:
    from fairhold.ledger.pools import PoolBooks, Unit
    from fairhold.rules.pools.reservations import Reservations


def rule_of_queue(unit: Unit) -> str:
    """The same of a unit that queues share."""
    if unit.notice is None:
        return ""
    taker = unit.notice.taker
    if taker is None:
        return "R-LIMIT-3"
    if unit.notice.is_move:
        return "R-CONTEST-6"
    return "R-CONTEST-5" if taker.leaf == unit.asked.leaf else "R-CONTEST-1"


def rule_of(books: PoolBooks, reservations: Reservations, unit: Unit) -> str:
    """The id of the rule by which a unit is under notice; empty where it is not.

    reservations : what is on its way to whom, after the cycle
    """
    if unit.notice is None:
        return ""
    taker = unit.notice.taker
    if taker is None:
        return "R-ADJUST-4" if stands_on_reserved(books, unit) else "R-LIMIT-3"
    if unit.notice.is_move:
        return "R-CONTEST-6"
    reservation = reservations.of.get(taker, {}).get(unit.host)
    if reservation is None or not reservation.units:
        return "R-TAKE-4"  # it goes with the rest of its gang, which gives on another host
    owner = taker.leaf if reservation.pool == OWN else reservation.pool
    is_back = reservation.pool != unit.pool and any(row == owner for parcel in unit.books for row, _ in parcel.chain)
    return "R-TAKE-2" if is_back else "R-TAKE-1"
