"""What a plan says of a consumer, as words in the columns of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.settings_format import said, word
from fairhold.drawing.table import OWNS
from fairhold.model.plan import ConsumerSettings, PolicySettings
from fairhold.model.vector import own_document
from fairhold.units import UNLIMITED, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.vector import Owning

Cells = dict[str, tuple[str, ...]]
NOTHING = ConsumerSettings()


def common_cells(plan: Plan, stated: ConsumerSettings, node: int) -> Cells:
    """Rank and grace, where they are said for this consumer."""
    rank = plan.tree.rank[node] if stated.rank is None else stated.rank
    grace = plan.tree.grace[node] if stated.grace is None else stated.grace
    return _present(
        {
            "rank": None if rank is None else str(rank),
            "reclaim_grace": None if grace is None else format_duration(grace),
        }
    )


def slot_cells(stated: ConsumerSettings) -> Cells:
    """What is said in slots."""
    return _present(
        {
            "owned": str(stated.owned) if stated.owned else None,
            "reserved": str(stated.reserved) if stated.reserved else None,
            "limit": None if stated.limit >= UNLIMITED else str(stated.limit),
            "share_ratio": None if stated.share_ratio is None else str(stated.share_ratio),
        }
    )


def vector_cells(plan: Plan, entry: PolicyEntry, stated: ConsumerSettings) -> Cells:
    """What is said of pools, and of what is owned."""
    limit = word("share_limit", stated.share_limit, plan.tree.paths, plan.resources) or {}
    grace = stated.private_pool_grace
    cells = _present(
        {
            "share_priority": str(stated.share_priority) if stated.share_priority else None,
            "share_ratio": None if stated.share_ratio is None else str(stated.share_ratio),
            "private_pool_grace": None if grace is None else format_duration(grace),
        }
    )
    if isinstance(limit, dict) and limit:
        cells["share_limit"] = tuple(f"{name} {amount}" for name, amount in limit.items())
    lines = [line for each in stated.own for line in _own_lines(plan, each, is_one=len(entry.resource_groups) == 1)]
    return cells | ({OWNS: tuple(lines)} if lines else {})


def queue_cells(stated: ConsumerSettings) -> Cells:
    """How long a queue's work runs before it is taken, and its requests wait before they take."""
    queue = stated.queue
    spans = {
        "reclaim_min_runtime": queue.reclaim_min_runtime,
        "preempt_min_runtime": queue.preempt_min_runtime,
        "preemption_delay": queue.preemption_delay,
        "min_runtime": stated.min_runtime,
    }
    return _present({name: None if span is None else format_duration(span) for name, span in spans.items()})


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


def _present(cells: dict[str, str | None]) -> Cells:
    return {name: (value,) for name, value in cells.items() if value is not None}


def settings_said(settings: PolicySettings, paths: Sequence[str]) -> str:
    """The switches of an entry that are not as usual."""
    usual = said(PolicySettings(), paths)
    return ", ".join(
        f"{key} {_value(value).lower()}" for key, value in said(settings, paths).items() if value != usual[key]
    )
