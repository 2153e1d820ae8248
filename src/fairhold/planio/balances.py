"""Balances of a plan: what a parent owns beyond its children (S1.84, SPEC §3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

_DEFAULT = ConsumerSettings()


@dataclass(frozen=True, slots=True)
class Balance:
    """One parent in one resource group.

    consumer       : row; 0 is the root, which owns the configured slots of the group
    owned          : slots that it owns
    children_owned : slots that its children own together
    """

    resource_group: str
    consumer: int
    owned: int
    children_owned: int

    @property
    def balance(self) -> int:
        """What is owned here and by no child."""
        return self.owned - self.children_owned


def balances(plan: Plan) -> list[Balance]:
    """All parents of all shared groups: entries in plan order, their groups, then rows."""
    found = []
    tree = plan.tree
    for entry in plan.policies:
        below = [0] * len(tree)
        for row, stated in entry.consumers.items():
            below[tree.parent[row]] += stated.owned
        for name in entry.resource_groups:
            configured = plan.resource_groups[name].configured_slots
            found.append(Balance(name, ROOT, below[ROOT] if configured is None else configured, below[ROOT]))
            found.extend(
                Balance(name, row, entry.consumers.get(row, _DEFAULT).owned, below[row])
                for row in range(1, len(tree))
                if tree.children[row]
            )
    return found
