"""Detects cycles that have nothing to decide (SPEC §6.2, §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.pools import PoolBooks


def is_at_rest(books: PoolBooks, *, are_queues: bool) -> bool:
    """Whether no request waits, nothing is on its way, under notice or reserved, and there is no share limit.

    Then nothing is placed. Nothing is reclaimed, because no request waits, no share limit can be exceeded and no unit
    is on a reserved parcel. Nothing is withdrawn or held, because there are no notices and reservations.
    """
    if books.keeps or books.told:
        return False
    if not are_queues:
        terms = books.terms
        if terms.limit or any(each.reserved for own in terms.own.values() for each in own):
            return False
    return not any(asked.waiting for asked in books.wanting)
