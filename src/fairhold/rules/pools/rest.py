"""Cycles that decide nothing, as there is nothing to decide (SPEC §6.2, §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.ledger.pools import PoolBooks


def is_at_rest(books: PoolBooks, *, are_queues: bool) -> bool:
    """Whether nobody waits, nothing is on its way, under notice or reserved, and there is no share limit.

    Nothing is placed then, as nobody waits; nothing is taken, as it would be for somebody who waits, or from who is
    above a share limit or on what is reserved; nothing is withdrawn or held, as there is nothing that was.
    """
    if books.keeps or books.told:
        return False
    if not are_queues:
        terms = books.terms
        if terms.limit or any(each.reserved for own in terms.own.values() for each in own):
            return False
    return not any(asked.waiting for asked in books.wanting)
