"""Balances of a plan: what a parent owns beyond its children (S1.84, SPEC §3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.planio.mixtures import together
from fairhold.planio.sides import is_divided, listed_by, of_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan

_DEFAULT = ConsumerSettings()


@dataclass(frozen=True, slots=True)
class Balance:
    """One parent in one resource group.

    consumer       : row; 0 is the root, which owns the configured slots of the group
    owned          : slots that it owns
    children_owned : slots that its children own together
    entry          : position under `policies:` of the entry that says so
    """

    resource_group: str
    consumer: int
    owned: int
    children_owned: int
    entry: int = 0

    @property
    def balance(self) -> int:
        """What is owned here and by no child."""
        return self.owned - self.children_owned


def balances(plan: Plan) -> list[Balance]:
    """All parents of all shared groups: entries in plan order, their groups, then rows.

    The root of a divided group is that of the entries in force together, told with the first of them.
    """
    found = []
    tree = plan.tree
    groups = of_groups(plan.policies)
    divided = {name for name, entries in groups.items() if is_divided(entries, tree)}
    for at, entry in enumerate(plan.policies):
        if not entry.policy.owns_slots:
            continue
        below = [0] * len(tree)
        for row, stated in entry.consumers.items():
            below[tree.parent[row]] += stated.owned
        mine = listed_by(entry, tree)
        for name in entry.resource_groups:
            configured = plan.resource_groups[name].configured_slots
            if name not in divided:
                found.append(Balance(name, ROOT, below[ROOT] if configured is None else configured, below[ROOT], at))
            else:
                found.extend(_roots(plan, name, at))
            found.extend(
                Balance(name, row, entry.consumers.get(row, _DEFAULT).owned, below[row], at)
                for row in range(1, len(tree))
                if tree.children[row] and (name not in divided or tree.first_level[row] in mine)
            )
    return found


def balance_document(plan: Plan, row: Balance) -> dict[str, Any]:
    """A balance for programs; where the plan has windows, with its entry, as a parent is there once in each."""
    document = {
        "consumer": plan.tree.paths[row.consumer],
        "resource_group": row.resource_group,
        "owned": row.owned,
        "children_owned": row.children_owned,
        "balance": row.balance,
    }
    return document if plan.calendar is None else document | {"entry": row.entry}


def _roots(plan: Plan, group: str, at: int) -> Iterator[Balance]:
    """The root of a divided group, for each combination of entries of which the one at hand is the first."""
    configured = plan.resource_groups[group].configured_slots
    for force in together(plan, group):
        if min(force) == at:
            entry_of = plan.entries_of(group, force)
            first_level = plan.tree.children[ROOT]
            owned = sum(plan.policies[entry_of[row]].consumers.get(row, _DEFAULT).owned for row in first_level)
            yield Balance(group, ROOT, owned if configured is None else configured, owned, at)
