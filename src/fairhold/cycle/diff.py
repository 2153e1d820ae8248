"""What a change of plan does to a state: who gains, who loses, what would be reclaimed, by when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.diff import owners_diff, pools_diff
from fairhold.cycle.queued.diff import is_of_queues, queues_diff
from fairhold.model.tree import moved_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.document import Cycle

Document = dict[str, Any]
_COMPARED = ("owned", "reserve", "limit", "quota")
_SHARED = ("share_ratio", "planned")
"""Values that only consumers have who share by ratio."""
_ABSENT = {"owned": 0, "reserve": 0, "limit": None, "quota": 0, "allocated": 0}


def diff(old: Cycle, new: Cycle, moved: Mapping[str, str] | None = None) -> Document:
    """Compare one cycle under the plan in force with one under the new plan, on the same state.

    What the plans themselves say otherwise is told by `stated.differences`.

    Returns {"resource_groups": {group: {"consumers": {path: {"quota": [old, new], …}}}}: only consumers of which
    something differs}, and "reclaims": the notices of each side that the other does not give, with their deadline.
    Where pools are shared also "pools", and "ownership": what changes hands (see `pooled.diff`). Of queues every
    value is by resource, and the group has "amounts" (see `queued.diff`).

    moved : old path → new path of consumers that the new plan calls otherwise, with all below them; each stands under
            its new path, also where nothing else differs, with the old one as "was"
    """
    name = _Names(moved or {})
    groups: Document = {}
    one_side, other_side = old.document["resource_groups"], new.document["resource_groups"]
    for group in dict.fromkeys((*one_side, *other_side)):
        was, will = one_side.get(group, {}), other_side.get(group, {})
        of_queues = queues_diff(was, will, name.new)
        groups[group] = of_queues or {"consumers": {}}
        of_slots = _slots_diff({} if is_of_queues(was) else was, {} if is_of_queues(will) else will, name)
        for path, values in of_slots.items():  # who leaves slots for a queue has both
            groups[group]["consumers"][path] = values | groups[group]["consumers"].get(path, {})
    renamed = [name.row(row) for row in old.document["reclaims"]]
    pooled: Document = {}
    has_pools = any(not cycle.queues for side in (old, new) for _, cycle in side.pooled)
    if has_pools:
        pooled["pools"] = pools_diff(old.pooled, new.pooled, name.new)
        before, after = (cycle.document.get("ownership", []) for cycle in (old, new))
        pooled["ownership"] = owners_diff(before, after, name.new)
    return {
        "now": old.document["now"],
        "resource_groups": groups,
        "reclaims": {
            "added": _beyond(new.document["reclaims"], renamed),
            "removed": _beyond(renamed, new.document["reclaims"]),
        },
    } | pooled


def _slots_diff(old: Document, new: Document, name: _Names) -> Document:
    """Consumers of a group that is shared in slots, of whom something differs."""
    found = old.get("consumers", {})
    one = {name.new(path): values for path, values in found.items()}
    olds = {name.new(path): path for path in found}
    other = new.get("consumers", {})
    changed: Document = {}
    for path in dict.fromkeys((*one, *other)):
        was, will = one.get(path, _ABSENT), other.get(path, _ABSENT)
        old_path = olds.get(path, path)
        compared = (*_COMPARED, *(value for value in _SHARED if value in was or value in will))
        if old_path != path or any(was.get(value) != will.get(value) for value in compared):
            changed[path] = {value: [was.get(value), will.get(value)] for value in compared}
            changed[path]["allocated"] = will["allocated"]
            if old_path != path:
                changed[path]["was"] = old_path
    return changed


class _Names:
    """What consumers of the plan in force are called by the new one."""

    def __init__(self, moved: Mapping[str, str]) -> None:
        self._moved = moved

    def new(self, path: str) -> str:
        """The new path."""
        return moved_path(path, self._moved)

    def row(self, row: Document) -> Document:
        """A notice with the new paths of who gives and who gets."""
        return row | {key: self.new(row[key]) for key in ("consumer", "for") if row.get(key)}


def _beyond(rows: list[Document], others: list[Document]) -> list[Document]:
    """Units of `rows`, by holder, that `others` do not reclaim as well."""

    def key(row: Document) -> tuple[str | None, ...]:
        return row["consumer"], row["resource_group"], row.get("request"), row.get("host")

    spent: dict[tuple[str | None, ...], int] = {}
    for row in others:
        spent[key(row)] = spent.get(key(row), 0) + row["units"]
    beyond = []
    for row in rows:
        covered = min(row["units"], spent.get(key(row), 0))
        spent[key(row)] = spent.get(key(row), 0) - covered
        if row["units"] > covered:
            beyond.append(row | {"units": row["units"] - covered})
    return beyond
