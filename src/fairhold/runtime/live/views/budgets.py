"""Budgets as they are now: what is used of each, when it will be used up, and what follows then (R-BUDGET-1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.ledger.spending import WARNED
from fairhold.model.vector import decimal_text
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
LEAST = 600 * SECOND
"""A period that has just begun counts as this old, so that its first job does not make the mean rate."""


def budgets_of(books: Books, now: int) -> dict[int, Document]:
    """Row → its budget, of those that have one.

    unit_seconds  : used since the period began, exact
    used          : the same as a part of the budget, rounded down to a thousandth
    lasts_until   : when it is used up at the mean rate of its period so far, before the period ends; None = it lasts
    at_this_rate  : the same at the rate at which units are held now
    """
    if books.spending is None:
        return {}
    rows, used, found = books.rows, books.spending.used(now), {}
    for row, budget in rows.controls.budgets.items():
        begin, end = books.spending.period(budget.period, now)
        left, meter = budget.amount - used[row], books.spending.meters[row, budget.period]
        mean = Fraction(used[row], max(now - begin, LEAST))
        found[row] = {
            "unit_hours": budget.unit_hours,
            "period": budget.period,
            "then": budget.then,
            "unit_seconds": decimal_text(Fraction(used[row], SECOND)),
            "begins": format_instant(begin),
            "ends": format_instant(end),
            "used_up": row in rows.spent,
            "used": decimal_text(Fraction(1000 * used[row] // budget.amount, 1000)),
            "warned": 100 * used[row] >= WARNED * budget.amount,
            "lasts_until": _until(now, end, left, mean),
            "at_this_rate": _until(now, end, left, Fraction(meter.rate)),
        }
    return found


def _until(now: int, end: int, left: int, rate: Fraction) -> str | None:
    """When so many unit-microseconds are used at a rate of units; None = not before the period ends."""
    if left <= 0:
        return format_instant(now)
    instant = now + int(left / rate) + 1 if rate else end
    return format_instant(instant // SECOND * SECOND) if instant < end else None


def budgets_over(core: Core, group: str, path: str) -> list[Document]:
    """The budgets of a consumer and of all above it, the nearest first."""
    books = core.cluster.books[group]
    found, rows = budgets_of(books, max(core.now(), core.orchestrator.now)), books.rows
    line = []
    row = rows.by_path.get(path, 0)
    while row > 0:
        line += [{"consumer": rows.path(row), **found[row]}] if row in found else []
        row = rows.tree.parent[row]
    return line
