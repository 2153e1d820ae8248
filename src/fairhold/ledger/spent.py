"""What changes for a consumer while its budget is used up (R-BUDGET-2, R-BUDGET-3, R-BUDGET-4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.budget import Budget
    from fairhold.model.plan import ConsumerSettings
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
    also owns nothing, except under `ownership`, where others may still borrow its slots.
    """
    waits, borrows = (
        in_subtrees(tree, {node for node, budget in spent.items() if budget.then == then})
        for then in ("wait", "borrow_only")
    )
    found = []
    for node, settings in enumerate(stated):
        if borrows[node] and not is_owner[node]:
            found.append(replace(settings, owned=0, reserved=0))
        elif borrows[node] or waits[node]:
            found.append(replace(settings, reserved=0))
        else:
            found.append(settings)
    return found
