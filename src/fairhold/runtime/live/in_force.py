"""The plan in force of a live service, and what takes its place: another plan, the one before, other nodes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.orchestrator.events import MachineSilent
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import forget_machines, put_in_force
from fairhold.planio.nodes import nodes_document, take_nodes, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.ports import PlanVersion
from fairhold.runtime.live.closings import LATER, MOST_RETURNS, Return
from fairhold.runtime.live.journal import NODES, PLAN_APPLIED
from fairhold.runtime.live.windows import windows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan
    from fairhold.runtime.live.core import Core

_LOG = logging.getLogger("fairhold")


def apply(
    core: Core,
    text: str,
    said: tuple[str, str],
    *,
    until: int = 0,
    moved: Mapping[str, str] | None = None,
    plan: Plan | None = None,
) -> int:
    """Put another plan in force; see `Core.apply_plan`. said: author and comment."""
    moved = dict(moved or {})
    returns: tuple[Return, ...] = ()
    if until:
        returns = (Return(until, core.version, {new: old for old, new in moved.items()}), *core.returns)
    if len(returns) > MOST_RETURNS:
        what = f"the limit `plans_for_a_time` is {MOST_RETURNS}, of plans that are in force for a time"
        raise InputError([Fault("too-many", what, "wait until one has ended, or apply this one without `--for`")])
    plan = plan or parse_plan(text, "the new plan", places=True)[0]
    return _put(core, plan, _version(core, *said, text), moved, returns)


def come_back(core: Core, due: Return, *later: Return) -> None:
    """The time of a plan is over: the one before comes back, with the jobs that moved; else it is tried later."""
    found = core.store.plan(due.version)
    assert found is not None
    said = _version(core, "fairhold", f"plan {due.version} comes back", found.text)
    try:  # what an earlier version wrote may be no plan for this one
        plan = parse_plan(found.text, f"plan {due.version}")[0]
        _put(core, plan, said, due.moved, later)
    except InputError as error:
        _LOG.warning("plan %s cannot come back yet: %s", due.version, error)
        core.returns = (due._replace(at=core.now() + LATER), *later)


def change_nodes(core: Core, changed: Mapping[str, Node | None]) -> bool:
    """Nodes of the cluster came, changed or went (None): what the plan says of nodes holds for those there are now.

    Returns whether anything is different.
    """
    different = {name: node for name, node in changed.items() if core.nodes.get(name) != node}
    if not different:
        return False
    now = core.now()
    take_nodes(core.nodes, different)
    plan = with_nodes(core.plan, core.nodes.values())
    put_in_force(core.cluster, open_cluster_books(plan, now))
    forget_machines(core.cluster, core.nodes)
    core.usage.end_span(now)
    core.journal.note_entry([NODES, nodes_document(different), windows_of(core.cluster)], now)
    _go_on(core, plan, now)
    return True


def _version(core: Core, author: str, comment: str, text: str) -> PlanVersion:
    return PlanVersion(core.version + 1, core.now(), author, comment, text, core.version)


def _put(core: Core, plan: Plan, said: PlanVersion, moved: Mapping[str, str], returns: tuple[Return, ...]) -> int:
    now, version = said.at, said.version
    plan = with_nodes(plan, core.nodes.values())
    put_in_force(core.cluster, open_cluster_books(plan, now), moved)
    core.usage.end_span(now)
    kept = said._replace(until=returns[0].at if returns else 0)
    core.journal.note_entry([PLAN_APPLIED, version, moved, returns, windows_of(core.cluster)], now)
    core.journal.write(lambda batch: batch.put_plan(kept))
    core.version, core.returns = version, returns
    _go_on(core, plan, now)
    return version


def _go_on(core: Core, plan: Plan, now: int) -> None:
    """Continue with what is in force now; a new host starts nothing before its machine has reported."""
    core.use(plan, core.cluster)
    core.usage.plan_changed(core.cluster, now)
    for machine in sorted(core.machines() - core.cluster.machines.keys()):
        core.feed(MachineSilent(machine))
