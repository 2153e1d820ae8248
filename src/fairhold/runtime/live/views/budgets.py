"""Budgets as they are now: what is used of each, when it will be used up, and what follows then (R-BUDGET-1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.ledger.spending import WARNED
from fairhold.model.budget import counted
from fairhold.model.vector import amount_text, decimal_text
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.books import Books
    from fairhold.model.budget import Used
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
LEAST = 600 * SECOND
"""A period that has just begun counts as this old, so that its first job does not make the mean rate."""


def budgets_of(books: Books, now: int) -> dict[int, Document]:
    """Row → its budget, of those that have one.

    unit_seconds  : used since the period began, exact; None under policies of vectors
    hours         : under these, what may be used of each resource; seconds: what is used, exact
    used          : the same as a part of the budget, rounded down to a thousandth; of several the largest
    lasts_until   : when it is used up at the mean rate of its period so far, before the period ends; None = it lasts
    at_this_rate  : the same at the rate at which units are held now
    """
    if books.spending is None:
        return {}
    return {row: _budget(books, row, used, now) for row, used in books.spending.used(now).items()}


def _budget(books: Books, row: int, used: Used, now: int) -> Document:
    spending, rows = books.spending, books.rows
    assert spending is not None
    budget = spending.budgets[row]
    begin, end = spending.period(budget.period, now)
    most = budget.amounts
    part = max(Fraction(used[at], most[at]) for at in most)
    age = max(now - begin, LEAST)
    means = [_until(now, end, most[at] - used[at], Fraction(used[at], age)) for at in most]
    rates = (Fraction(spending.meters[row, budget.period, at].rate) for at in most)
    of = counted(rows.source.resources)
    seconds = {of[at].name: decimal_text(Fraction(used[at], SECOND * of[at].base)) for at, _ in budget.hours}
    return {
        "unit_hours": budget.unit_hours or None,
        "hours": {of[at].name: amount_text(of[at], each) for at, each in budget.hours},
        "period": budget.period,
        "then": budget.then,
        "unit_seconds": None if budget.hours else decimal_text(Fraction(used[0], SECOND)),
        "seconds": seconds,
        "begins": format_instant(begin),
        "ends": format_instant(end),
        "used_up": row in rows.spent,
        "used": decimal_text(Fraction(int(1000 * part), 1000)),
        "warned": 100 * part >= WARNED,
        "lasts_until": _first(means),
        "at_this_rate": _first(
            _until(now, end, most[at] - used[at], rate) for at, rate in zip(most, rates, strict=True)
        ),
    }


def _first(instants: Iterable[int | None]) -> str | None:
    """The earliest of some instants, to the second; None = there is none."""
    found = min((each for each in instants if each is not None), default=None)
    return None if found is None else format_instant(found)


def _until(now: int, end: int, left: int, rate: Fraction) -> int | None:
    """When so much is left and used at a rate of base units; None = not before the period ends."""
    if left <= 0:
        return now
    instant = now + int(left / rate) + 1 if rate else end
    return instant // SECOND * SECOND if instant < end else None


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
