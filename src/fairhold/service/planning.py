"""What a plan would do to the live cluster: its faults, its warnings, who gains and who loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.ahead import Side, diff_windows
from fairhold.cycle.diff import diff
from fairhold.cycle.document import cycle_on
from fairhold.cycle.pooled.joining import run_entries, with_pools, with_vectors
from fairhold.cycle.stated import differences
from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.state import State
from fairhold.orchestrator.budgets import count_budgets
from fairhold.orchestrator.freeze import thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.vectors import state_of
from fairhold.planio.balances import balances
from fairhold.planio.plan import parse_plan
from fairhold.service.problems import fault_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.model.tree import ConsumerTree
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.ports import PlanVersion
    from fairhold.runtime.live.core import Core

    Document = dict[str, Any]

NAME = "the new plan"
SLICE = 1_000
"""Jobs that are taken at once while the desk waits: some milliseconds."""


class Frozen:
    """The live cluster at one instant, with which others can count while it goes on; after the last `step`."""

    def __init__(self, core: Core) -> None:
        """Begin to take it; in the desk's thread."""
        self.plan = core.plan
        self.now = core.now()
        self.version = core.version
        self._own = core.own
        self._freezing = Freezing(core.cluster)

    def step(self, _core: Core) -> bool:
        """Take the next slice, in the desk's thread; False when all is taken."""
        return self._freezing.step(SLICE)

    def under(self, plan: Plan, moved: Mapping[str, str]) -> Cluster:
        """The cluster as it would be under a plan."""
        books = open_cluster_books(plan, self.now)
        cluster = thaw(self._freezing.document(), books, forgets=True, own=self._own, moved=moved)
        count_budgets(cluster, self.now)
        return cluster


def plan_check(text: str) -> Document:
    """Faults, warnings and balances of a plan."""
    try:
        plan, warnings = parse_plan(text, NAME, places=True)
    except InputError as error:
        return {"faults": [fault_document(fault) for fault in error.faults], "warnings": [], "balances": []}
    return {
        "faults": [],
        "warnings": [fault_document(fault) for fault in warnings],
        "balances": [
            {
                "consumer": plan.tree.paths[row.consumer],
                "resource_group": row.resource_group,
                "owned": row.owned,
                "children_owned": row.children_owned,
                "balance": row.balance,
            }
            for row in balances(plan)
        ],
    }


class Effect(NamedTuple):
    """What a plan would do.

    moved    : old path → new path
    warnings : of its text
    diff     : what it says otherwise, and what the next cycle and those at the coming windows would do otherwise
    """

    plan: Plan
    moved: dict[str, str]
    warnings: list[Document]
    diff: Document


def plan_effect(frozen: Frozen, text: str, was: Mapping[str, str], ahead: int) -> Effect:
    """What a plan would do now, and at the windows of so many microseconds; InputError where it cannot be in force.

    was : new path → old path
    """
    plan, warnings = parse_plan(text, NAME, places=True)
    moved = _old_to_new(was, frozen.plan.tree, plan.tree)
    now = frozen.now
    old, before = _cycle(frozen.plan, frozen.under(frozen.plan, {}), now)
    new, after = _cycle(plan, frozen.under(plan, moved), now)
    found = diff(before, after, moved)
    found["settings"] = differences(frozen.plan, plan, moved)
    coming = diff_windows(old, new, now, now + ahead, moved)
    if coming is not None:
        found["windows"] = coming
    return Effect(plan, moved, [fault_document(fault) for fault in warnings], found)


def _cycle(plan: Plan, cluster: Cluster, now: int) -> tuple[Side, Cycle]:
    """The next cycle of a cluster that nobody else has, slots and vectors, and the side that goes on from it."""
    slots = {group: books for group, books in cluster.books.items() if group != POOLED}
    cycle = cycle_on(slots, now)
    if POOLED not in cluster.books:
        return Side(plan, slots), cycle
    state = state_of(cluster, now)
    pooled = run_entries(plan, state)
    left = with_vectors(State(now=now, previous_cycle=now), state, pooled)
    return Side(plan, slots, left), cycle._replace(document=with_pools(plan, cycle.document, pooled), pooled=pooled)


def _old_to_new(was: Mapping[str, str], before: ConsumerTree, after: ConsumerTree) -> dict[str, str]:
    """Renamed consumers as the core wants them; people write the new path first."""
    faults: list[Fault] = []
    moved: dict[str, str] = {}
    for new, old in was.items():
        if new not in after.rows:
            faults.append(_stranger(new, "the new plan", new))
        if old not in before.rows:
            faults.append(_stranger(old, "the plan in force", new))
        if old in moved:
            what = f"`{old}` cannot become `{moved[old]}` and `{new}`"
            faults.append(Fault("duplicate-key", what, "leave one of them away", ("was", new)))
        moved[old] = new
    if faults:
        raise InputError(faults)
    return moved


def _stranger(path: str, where: str, key: str) -> Fault:
    what = f"{where} has no consumer `{path}`"
    return Fault(
        "unknown-consumer",
        what,
        "name NEW as the new plan does and OLD as the plan in force does, each with all above it",
        ("was", key),
    )


def plan_head(plan: PlanVersion) -> Document:
    """A version of the plan without its text."""
    return {
        "version": plan.version,
        "at": format_instant(plan.at),
        "author": plan.author,
        "comment": plan.comment,
        "until": format_instant(plan.until) if plan.until else None,
    }


def plan_document(plan: PlanVersion) -> Document:
    """A version of the plan."""
    return plan_head(plan) | {"text": plan.text}
