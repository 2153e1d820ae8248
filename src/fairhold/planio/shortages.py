"""`shortages:` of a state: which leaves have a deficit since when (SPEC §8; R-CONTROL-2, R-CONTROL-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.state import Shortage
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

SHORTAGE_KEYS = ("consumer", "resource_group", "since", "taking")


def read_shortages(view: StateView, value: Value, now: int) -> tuple[Shortage, ...]:
    """Leaves that miss units, each once in a resource group."""
    report, found = view.report, []
    seen: set[tuple[int, str]] = set()
    for at, item in enumerate(view.items(value, ("shortages",), "leaves with a deficit")):
        place = ("shortages", at)
        node = report.mapping(item, place, what="a leaf with a deficit")
        report.keys(node, SHORTAGE_KEYS, place, {})
        report.missing(node, ("consumer", "since"), place, "an entry of `shortages`")
        since = report.instant(node["since"], (*place, "since")) if "since" in node else 0
        is_taking = report.flag(node.get("taking", False), (*place, "taking"))
        consumer = view.leaf(node["consumer"], (*place, "consumer")) if "consumer" in node else -1
        group = _group_of(view, node, place)
        if now and since > now:
            what = "the deficit begins later than `now`"
            report.fault("later-than-now", what, "give the earlier instant", (*place, "since"))
        elif consumer >= 0 and (consumer, group) in seen:
            what = f"`{shown(view.tree.paths[consumer])}` is listed twice under `shortages`"
            report.fault("listed-twice", what, "leave one out", place)
        elif consumer >= 0 and group:
            seen.add((consumer, group))
            found.append(Shortage(consumer, group, since, is_taking))
    return tuple(found)


def _group_of(view: StateView, node: dict[str, Value], place: Place) -> str:
    """Return the `resource_group` of a row, of slots or shared in vectors; empty with a fault."""
    name = node.get("resource_group")
    is_of_vectors = isinstance(name, str) and name in view.vectors
    return str(name) if is_of_vectors else view.group_of(node, place)
