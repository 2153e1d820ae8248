"""What a change of plan does to a state: who gains, who loses, what would be reclaimed, by when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Document = dict[str, Any]
_COMPARED = ("owned", "reserve", "limit", "quota")
_SHARED = ("share_ratio", "planned")
"""Values that only consumers have who share by ratio."""
_ABSENT = {"owned": 0, "reserve": 0, "limit": None, "quota": 0, "allocated": 0}


def diff(old: Cycle, new: Cycle) -> Document:
    """Compare one cycle under the plan in force with one under the new plan, on the same state.

    Returns {"resource_groups": {group: {"consumers": {path: {"quota": [old, new], …}}}}: only consumers of which
    something differs}, and "reclaims": the notices of each side that the other does not give, with their deadline.
    """
    groups: Document = {}
    before, after = old.document["resource_groups"], new.document["resource_groups"]
    for group in dict.fromkeys((*before, *after)):
        one = before.get(group, {}).get("consumers", {})
        other = after.get(group, {}).get("consumers", {})
        changed: Document = {}
        for path in dict.fromkeys((*one, *other)):
            was, will = one.get(path, _ABSENT), other.get(path, _ABSENT)
            compared = (*_COMPARED, *(value for value in _SHARED if value in was or value in will))
            if any(was.get(value) != will.get(value) for value in compared):
                changed[path] = {value: [was.get(value), will.get(value)] for value in compared}
                changed[path]["allocated"] = will["allocated"]
        groups[group] = {"consumers": changed}
    return {
        "now": old.document["now"],
        "resource_groups": groups,
        "reclaims": {
            "added": _beyond(new.document["reclaims"], old.document["reclaims"]),
            "removed": _beyond(old.document["reclaims"], new.document["reclaims"]),
        },
    }


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
