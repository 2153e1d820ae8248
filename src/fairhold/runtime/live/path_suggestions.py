"""Suggests the consumer that was meant by a path that the plan does not have."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairhold.errors import InputError

if TYPE_CHECKING:
    from fairhold.model.tree import ConsumerTree

COMPARED = 1_000
"""Consumers beside one another that are compared: it is the desk that does it."""
LONGEST = 1_000
_ABOUT_CONSUMERS = frozenset({"not-a-leaf", "unknown-consumer"})
_NAMED = 5


def better(error: InputError, tree: ConsumerTree, path: str) -> InputError:
    """A refusal of a path with the consumer that was probably meant; any other as it is."""
    if error.faults[0].code not in _ABOUT_CONSUMERS:
        return error
    mend = suggestion(tree, path)
    return InputError([replace(fault, mend=mend or fault.mend) for fault in error.faults])


def suggestion(tree: ConsumerTree, path: str) -> str:
    """How to mend a path that is not a consumer, or not a leaf; empty where no name is similar."""
    if len(path) > LONGEST:
        return ""
    row = tree.rows.get(path)
    if row is not None:
        below = [tree.paths[child] for child in tree.children[row][:_NAMED]]
        return f"name a leaf below it, as {', '.join(f'`{each}`' for each in below)}" if below else ""
    found = _meant(tree, "/" + path.strip("/"))
    return f"did you mean `{found}`?" if found else ""


def _meant(tree: ConsumerTree, whole: str) -> str:
    if whole in tree.rows:
        return whole
    lower = whole.lower()
    ends = [each for each in tree.paths if each.lower().endswith(lower)]
    if len(ends) == 1:
        return ends[0]
    head = whole.rpartition("/")[0]
    while head and head not in tree.rows:
        head = head.rpartition("/")[0]
    beside = [tree.paths[child] for child in tree.children[tree.rows[head or "/"]][:COMPARED]]
    return next(iter(get_close_matches(whole, beside, n=1)), "")
