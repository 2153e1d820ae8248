"""Where a setting stands in a plan: what `/Trading:owned`, `settings:victims` and `compute:slots` mean."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from fairhold.planio.consumers import KEYS as TREE_KEYS
from fairhold.planio.installed import all_policies
from fairhold.planio.report import listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.errors import Place

SETTINGS, SLOTS = "settings", "slots"
Node = dict[str, Any]


class NoPlaceError(ValueError):
    """A plan has no such place.

    what, mend : what is wrong, and how to mend it
    """

    def __init__(self, what: str, mend: str) -> None:
        self.what, self.mend = what, mend
        super().__init__(f"{what}; {mend}")


def places_of(plan: Mapping[str, Any], where: str, key: str, only: Sequence[int] | None = None) -> list[Place]:
    """Places of the mappings that a setting is written in.

    where : path of a consumer, `settings` of the policy entries, or the name of a resource group
    key   : the setting
    only  : positions of the policy entries that are meant, None = all

    Of a consumer these are all entries that name it and whose policy reads the setting. Where none names it, its own
    place in the tree if the setting stands there, else the first entry whose policy reads it, one that names somebody
    of its first-level branch before others. Raises NoPlaceError.
    """
    if where == SETTINGS:
        return [("policies", at, SETTINGS) for at in _entries(plan, key, "settings", only)]
    if where.startswith("/"):
        reading = _entries(plan, key, "keys", only)
        named = {at: plan["policies"][at].get("consumers") or {} for at in reading}
        naming = [at for at in reading if where in named[at]]
        in_tree = _in_tree(plan, where, key) if only is None and not naming else None
        if in_tree:
            return [in_tree]
        branch = where.split("/")[1]
        near = [at for at in reading if any(path.split("/")[1:2] == [branch] for path in named[at])]
        return [("policies", at, "consumers", where) for at in naming or (near or reading)[:1]]
    groups = plan.get("resource_groups")
    group = groups.get(where) if isinstance(groups, dict) else None
    if only is not None or not isinstance(group, dict):
        raise NoPlaceError(
            f"`{shown(where)}` is not a setting of the plan", nearest(where, groups or (), "resource group")
        )
    if key == SLOTS and SLOTS not in group:
        raise NoPlaceError(f"`{shown(where)}` has hosts or totals, and no `slots`", "name another group or key")
    return [("resource_groups", where)]


def node_at(document: Node, place: Place) -> Node:
    """The mapping at a place; mappings are made where none is."""
    node: Any = document
    for step in place:
        if isinstance(node, list):
            node = node[int(step)]
            continue
        if not isinstance(node.get(step), (dict, list)):
            node[step] = {}
        node = node[step]
    found: Node = node
    return found


def nearest(name: str, known: Iterable[str], kind: str) -> str:
    """How to mend a name that is not known."""
    names = list(known)
    close = get_close_matches(name, names[:5000], n=1)
    if close:
        return f"did you mean `{shown(close[0])}`?"
    return f"name a {kind}: {listed(names[:10])}" if names else f"there is no {kind}"


def entries_of_window(plan: Mapping[str, Any], window: str) -> list[int]:
    """Positions of the entries of a window, written as in the plan; empty = of those that have none."""
    policies = plan.get("policies")
    entries = [each if isinstance(each, dict) else {} for each in policies] if isinstance(policies, list) else []
    windows = [" ".join(str(each.get("window") or "").split()) for each in entries]
    found = [at for at, each in enumerate(windows) if each == " ".join(window.split())]
    if not found:
        what = f"no policy entry has the window `{shown(window)}`" if window else "every policy entry has a window"
        raise NoPlaceError(what, nearest(window, [each for each in dict.fromkeys(windows) if each], "window"))
    return found


def _entries(
    plan: Mapping[str, Any], key: str, part: Literal["settings", "keys"], only: Sequence[int] | None
) -> list[int]:
    """Positions of the entries whose policy reads a setting, or of those of them that are meant."""
    keys_of = {name: getattr(policy, part) for name, policy in all_policies().items()}
    policies = plan.get("policies")
    entries = policies if isinstance(policies, list) else []
    if only is not None and only[-1] >= len(entries):
        raise NoPlaceError(f"there is no policies[{only[-1]}]", f"the plan has {len(entries)} of them, from 0 on")
    read = {
        at: keys_of.get(str(each.get("policy")), ())
        for at, each in enumerate(entries)
        if isinstance(each, dict) and (only is None or at in only)
    }
    found = [at for at, keys in read.items() if key in keys]
    if not found:
        known = list(dict.fromkeys(word for keys in read.values() for word in keys))
        others = [policy for policy, keys in keys_of.items() if key in keys]
        what = f"no policy of the plan reads `{shown(key)}`"
        if only is not None:
            what = f"the policy of policies[{only[0]}] does not read `{shown(key)}`"
        raise NoPlaceError(f"{what}; {listed(others)} would" if others else what, nearest(key, known, "setting"))
    return found


def _in_tree(plan: Mapping[str, Any], path: str, key: str) -> Place | None:
    """Where a consumer states a setting in the tree itself, nested or by path."""
    if key not in TREE_KEYS:
        return None
    tree = plan.get("consumers")
    node: Any = tree
    found: Mapping[str, Any] = {}
    place: list[str] = []
    for name in [path] if isinstance(tree, dict) and path in tree else path[1:].split("/"):
        place += ["consumers", name]
        node = node.get(name) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            return None
        found, node = node, node.get("consumers")
    return tuple(place) if key in found else None
