"""What a plan says of a consumer, as words in the columns of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.settings_format import beside, said, word
from fairhold.drawing.table import OWNS
from fairhold.model.plan import ConsumerSettings, PolicySettings
from fairhold.model.vector import own_document
from fairhold.units import SECOND, format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State
    from fairhold.model.vector import Owning

Cells = dict[str, tuple[str, ...]]
NOTHING = ConsumerSettings()
BUDGET = "budget"
_OF_SLOTS = frozenset({"owned", "reserved", "limit", "share_ratio"})
_OF_POOLS = frozenset({"share_priority", "share_ratio", "share_limit", "private_pool_grace"})
_OF_QUEUES = frozenset({"reclaim_min_runtime", "preempt_min_runtime", "preemption_delay", "min_runtime"})


def slot_cells(plan: Plan, entry: PolicyEntry, stated: ConsumerSettings, node: int) -> Cells:
    """What is said in slots."""
    return _cells(plan, entry, stated, _OF_SLOTS) | _common_cells(plan, stated, node)


def vector_cells(plan: Plan, entry: PolicyEntry, stated: ConsumerSettings, node: int) -> Cells:
    """What is said of pools, and of what is owned."""
    cells = _cells(plan, entry, stated, _OF_POOLS)
    lines = [line for each in stated.own for line in _own_lines(plan, each, is_one=len(entry.resource_groups) == 1)]
    common = _common_cells(plan, stated, node) if node else {}
    return cells | ({OWNS: tuple(lines)} if lines else {}) | common


def queue_cells(plan: Plan, entry: PolicyEntry, stated: ConsumerSettings, node: int) -> Cells:
    """How long a queue's work runs before it is taken, and its requests wait before they take."""
    return _cells(plan, entry, stated, _OF_QUEUES) | _common_cells(plan, stated, node)


def budget_cells(stated: ConsumerSettings, used: Mapping[int, int]) -> Cells:
    """What follows where its budget is used up; used: place of what is counted → base units times microseconds."""
    budget = stated.budget
    return {BUDGET: (f"used up: {budget.then}",)} if budget is not None and budget.is_used_up(used) else {}


def used_of(state: State, node: int) -> dict[int, int]:
    """What a consumer of vectors has used, as `budget_cells` takes it."""
    return {at: amount * SECOND for at, amount in state.spent_amounts.get(node, ())}


def _cells(plan: Plan, entry: PolicyEntry, stated: ConsumerSettings, keys: frozenset[str]) -> Cells:
    """Settings that are not as usual: those of some keys, and all of another package's policy."""
    found: Cells = {}
    for setting in entry.policy.of_consumer:
        value = setting.of(stated)
        if (setting.key in keys or not setting.field) and value != setting.default:
            said_so = word(setting, value, plan.tree.paths, plan.resources)
            if isinstance(said_so, dict):
                found[setting.key] = tuple(f"{name} {each}" for name, each in said_so.items())
            else:
                found[setting.key] = (_value(said_so),)
    return found


def _common_cells(plan: Plan, stated: ConsumerSettings, node: int) -> Cells:
    """Rank and grace, where they are said for this consumer."""
    rank = plan.tree.rank[node] if stated.rank is None else stated.rank
    grace = plan.tree.grace[node] if stated.grace is None else stated.grace
    cells = {"rank": rank, "reclaim_grace": None if grace is None else format_duration(grace)}
    return {name: (str(value),) for name, value in cells.items() if value is not None}


def _own_lines(plan: Plan, own: Owning, *, is_one: bool) -> tuple[str, str]:
    """What is owned, and under it on which terms; is_one: of the only group that there is."""
    said = own_document(plan.resources, own)
    where = "" if is_one else f"{own.resource_group}: "
    terms = [] if own.preference is None else [f"preference {own.preference}"]
    if own.reserved:
        terms.append("reserved")
    else:
        terms.append("lent" if own.lend_grace is None else f"lent, lend_grace {format_duration(own.lend_grace)}")
    if own.reclaim_before_next_level:
        terms.append("taken back first")
    return where + _what(own, said), " · ".join(terms)


def _what(own: Owning, said: dict[str, object]) -> str:
    """How much is owned."""
    if own.hosts is not None:
        return "1 host" if own.hosts == 1 else f"{own.hosts} hosts"
    if own.per_host or own.total:
        return f"per host {_value(said['per_host'])}" if own.per_host else f"in all {_value(said['total'])}"
    if own.names:
        return f"host{'s' if own.names[1:] else ''} {_value(said['hosts'])}"
    return "the remaining hosts" if own.remaining else f"{said['hosts']} of the hosts"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def settings_said(entry: PolicyEntry, paths: Sequence[str]) -> str:
    """The switches of an entry that are not as usual."""
    own = beside(entry.policy.of_entry)
    usual = said(PolicySettings(), paths, settings=own)
    return ", ".join(
        f"{key} {_value(value).lower()}"
        for key, value in said(entry.settings, paths, settings=own).items()
        if value != usual[key]
    )
