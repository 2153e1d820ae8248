"""A state of consumers that another plan calls otherwise, under their new paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.tree import moved_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.planio.values import Value

_PATHS = frozenset({"consumer", "for", "pool", "borrower", "lender"})
"""Keys of a state with the path of a consumer; ids of requests do not begin with `/`."""
_BY_PATH = frozenset({"demand", "allocated", "spent", "spent_resources", "lenders", "stands_on"})
"""Keys with a mapping that has paths as keys."""


def with_new_paths(state: Value, moved: Mapping[str, str]) -> Value:
    """The values of a state file; moved : old path → new path, with all below it."""
    if isinstance(state, list):
        return [with_new_paths(each, moved) for each in state]
    if not isinstance(state, dict):
        return state
    found: dict[str, Value] = {}
    for key, value in state.items():
        if key in _PATHS and isinstance(value, str):
            found[key] = moved_path(value, moved)
        elif key in _BY_PATH and isinstance(value, dict):
            found[key] = {moved_path(path, moved): each for path, each in value.items()}
        else:
            found[key] = with_new_paths(value, moved)
    return found
