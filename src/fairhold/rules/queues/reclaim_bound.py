"""Detects when no waiting request can reclaim, so that the order of turns is irrelevant (R-CONTEST-1, R-CONTEST-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.queues import amounts_of
from fairhold.rules.queues.contest import may_reclaim

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.queues.request_classes import RequestClasses


def can_reclaim_nothing(
    books: PoolBooks,
    queues: Queues,
    reservations: Reservations,
    classes: RequestClasses,
    wants: Callable[[PendingRequest], int],
) -> bool:
    """Whether all waiting requests can be skipped.

    A request can be skipped if no unit is under notice for it; with what it wants its queue is above its fair share, so
    no other queue gives to it; and no request of lower priority in its queue holds a unit. If units may move for
    it, or a control sets the time of another cycle, the answer is no.
    """
    tried: set[object] = set()
    if books.restraint.most is not None or any(queues.terms.delay) or queues.terms.settings.consolidation:
        return False
    for asked in classes.kinds:
        if asked.count <= len(asked.units) or not (units := wants(asked)):
            continue
        kind = asked.leaf, asked.unit, units, asked.model.priority
        if asked in reservations.of:
            return False
        if kind in tried:
            continue
        tried.add(kind)
        if may_reclaim(queues, asked.leaf, amounts_of(asked.unit, units)) is None:
            return False
        if classes.holds_less_urgent(asked):
            return False
    return True
