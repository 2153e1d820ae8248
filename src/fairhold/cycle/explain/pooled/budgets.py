"""Budgets of resources that let nothing start (R-BUDGET-7), and what of them would have to be larger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairhold.cycle.explain.parameter import Change, Parameter, with_settings
from fairhold.model.budget import Budget, counted, period_of
from fairhold.model.vector import amount, amount_text
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Files, Settings
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry

HOUR = 3600


def waited_for(inquiry: Inquiry, leaf: int) -> Document | None:
    """The nearest budget on the way up that is used up and lets nothing start; None = there is none."""
    row = next((row for row, budget in _used_up(inquiry, leaf) if budget.then == "wait"), None)
    return None if row is None else _told(inquiry, row)


def used_up_around(inquiry: Inquiry) -> list[Document]:
    """Budgets that are used up of the consumer asked about, of those above it and of those below it, in path order."""
    terms, asked = inquiry.terms, inquiry.row
    rows = {row for leaf in terms.leaves for row in terms.above[leaf][:-1] if asked in terms.above[row]}
    rows |= {*terms.above[asked][:-1]}
    found = [row for row in rows if _budget(inquiry, row) is not None]
    return [_told(inquiry, row) for row in sorted(found, key=terms.position.__getitem__)]


def _told(inquiry: Inquiry, row: int) -> Document:
    plan, budget = inquiry.plan, _budget(inquiry, row)
    assert budget is not None
    assert plan.zone is not None, "a plan with budgets"
    of = counted(plan.resources)
    return {
        "consumer": inquiry.path(row),
        "hours": {of[at].name: amount_text(of[at], hours) for at, hours in budget.hours},
        "period": budget.period,
        "then": budget.then,
        "ends": format_instant(period_of(plan.zone, budget.period, inquiry.state.now)[1]),
        "rule": "R-BUDGET-8" if inquiry.force.entry.policy.has_queues else "R-BUDGET-7",
    }


def _budget(inquiry: Inquiry, row: int) -> Budget | None:
    """The budget of a consumer, if it is used up."""
    stated = inquiry.force.entry.consumers.get(row)
    budget = stated.budget if stated else None
    used = {at: seconds * SECOND for at, seconds in inquiry.state.spent_amounts.get(row, ())}
    return budget if budget is not None and budget.is_used_up(used) else None


def larger_budgets(inquiry: Inquiry, leaf: int) -> Iterator[Settings]:
    """As many hours of all that is used up on the way up as make it as if it were not."""
    waited = [(row, budget) for row, budget in _used_up(inquiry, leaf) if budget.then == "wait"]
    found = [each for row, budget in waited for each in _parameters(inquiry, row, budget)]
    if found:
        yield tuple((parameter, parameter.values[0]) for parameter in found)


def _used_up(inquiry: Inquiry, leaf: int) -> Iterator[tuple[int, Budget]]:
    """Of the way up from a leaf, the nearest first."""
    for row in inquiry.terms.above[leaf][:-1] if inquiry.state.spent_amounts else ():
        budget = _budget(inquiry, row)
        if budget is not None:
            yield row, budget


def _parameters(inquiry: Inquiry, row: int, budget: Budget) -> Iterator[Parameter]:
    of, used = counted(inquiry.plan.resources), dict(inquiry.state.spent_amounts[row])
    for at, hours in budget.hours:
        if used.get(at, 0) < hours * HOUR:
            continue

        def put(files: Files, value: int, at: int = at) -> Files:
            stated = files.plan.policies[inquiry.force.at].consumers[row].budget
            assert stated is not None
            most = tuple((place, value if place == at else each) for place, each in stated.hours)
            larger = Budget(stated.unit_hours, stated.period, stated.then, most)
            return with_settings(files, inquiry.force.at, row, budget=larger)

        told = partial(amount, of[at])
        change = Change("budget", told(hours), None, consumer=inquiry.path(row), resource=of[at].name)
        yield Parameter(change, hours, (used[at] // HOUR + 1,), put, told)
