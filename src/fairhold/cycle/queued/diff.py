"""The effect of a change of plan on queues, by resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]
COMPARED: dict[str, int | None] = {"fair_share": 0, "deserved": 0, "limit": None}
"""What is compared of every resource, with what holds of a queue that is not there."""
_SHOWN = COMPARED | {"allocated": 0}


def is_of_queues(group: Document) -> bool:
    """Whether a resource group of a result is shared by queues: it has amounts in the place of slots."""
    return "amounts" in group


def queues_diff(old: Document, new: Document, name: Callable[[str], str]) -> Document:
    """What a group has, and of every queue the resources of which something differs, `[old, new]` by resource.

    A group that is not shared by queues has none of them.

    old, new : the group under each plan, empty where it is not there
    name     : path under the old plan → path under the new one
    """
    before, after = (group if is_of_queues(group) else {} for group in (old, new))
    if not before and not after:
        return {}
    one = {name(path): (path, values) for path, values in before.get("consumers", {}).items()}
    other = after.get("consumers", {})
    changed: Document = {}
    for path in dict.fromkeys((*other, *one)):
        old_path, was = one.get(path, (path, {}))
        found = _queue(was, other.get(path, {}))
        if found or old_path != path:
            changed[path] = found | ({"was": old_path} if old_path != path else {})
    return {"amounts": [before.get("amounts"), after.get("amounts")], "consumers": changed}


def _queue(was: Document, will: Document) -> Document:
    """Key → resource → [old, new] of one queue; empty where nothing differs."""
    resources = dict.fromkeys((*will.get("fair_share", ()), *was.get("fair_share", ())))
    changed = [
        each
        for each in resources
        if any(_value(was, key, each, none) != _value(will, key, each, none) for key, none in COMPARED.items())
    ]
    return {
        key: {each: [_value(was, key, each, none), _value(will, key, each, none)] for each in changed}
        for key, none in (_SHOWN.items() if changed else ())
    }


def _value(queue: Document, key: str, resource: str, none: int | None) -> object:
    return queue.get(key, {}).get(resource, none)
