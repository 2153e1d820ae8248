"""Who uses whose slots right now.

Slots have no names, so that lending is a convention over sums. With `owned now` as in R-SCALE-1, whole slots of it:

    borrowed of a leaf = what it holds above what it owns now
    free of owners     = slots that no leaf owns: the balance of the levels above, and what the plan leaves to nobody
    lent together      = what is borrowed beyond those; who borrows uses what is no leaf's own first
    lent of a leaf     = its part of that, in proportion to what it owns and neither holds nor reserves (reserves are
                         never lent, S1.9-13): whole parts, then one slot each in path order

So all that is borrowed is lent by somebody or owned by no leaf, but where hosts were lost while busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows


class Lending(NamedTuple):
    """Slots by leaf row; leaves that do neither are left out."""

    borrowed: Mapping[int, int]
    lent: Mapping[int, int]


def owned_now(rows: Rows, row: int, slots: int) -> int:
    """What a consumer owns of the slots that there are now, whole slots (R-SCALE-1)."""
    return rows.plan.owned[row] * slots // rows.configured if rows.configured else 0


def lending(books: Books) -> Lending:
    """Who borrows and who lends in a resource group now."""
    rows, held = books.rows, books.held
    if not any(held):
        return Lending({}, {})
    slots = books.slots
    borrowed: dict[int, int] = {}
    idle: dict[int, int] = {}
    unowned = slots
    for leaf in rows.leaves:
        owned = owned_now(rows, leaf, slots)
        unowned -= owned
        if held[leaf] > owned:
            borrowed[leaf] = held[leaf] - owned
        elif owned > max(held[leaf], rows.plan.reserved[leaf]):
            idle[leaf] = owned - max(held[leaf], rows.plan.reserved[leaf])
    return Lending(borrowed, _apportion(sum(borrowed.values()) - max(0, unowned), idle))


def _apportion(amount: int, room: Mapping[int, int]) -> dict[int, int]:
    """Divide an amount in proportion to room, at most that: whole parts, then one each in order."""
    total = sum(room.values())
    amount = min(amount, total)
    if amount <= 0:
        return {}
    parts = {leaf: amount * most // total for leaf, most in room.items()}
    left = amount - sum(parts.values())
    for leaf, most in room.items():
        if left and parts[leaf] < most:
            parts[leaf] += 1
            left -= 1
    return {leaf: part for leaf, part in parts.items() if part}
