"""What changes for a consumer while its budget is used up (R-BUDGET-2 to R-BUDGET-4, R-BUDGET-7, R-BUDGET-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.budget import Budget
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.tree import ConsumerTree

LAST = LARGEST + 1
"""Added to a rank it is worse than any that a plan can state."""


def in_subtrees(tree: ConsumerTree, tops: set[int]) -> list[bool]:
    """(consumers,) whether a consumer, or one above it, is among `tops`."""
    found = [False] * len(tree)
    for node in range(1, len(tree)):
        found[node] = node in tops or found[tree.parent[node]]
    return found


def weakened(
    tree: ConsumerTree, stated: Sequence[ConsumerSettings], spent: Mapping[int, Budget], is_owner: Sequence[bool]
) -> list[ConsumerSettings]:
    """(consumers,) settings that count while the budgets of `spent` are used up.

    A consumer that has to wait or may only borrow reserves nothing, nor do its descendants. One that may only borrow
    also owns and deserves nothing, except under `ownership`, where others may still borrow its slots.
    """
    waits, borrows = (
        in_subtrees(tree, {node for node, budget in spent.items() if budget.then == then})
        for then in ("wait", "borrow_only")
    )
    found = []
    for node, settings in enumerate(stated):
        if borrows[node] and not is_owner[node]:
            queue = replace(settings.queue, deserved=())
            found.append(replace(settings, owned=0, reserved=0, own=(), queue=queue))
        elif borrows[node] or waits[node]:
            own = tuple(replace(each, reserved=False) for each in settings.own)
            found.append(replace(settings, reserved=0, own=own))
        else:
            found.append(settings)
    return found


def entry_under(plan: Plan, entry: PolicyEntry, spent: frozenset[int]) -> PolicyEntry:
    """An entry that shares vectors as it counts while the budgets of some consumers are used up.

    spent : rows of the plan's tree
    """
    tree, nothing = plan.tree, ConsumerSettings()
    stated = [entry.consumers.get(row, nothing) for row in range(len(tree))]
    used_up = {row: budget for row in spent if (budget := stated[row].budget) is not None}
    if not used_up:
        return entry
    settings = weakened(tree, stated, used_up, [False] * len(tree))
    for row, budget in used_up.items():
        if budget.then == "lowest_rank":
            ranks = (stated[row].rank, tree.rank[row], plan.default_rank)
            rank = next(each for each in ranks if each is not None) + LAST
            queue = replace(settings[row].queue, priority=stated[row].queue.priority - LAST)
            settings[row] = replace(settings[row], rank=rank, queue=queue)
    waits = in_subtrees(tree, {row for row, budget in used_up.items() if budget.then == "wait"})
    consumers = {row: each for row, each in enumerate(settings) if each != nothing}
    return replace(entry, consumers=consumers, waiting=frozenset(row for row, each in enumerate(waits) if each))
