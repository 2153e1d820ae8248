"""The policy entries that share vectors at an instant, with their groups and members (SPEC §6.1, §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.spent import while_used_up
from fairhold.reference.windows import open_entries

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State


@dataclass(frozen=True)
class Share:
    """An entry in force.

    entry   : with what follows where budgets are used up
    waiting : paths that are granted nothing therefore
    groups  : that it shares now
    members : rows of first-level consumers that take part
    """

    entry: PolicyEntry
    waiting: frozenset[str]
    groups: tuple[str, ...]
    members: frozenset[int]

    @property
    def name(self) -> str:
        """Its name in documents with several entries."""
        return ", ".join(self.groups)


def is_of_vectors(plan: Plan, group: str) -> bool:
    """Whether a resource group is shared in vectors."""
    return any(entry.policy.shares_vectors for entry in plan.policies if group in entry.resource_groups)


def shares_now(plan: Plan, state: State) -> list[Share]:
    """Entries in force at the instant of a state, in plan order.

    A consumer takes part in the first entry that has a group of an entry listing its branch. A consumer in none
    takes part if all entries have the same groups.
    """
    mine = [entry for entry in plan.policies if entry.policy.shares_vectors]
    listed = {
        row: {
            group
            for entry in mine
            if any(plan.tree.first_level[each] == row for each in entry.consumers)
            for group in entry.resource_groups
        }
        for row in plan.tree.children[0]
    }
    groups = {frozenset(entry.resource_groups) for entry in mine}
    anywhere = set(next(iter(groups))) if len(groups) == 1 else set()
    found, left = [], dict(listed)
    for at, entry in enumerate(plan.policies):
        now = tuple(
            group
            for group in entry.resource_groups
            if is_of_vectors(plan, group) and at in open_entries(plan, group, state.now)
        )
        if now:
            members = frozenset(row for row, those in left.items() if (those or anywhere) & set(now))
            left = {row: those for row, those in left.items() if row not in members}
            found.append(Share(*while_used_up(plan, entry, state, members), now, members))
    return found
