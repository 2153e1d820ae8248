"""Budgets of resources that let nothing start (R-BUDGET-7), and what of them would have to be larger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.parameter import Change, Parameter, with_settings
from fairhold.model.budget import Budget, counted, period_of
from fairhold.model.vector import amount, amount_text
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.cycle.explain.pooled.parameter import Files, Settings

HOUR = 3600


def waited_for(inquiry: Inquiry, leaf: int) -> Document | None:
    """The nearest budget on the way up that is used up and lets nothing start; None = there is none."""
    for row, budget in _used_up(inquiry, leaf):
        plan = inquiry.plan
        assert plan.zone is not None, "a plan with budgets"
        of = counted(plan.resources)
        return {
            "consumer": inquiry.path(row),
            "hours": {of[at].name: amount_text(of[at], hours) for at, hours in budget.hours},
            "period": budget.period,
            "ends": format_instant(period_of(plan.zone, budget.period, inquiry.state.now)[1]),
        }
    return None


def larger_budgets(inquiry: Inquiry, leaf: int) -> Iterator[Settings]:
    """As many hours of all that is used up on the way up as make it as if it were not."""
    found = [each for row, budget in _used_up(inquiry, leaf) for each in _parameters(inquiry, row, budget)]
    if found:
        yield tuple((parameter, parameter.values[0]) for parameter in found)


def _used_up(inquiry: Inquiry, leaf: int) -> Iterator[tuple[int, Budget]]:
    if leaf not in inquiry.terms.waiting:
        return
    for row in inquiry.terms.above[leaf][:-1]:
        stated = inquiry.force.entry.consumers.get(row)
        budget = stated.budget if stated else None
        used = {at: seconds * SECOND for at, seconds in inquiry.state.spent_amounts.get(row, ())}
        if budget is not None and budget.then == "wait" and budget.is_used_up(used):
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
