"""The policy entries that share vectors at an instant, with their groups and their members (SPEC §6.1, §9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.open import entries_of
from fairhold.ledger.pool_terms import MOST_KNOWN
from fairhold.ledger.rows import in_force
from fairhold.ledger.spending import used_up
from fairhold.ledger.spent import entry_under
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.pooled.pool_ledger import News
    from fairhold.model.budget import Budget
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State


@dataclass(frozen=True, slots=True)
class InForce:
    """A policy entry in force, with pools of its own.

    at      : its position under `policies:`
    entry   : with the resource groups that it shares now
    members : first-level consumers that take part
    """

    at: int
    entry: PolicyEntry
    members: frozenset[int]

    @property
    def name(self) -> str:
        """Its resource groups, as documents call it where several entries are in force."""
        return ", ".join(self.entry.resource_groups)

    def as_stated(self, plan: Plan) -> PolicyEntry:
        """The entry as the plan states it, whosever budget is used up."""
        return replace(self.entry, consumers=plan.policies[self.at].consumers, waiting=frozenset())

    def part_of(self, plan: Plan, state: State) -> State:
        """The state with the requests of its members alone."""
        if state.is_settled and len(self.members) == len(plan.tree.children[0]):  # a live cluster's, all of it vectors
            return state
        top = plan.tree.first_level
        mine = tuple([each for each in state.requests if each.unit and top[each.consumer] in self.members])
        return state if len(mine) == len(state.requests) else replace(state, requests=mine)

    def news_of(self, plan: Plan, news: News) -> News:
        """A live cluster's news for its members; requests of others count as gone: they may have moved."""
        if len(self.members) == len(plan.tree.children[0]):
            return news
        top = plan.tree.first_level
        requests = {
            name: noun if noun is not None and top[noun.consumer] in self.members else None
            for name, noun in news.requests.items()
        }
        return replace(news, requests=requests, whole=lambda: self.part_of(plan, news.whole()))


def entries_in_force(plan: Plan, instant: int, spent: frozenset[int] = frozenset()) -> list[InForce]:
    """The entries that share vectors at an instant, in plan order, with what follows for whose budget is used up.

    spent : rows of consumers whose budgets, where they have one in force, are used up

    A consumer is a member of the first of these entries that shares a group with any entry of its branch, at whatever
    time that one is in force. A consumer of no entry is a member only if all entries of the plan share the same groups.
    """
    key = "entries in force", plan.calendar and tuple(in_force(plan, group, instant) for group in plan.resource_groups)
    if key not in plan.known:
        groups: dict[int, list[str]] = {}
        for group in plan.resource_groups:
            for at in in_force(plan, group, instant) if plan.resource_groups[group].shares_vectors else ():
                groups.setdefault(at, []).append(group)
        plan.known[key] = _with_members(plan, groups)
    known: list[InForce] = plan.known[key]
    return _under(plan, known, spent, key) if spent else known


def entries_at(plan: Plan, state: State) -> list[InForce]:
    """The entries that share vectors at the instant of a state, with what follows where it says budgets are used up."""
    forces = entries_in_force(plan, state.now)
    if not state.spent_amounts:
        return forces
    used = {row: {at: each * SECOND for at, each in amounts} for row, amounts in state.spent_amounts.items()}
    return entries_in_force(plan, state.now, used_up(budgets_of(plan, forces), used))


def budgets_of(plan: Plan, forces: Iterable[InForce]) -> dict[int, Budget]:
    """Row → its budget, of those that have one by the entries in force."""
    top = plan.tree.first_level
    return {
        row: stated.budget
        for force in forces
        for row, stated in force.entry.consumers.items()
        if stated.budget is not None and top[row] in force.members
    }


def _under(plan: Plan, forces: list[InForce], spent: frozenset[int], key: tuple[object, ...]) -> list[InForce]:
    """The entries while some budgets are used up; the latest ones are known."""
    known: dict[object, list[InForce]] = plan.known.setdefault("entries under budgets", {})
    if (key, spent) not in known:
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key, spent] = [replace(force, entry=entry_under(plan, force.entry, spent)) for force in forces]
    return known[key, spent]


def _with_members(plan: Plan, groups: Mapping[int, list[str]]) -> list[InForce]:
    """Entries that share some groups each, and who takes part in them."""
    found: list[InForce] = []
    left = set(plan.tree.children[0])
    theirs = groups_of_members(plan)
    for at in sorted(groups):
        entry = plan.policies[at]
        mine = tuple(group for group in entry.resource_groups if group in groups[at])
        members = frozenset(row for row in left if theirs[row] & set(mine))
        left -= members
        found.append(InForce(at, replace(entry, resource_groups=mine), members))
    return found


def tops_of_queues(plan: Plan) -> frozenset[int]:
    """First-level consumers whose units of vectors `fair_share` shares, at whatever time."""
    groups = groups_of_members(plan)
    shared = {group for entry in entries_of(plan) if entry.policy.has_queues for group in entry.resource_groups}
    return frozenset(top for top, theirs in groups.items() if theirs & shared)


def groups_of_members(plan: Plan) -> dict[int, frozenset[str]]:
    """First-level consumer → groups in whose hosts its units of vectors may stand; worked out once for a plan."""
    if "groups of members" not in plan.known:
        plan.known["groups of members"] = _groups_of_members(plan)
    known: dict[int, frozenset[str]] = plan.known["groups of members"]
    return known


def _groups_of_members(plan: Plan) -> dict[int, frozenset[str]]:
    entries = entries_of(plan)
    all_groups = {frozenset(entry.resource_groups) for entry in entries}
    found: dict[int, frozenset[str]] = {}
    for entry in entries:
        for top in {plan.tree.first_level[row] for row in entry.consumers}:
            found[top] = found.get(top, frozenset()) | set(entry.resource_groups)
    default: frozenset[str] = next(iter(all_groups)) if len(all_groups) == 1 else frozenset()
    return {row: found.get(row, default) for row in plan.tree.children[0]}
