"""What a plan would do to the live cluster: its faults, its warnings, who gains and who loses."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from fairhold.access.permissions import Permission
from fairhold.access.plan_scope import beyond
from fairhold.cycle.plan_timeline import Assumed
from fairhold.errors import Fault, InputError
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.in_use import InUseError
from fairhold.planio.balances import balance_document, balances
from fairhold.planio.document import parse_document
from fairhold.planio.nodes import with_hosts, with_labels, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.people import dead_bindings
from fairhold.runtime.live.views.state import live_state
from fairhold.service.plan_hosts import hosts_told
from fairhold.service.problems import fault_document
from fairhold.sim.effect import Standing, effect_of, effect_over_time
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.access.document import Access
    from fairhold.access.rights import Rights
    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan
    from fairhold.model.tree import ConsumerTree
    from fairhold.ports import PlanVersion
    from fairhold.runtime.live.core import Core
    from fairhold.service.context import Service

    Document = dict[str, Any]

NAME = "the new plan"
_MOST_PLACES = 5
"""Places that are told of a change that goes too far."""
SLICE = 1_000
"""Jobs that are taken at once while the desk waits: some milliseconds."""


class Frozen:
    """The live cluster at one instant, with which others can count while it goes on; after the last `step`.

    nodes : of the cluster that it governs, of which plans take their hosts
    """

    nodes: tuple[Node, ...]

    def __init__(self, core: Core) -> None:
        """Begin to take it; in the desk's thread."""
        self.plan = core.plan
        self.now = core.now()
        self.version = core.version
        self._own, self.nodes = core.own, tuple(core.nodes.values())
        self._labels = {name: machine.labels for name, machine in core.cluster.machines.items()}
        self._freezing = Freezing(core.cluster)

    def step(self, _core: Core) -> bool:
        """Take the next slice, in the desk's thread; False when all is taken."""
        return self._freezing.step(SLICE)

    def with_hosts(self, plan: Plan) -> Plan:
        """A plan with all hosts that there are and what machines say of them, for what reads a state file."""
        return with_labels(with_nodes(plan, self.nodes), self._labels)

    def standing(self) -> Standing:
        """All of it."""
        return Standing(self.plan, self.now, self._freezing.document(), self._own)


async def frozen_of(service: Service) -> Frozen:
    """The cluster at one instant. The desk gives it a slice at a time, between what others ask."""
    frozen = await service.read(Frozen)
    while await service.read(frozen.step):
        pass
    return frozen


async def at_hand(service: Service) -> tuple[Frozen, str]:
    """The cluster at one instant, and the text of its plan."""
    frozen = await frozen_of(service)
    plan = await asyncio.to_thread(service.store.plan, frozen.version)
    assert plan is not None, "the plan in force is kept"
    return frozen, plan.text


def plan_check(text: str) -> Document:
    """Faults, warnings and balances of a plan."""
    try:
        plan, warnings = parse_plan(text, NAME, places=True)
    except InputError as error:
        return {"faults": [fault_document(fault) for fault in error.faults], "warnings": [], "balances": []}
    return {
        "faults": [],
        "warnings": [fault_document(fault) for fault in warnings],
        "balances": [balance_document(plan, row) for row in balances(plan)],
    }


class Effect(NamedTuple):
    """What a plan would do.

    moved    : old path → new path
    warnings : of its text
    diff     : what it says otherwise, what the next cycle and those at the coming windows would do otherwise and, where
               it was asked for, what becomes of the work over time; and what is in its way
    """

    plan: Plan
    moved: dict[str, str]
    warnings: list[Document]
    diff: Document


class Look(NamedTuple):
    """How far a comparison of plans looks.

    ahead      : microseconds
    checkpoint : microseconds between two states that tasks save, 0 = none is known
    is_played  : whether the cluster is played on, too
    is_strict  : whether jobs that keep the plan from being in force are an error; else they count as cancelled
    """

    ahead: int
    checkpoint: int = 0
    is_played: bool = True
    is_strict: bool = True


class Scope(NamedTuple):
    """Who wants a plan in force, and the access document, which the plan may leave with dead bindings."""

    rights: Rights
    access: Access

    def check(self, old: Plan, new: Plan, moved: Mapping[str, str]) -> None:
        """Raise InputError `not-allowed` where the change goes beyond what is below his part of the tree."""
        paths = self.rights.paths.get(Permission.EDIT_PLAN, ())
        found = [outside.text() for outside in islice(beyond(old, new, moved, paths), _MOST_PLACES)]
        if found:
            where = ", ".join(f"`{path}`" for path in paths) or "nothing"
            what = f"`{self.rights.user}` may change what is below {where}, and this changes more: {'; '.join(found)}"
            mend = "leave these places as they are, or ask a plan editor of a consumer above"
            raise InputError([Fault("not-allowed", what, mend)])


def plan_effect(frozen: Frozen, text: str, was: Mapping[str, str], look: Look, scope: Scope | None = None) -> Effect:
    """What a plan would do now and in the time to come; InputError where it cannot be in force.

    was   : new path → old path
    scope : who wants it; None = somebody who only looks
    """
    plan, warnings = parse_plan(text, NAME, places=True)
    plan = with_nodes(plan, frozen.nodes)
    moved = _old_to_new(was, frozen.plan.tree, plan.tree)
    if scope is not None:
        scope.check(frozen.plan, plan, moved)
        warnings = (*warnings, *dead_bindings(scope.access, plan.tree, frozen.plan.tree))
    standing = left = frozen.standing()
    obstacles: tuple[Fault, ...] = ()
    try:
        found = effect_of(standing, plan, moved, look.ahead)
    except InUseError as error:
        if look.is_strict:
            raise
        obstacles, left = error.faults, standing.without(error.jobs)
        found = effect_of(standing, plan, moved, look.ahead, left=left)
    if look.is_played:
        found["over_time"] = _over_time(standing, plan, moved, look, left)
    if obstacles:
        found["in_the_way"] = [fault_document(fault) for fault in obstacles]
    told = [*warnings, *hosts_told(standing, plan)]
    return Effect(plan, moved, [fault_document(fault) for fault in told], found)


def work_over_time(frozen: Frozen, effect: Effect, look: Look) -> Document:
    """What becomes of the work under a plan that nothing keeps from being in force, as it stood before."""
    return _over_time(frozen.standing(), effect.plan, effect.moved, look)


def _over_time(
    standing: Standing, plan: Plan, moved: Mapping[str, str], look: Look, left: Standing | None = None
) -> Document:
    assumed = Assumed(checkpoint=look.checkpoint)
    return effect_over_time(standing, plan, moved, look.ahead, left=left, assumed=assumed)


def state_now(frozen: Frozen, text: str) -> Document:
    """The live state as a state file has it, with the version of the plan that it goes with; text: of that.

    `plan_text`: the plan with all hosts, where the text does not say them as they are, else None
    """
    standing = frozen.standing()
    plan = frozen.with_hosts(standing.plan)
    found = live_state(plan, standing.under(plan, {}), standing.now)
    whole = None
    if plan != standing.plan or any(group.selector is not None for group in plan.resource_groups.values()):
        document = parse_document(text, NAME).value
        assert isinstance(document, dict), "it is in force"
        whole = yaml.safe_dump(with_hosts(document, plan), sort_keys=False, allow_unicode=True)
    return {"plan": frozen.version, "plan_text": whole} | found


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
            faults.append(Fault("duplicate-key", what, "leave one of them out", ("was", new)))
        moved[old] = new
    if faults:
        raise InputError(faults)
    return moved


def _stranger(path: str, where: str, key: str) -> Fault:
    what = f"{where} has no consumer `{path}`"
    return Fault(
        "unknown-consumer",
        what,
        "write NEW=OLD with full paths: NEW as in the new plan, OLD as in the plan in force",
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
