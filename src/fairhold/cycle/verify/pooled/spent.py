"""What holds of an entry of vectors while budgets are used up (R-BUDGET-5 to R-BUDGET-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State

HOUR = 3600
LAST = LARGEST + 1
"""Beyond any rank and any priority."""


def while_used_up(
    plan: Plan, entry: PolicyEntry, state: State, members: frozenset[int]
) -> tuple[PolicyEntry, frozenset[str]]:
    """The entry with what counts instead of what it says, and the paths that are granted nothing.

    members : rows of first-level consumers that take part
    """
    spent = _spent(plan, entry, state, members)
    consumers, waiting = dict(entry.consumers), set[str]()
    for row, path in enumerate(plan.tree.paths):
        stated = entry.consumers.get(row, ConsumerSettings())
        thens = {then for other, then in spent.items() if f"{path}/".startswith(f"{other}/")}
        if "wait" in thens:
            waiting.add(path)
            stated = replace(stated, own=tuple(replace(each, reserved=False) for each in stated.own))
        if "borrow_only" in thens:
            stated = replace(stated, own=(), queue=replace(stated.queue, deserved=()))
        if spent.get(path) == "lowest_rank":
            told = [each for each in (stated.rank, plan.tree.rank[row]) if each is not None]
            rank = LAST + (told[0] if told else plan.default_rank)
            stated = replace(stated, rank=rank, queue=replace(stated.queue, priority=stated.queue.priority - LAST))
        if thens:
            consumers[row] = stated
    return (replace(entry, consumers=consumers) if spent else entry), frozenset(waiting)


def _spent(plan: Plan, entry: PolicyEntry, state: State, members: frozenset[int]) -> dict[str, str]:
    """Path → what follows, of those who have used as much of anything as their budgets say."""
    found = {}
    for row, stated in entry.consumers.items():
        budget, used = stated.budget, dict(state.spent_amounts.get(row, ()))
        if budget is None or plan.tree.first_level[row] not in members:
            continue
        if any(used.get(at, 0) >= hours * HOUR for at, hours in budget.hours):
            found[plan.tree.paths[row]] = budget.then
    return found
