"""A plan with changes: the results before and after, what differs, whether it was computed right, and why."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import quota_document
from fairhold.cycle.verify import verify
from fairhold.errors import Fault, InputError
from fairhold.lab.explorer.changes import CODE, apply, of_all_windows, parse_change
from fairhold.lab.explorer.numbers import differences
from fairhold.planio.document import parse_document
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import shown
from fairhold.planio.state import parse_state
from fairhold.runtime.explained import of_pools, of_slots
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.cycle.verify import Finding
    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
MOST = 1_000
"""Changes at once at most."""
NAMED = 5
"""So many changes are named where any of them can be what is at fault."""
_PLAN, _STATE = "the changed plan", "the state with the changed plan"


@dataclass(frozen=True, slots=True)
class Explored:
    """What comes of some changes.

    plan_document, state_document : with the changes
    plan, state : of those
    warnings    : about the changed plan
    quotas      : as `fairhold quota --json`
    differences : every number that differs from before, see `numbers.differences`
    findings    : what the independent check objects to
    """

    plan_document: Document
    state_document: Document
    plan: Plan
    state: State
    warnings: tuple[Fault, ...]
    quotas: Document
    differences: list[Document]
    findings: tuple[Finding, ...]

    def changed(self) -> list[str]:
        """Paths of the consumers of whom any number differs, in plan order."""
        paths = {row.get("consumer") for row in self.differences}
        return [path for path in self.plan.tree.paths if path in paths]


class Explorer:
    """One plan and one state, and what comes of changes of them; nothing in it ever changes."""

    def __init__(
        self,
        plan: str,
        plan_name: str,
        state: str,
        state_name: str,
        hosts: Callable[[Plan], Plan] = lambda plan: plan,
    ) -> None:
        """Read both.

        plan, state : texts, YAML or JSON; names of their files, as faults show them
        hosts       : gives a plan the hosts that it does not say, nodes of a cluster

        Raises InputError with all faults.
        """
        found, self.warnings = parse_plan(plan, plan_name)
        self.plan, self._hosts = hosts(found), hosts
        self.state = parse_state(state, self.plan, state_name)
        self.plan_document: Document = _mapping(plan, plan_name)
        self.state_document: Document = _mapping(state, state_name)
        self.quotas = quota_document(self.plan, self.state)

    def explore(self, changes: Sequence[str]) -> Explored:
        """What comes of changes, made one after the other; raises InputError, and nothing has happened then."""
        if len(changes) > MOST:
            raise InputError([Fault(CODE, f"there are {len(changes):,} changes", f"make {MOST:,} at most at once")])
        documents = deepcopy(self.plan_document), deepcopy(self.state_document)
        written: dict[str, list[Place]] = {}
        spread: list[Fault] = []
        for text in changes:
            change = parse_change(text)
            spread += of_all_windows(change, documents[0])
            places = apply(change, *documents, self.plan)
            written[text] = written.get(text, []) + places
        plan_document, state_document = documents
        try:
            plan, warnings = parse_plan(json.dumps(plan_document), _PLAN)
            plan = self._hosts(plan)
            state = parse_state(json.dumps(state_document), plan, _STATE)
        except InputError as error:
            raise InputError(told(error.faults, written, _named(changes))) from None
        quotas = quota_document(plan, state)
        found = differences(self.quotas, quotas)
        checked = verify(plan, state, quotas)
        warned = (*spread, *told(warnings, written))
        return Explored(plan_document, state_document, plan, state, warned, quotas, found, checked)

    def why(self, path: str, explored: Explored | None = None) -> list[Document]:
        """Explanations of a consumer, as `fairhold explain --json`; before any changes, or with some."""
        of = explored or self
        if path not in of.plan.tree.rows:
            raise InputError(
                [Fault("unknown-consumer", f"there is no consumer `{shown(path)}`", "name one by its path")]
            )
        return [*of_slots(of.plan, of.state, path), *of_pools(of.plan, of.state, path)]


def told(faults: Sequence[Fault], written: Mapping[str, Sequence[Place]], otherwise: str = "") -> tuple[Fault, ...]:
    """Faults of a changed document with the change that they come from; it has no lines that anybody has seen.

    written   : change → places that it has written
    otherwise : what is named where no change wrote where the fault is, empty = the document
    """
    return tuple(replace(fault, file=_cause(fault, written, otherwise), line=0, column=0) for fault in faults)


def _cause(fault: Fault, written: Mapping[str, Sequence[Place]], otherwise: str) -> str:
    """The last change that wrote where the fault is, inside it or around it."""
    for text, places in reversed([*written.items()]):
        for place in places:
            common = min(len(place), len(fault.place))
            if fault.place and place[:common] == fault.place[:common]:
                return shown(text)
    return otherwise or fault.file


def _named(changes: Sequence[str]) -> str:
    """All changes, or the first of them."""
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return ", ".join(map(shown, changes[:NAMED])) + more


def nobody_wants(now: int) -> str:
    """A state in which nobody wants or holds anything.

    now : instant, which says what window a plan is in
    """
    return json.dumps({"fairhold_state": 1, "now": format_instant(now)})


def _mapping(text: str, name: str) -> Document:
    found = parse_document(text, name).value
    assert isinstance(found, dict)  # it was read as a plan or a state before
    return found
