"""The policy entries that share vectors at an instant, with their groups and members, and what budgets make of them.

SPEC §6.1, §9, R-BUDGET-5 to R-BUDGET-8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.reference.windows import open_entries
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State


HOUR = 3600
LAST = LARGEST + 1
"""Beyond any rank and any priority."""


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
            found.append(Share(*_while_used_up(plan, entry, state, members), now, members))
    return found


def _while_used_up(
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
