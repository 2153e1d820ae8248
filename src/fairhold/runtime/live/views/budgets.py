"""Budgets as they are now: what is used of each, and what follows when it is all used up (R-BUDGET-1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import decimal_text
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

Document = dict[str, Any]


def budgets_of(books: Books, now: int) -> dict[int, Document]:
    """Row → its budget, of those that have one; unit_seconds : used since the period began, exact."""
    if books.spending is None:
        return {}
    rows, used, found = books.rows, books.spending.used(now), {}
    for row, budget in rows.controls.budgets.items():
        begin, end = books.spending.period(budget.period, now)
        found[row] = {
            "unit_hours": budget.unit_hours,
            "period": budget.period,
            "then": budget.then,
            "unit_seconds": decimal_text(Fraction(used[row], SECOND)),
            "begins": format_instant(begin),
            "ends": format_instant(end),
            "used_up": row in rows.spent,
        }
    return found
