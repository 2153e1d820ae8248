"""A division by lottery, as `fairhold explain` shows it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain import Bound, Level, OwnBound, bound_by_need, standing
from fairhold_lottery.division import tickets_of

if TYPE_CHECKING:
    from fairhold.cycle.run import CycleResult

NO_TICKETS = OwnBound("no tickets", "LOT-2", "it has no tickets, so it gets no more than it is sure of")
COLUMNS = {"tickets": "weight in the lottery", "won": "slots beyond the sure ones"}


def derive_draws(result: CycleResult, parent: int) -> Level:
    """The division of one parent's quota among its children."""
    rows, needs, amount = result.snapshot.rows, result.draft.needs, result.draft.quota[parent]
    sure, is_enough = rows.tree.total(needs.sure, parent), rows.tree.total(needs.need, parent) <= amount
    words = ", enough for all" if is_enough else f": {sure} are sure, and lots are drawn for {amount - sure}"
    draws = 0 if is_enough else amount - sure
    siblings = tuple(
        standing(
            result,
            child,
            floor=needs.sure[child],
            exact=Fraction(result.draft.quota[child]),
            bound=_bound(result, child, draws),
            more={"tickets": tickets_of(rows, child), "won": result.draft.quota[child] - needs.sure[child]},
        )
        for child in rows.tree.children(parent)
    )
    phase = "enough" if is_enough else "lottery"
    return Level(rows.path(parent), amount, Fraction(0), phase, siblings, words=words, columns=COLUMNS)


def _bound(result: CycleResult, row: int, draws: int) -> Bound | OwnBound:
    snapshot, quota, needs = result.snapshot, result.draft.quota[row], result.draft.needs
    if quota < needs.need[row]:
        why = f"others want more too, and it has won {quota - needs.sure[row]} of {draws} draws"
        return OwnBound("lottery", "LOT-3", why)
    if not tickets_of(snapshot.rows, row) and quota < min(snapshot.demand[row], snapshot.rows.plan.limit[row]):
        return NO_TICKETS
    return bound_by_need(result, row)
