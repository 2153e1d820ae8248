"""What a plan would do to the live cluster: its faults, its warnings, who gains and who loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.diff import diff
from fairhold.cycle.document import Cycle, decision_document, group_document
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.errors import Fault, InputError
from fairhold.model.state import State
from fairhold.orchestrator.freeze import thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.planio.balances import balances
from fairhold.planio.plan import parse_plan
from fairhold.service.problems import fault_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
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
        books = open_books(plan, State(now=self.now))
        return thaw(self._freezing.document(), books, forgets=True, own=self._own, moved=moved)


def plan_check(text: str) -> Document:
    """Faults, warnings and balances of a plan."""
    try:
        plan, warnings = parse_plan(text, NAME)
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
    diff     : what the next cycle under it would do otherwise
    """

    plan: Plan
    moved: dict[str, str]
    warnings: list[Document]
    diff: Document


def plan_effect(frozen: Frozen, text: str, was: Mapping[str, str]) -> Effect:
    """What a plan would do now; `was`: new path → old path. InputError where it cannot be put in force."""
    plan, warnings = parse_plan(text, NAME)
    moved = _old_to_new(was, frozen.plan.tree, plan.tree)
    before = _cycle(frozen.under(frozen.plan, {}).books, frozen.now)
    after = _cycle(frozen.under(plan, moved).books, frozen.now)
    return Effect(plan, moved, [fault_document(fault) for fault in warnings], diff(before, after, moved))


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
    return Fault("unknown-consumer", what, "write NEW PATH: OLD PATH, each with all above it", ("was", key))


def _cycle(books: Mapping[str, Books], now: int) -> Cycle:
    results = {group: run(book, now) for group, book in books.items()}
    decisions = [decision_document(result) for result in results.values()]
    document: Document = {
        "now": format_instant(now),
        "resource_groups": {group: group_document(result) for group, result in results.items()},
    }
    document |= {
        name: [row for each in decisions for row in each[name]] for name in ("grants", "reclaims", "withdrawn")
    }
    return Cycle(results, (), State(now=now), document)


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
