"""Names and paths: what they may look like and which one was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report

NAME_MEND = "use letters, digits and marks other than `/`, with spaces only in between"
COMPARED = 5_000
"""Among how many siblings a close name is looked for."""


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a consumer, group or host; empty where nothing is."""
    if name.isalnum():
        return ""
    if not name:
        return "a name is empty"
    if "/" in name:
        return f"the name `{shown(name)}` holds a `/`"
    if not name.isprintable():
        return f"the name `{shown(name)}` holds a character that cannot be printed"
    if name[0] == " " or name[-1] == " " or name.strip() != name:
        return f"the name `{shown(name)}` starts or ends with a space"
    return ""


def check_name(report: Report, name: str, place: Place) -> None:
    """Refuse what cannot be a name."""
    wrong = name_fault(name)
    if wrong:
        report.fault("name", wrong, NAME_MEND, place)


def find_leaf(report: Report, tree: ConsumerTree, path: str, place: Place) -> int:
    """Return the row of a leaf; a fault and -1 where the path is not a leaf."""
    row = tree.rows.get(path, -1)
    if row < 0:
        unknown_path(report, tree, path, place)
    elif not tree.is_leaf(row):
        what = f"`{shown(path)}` is not a leaf, and only leaves can have requests"
        children = tree.children[row]
        mend = f"name a leaf below it, as `{shown(tree.paths[children[0]])}`" if children else "name a leaf"
        report.fault("not-a-leaf", what, mend, place)
        return -1
    return row


def unknown_path(report: Report, tree: ConsumerTree, path: str, place: Place) -> None:
    """Refuse a path that the plan does not have, with the one that was meant."""
    what = f"there is no consumer `{shown(path)}`"
    report.fault("unknown-consumer", what, _suggest_path(report, tree, path), place)


def _suggest_path(report: Report, tree: ConsumerTree, path: str) -> str:
    """Compare the first unknown step of the path with what stands beside it."""
    otherwise = "name a consumer under `consumers:` in the plan, by its full path"
    for plain in (f"/{path}", path.rstrip("/")):
        if tree.rows.get(plain, 0):
            return f"did you mean `{shown(plain)}`?"
    row, rest = 0, path.strip("/").split("/")
    while len(rest) > 1:
        above = f"{tree.paths[row].rstrip('/')}/{rest[0]}"
        if above not in tree.rows:
            break
        row, rest = tree.rows[above], rest[1:]
    beside = {tree.name[child]: child for child in tree.children[row][:COMPARED]}
    hint = report.suggest(rest[0], beside)
    if not hint:
        return otherwise
    close = next(name for name in beside if hint == f"did you mean `{shown(name)}`?")
    whole = "/".join((tree.paths[beside[close]], *rest[1:]))
    return f"did you mean `{shown(whole if whole in tree.rows else tree.paths[beside[close]])}`?"
