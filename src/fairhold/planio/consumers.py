"""`consumers:` → the tree, nested or by path (SPEC §11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.tree import ROOT, ConsumerTree
from fairhold.planio.names import NAME_MEND, name_fault
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

KEYS = ("rank", "reclaim_grace", "consumers")
NOT_HERE = {"min_runtime": "`min_runtime` is"}
ENTRY_ONLY = (
    *("owned", "reserved", "limit", "share_ratio", "lend_to", "borrow_from"),
    *("own", "share_priority", "share_limit", "private_pool_grace"),
)
MOST_CHARACTERS = 500_000_000
"""Bound on the lengths of all paths together, so that a small file cannot make a huge tree."""


class TreeBuilder:
    """Rows of the tree, parents before children, siblings in plan order."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.name = [""]
        self.parent = [-1]
        self.rank: list[int | None] = [None]
        self.grace: list[int | None] = [None]
        self.characters = 0

    def add(self, name: str, parent: int, length: int) -> int:
        """Add a new row with a path of `length` characters."""
        self.name.append(name)
        self.parent.append(parent)
        self.rank.append(None)
        self.grace.append(None)
        self.characters += length
        return len(self.name) - 1

    def is_full(self) -> bool:
        """Whether the tree may not grow on."""
        return self.characters > MOST_CHARACTERS

    def check_room(self) -> None:
        """Report a tree that was cut off."""
        if not self.is_full():
            return
        what = f"the paths of all consumers have more than {MOST_CHARACTERS:,} characters in total"
        self.report.fault("tree-too-large", what, "use shorter names or fewer levels", ("consumers",))

    def settle(self) -> ConsumerTree:
        """Return the tree."""
        return ConsumerTree(self.name, self.parent, self.rank, self.grace)

    def settings(self, row: int, value: Value, place: Place) -> None:
        """Read what a consumer states about itself, its children apart."""
        for key, stated in self.report.mapping(value, place, what="the settings of a consumer").items():
            if key == "rank":
                self.rank[row] = self.report.whole(stated, (*place, key))
            elif key == "reclaim_grace":
                self.grace[row] = self.report.duration(stated, (*place, key))
            elif key in ENTRY_ONLY:
                what, mend = f"`{key}` depends on the policy", "write it under `policies:`, `consumers:` with the path"
                self.report.fault("wrong-place", what, mend, (*place, key))
            elif key != "consumers":
                self.report.unknown_key(key, KEYS, (*place, key), NOT_HERE)


def read_consumers(report: Report, value: Value) -> ConsumerTree:
    """Read the tree of `consumers:`; a part at fault is left away."""
    top = report.mapping(value, ("consumers",), what="the consumers")
    builder = TreeBuilder(report)
    if not top:
        report.fault("missing-key", "the plan has no consumers", "add `consumers: {NAME: {}}`", ("consumers",))
    elif any(key.startswith("/") for key in top):
        _read_paths(builder, top)
    else:
        _read_nested(builder, top)
    builder.check_room()
    return builder.settle()


def _read_nested(builder: TreeBuilder, top: dict[str, Value]) -> None:
    """Read a tree of mappings, in preorder and without recursion."""
    report = builder.report
    todo: list[tuple[int, int, Place, Iterator[tuple[str, Value]]]] = [(ROOT, 0, ("consumers",), iter(top.items()))]
    while todo and not builder.is_full():
        above, length, place, rest = todo[-1]
        member = next(rest, None)
        if member is None:
            todo.pop()
            continue
        name, value = member
        here = (*place, name)
        wrong = name_fault(name)
        if wrong:
            report.fault("name", wrong, NAME_MEND, here)
            continue
        row = builder.add(name, above, length + 1 + len(name))
        builder.settings(row, value, here)
        inner = value.get("consumers") if isinstance(value, dict) else None
        if inner is not None:
            below = report.mapping(inner, (*here, "consumers"), what="the consumers below this one")
            todo.append((row, length + 1 + len(name), (*here, "consumers"), iter(below.items())))


def _read_paths(builder: TreeBuilder, top: dict[str, Value]) -> None:
    """Read a tree keyed by paths: parents first, or left out where they state nothing."""
    report, rows = builder.report, {"": ROOT}
    for path, value in top.items():
        if builder.is_full():
            return
        place = ("consumers", path)
        wrong = _path_fault(path, rows)
        if wrong:
            report.fault(*wrong, place)
            continue
        row = rows.get(path, -1)
        if row < 0:
            row = _add_path(builder, rows, path)
        else:
            # A row that is known by now was added for the path of a descendant; the next row is its child.
            what = f"`{shown(path)}` comes after a consumer below it, `{shown(builder.name[row + 1])}`"
            report.fault("parent-after-child", what, "write it before them, so that the plan order is clear", place)
        if value:
            builder.settings(row, value, place)
            if isinstance(value, dict) and "consumers" in value:
                mend = f"write `{shown(path)}/NAME: {{}}` next to it"
                report.fault("mixed-consumers", "a consumer that is keyed by path has others nested in it", mend, place)
        elif value is not None and value != {}:
            report.mapping(value, place, what="the settings of a consumer")


def _add_path(builder: TreeBuilder, rows: dict[str, int], path: str) -> int:
    """Rows for a path and those of its ancestors that are not there yet; returns its own."""
    cut = path.rfind("/")
    above = rows.get(path[:cut], -1)
    if above >= 0:
        row = rows[path] = builder.add(path[cut + 1 :], above, len(path))
        return row
    at = 0
    row = ROOT
    while at >= 0 and not builder.is_full():
        end = path.find("/", at + 1)
        part = path[: end if end >= 0 else len(path)]
        known = rows.get(part, -1)
        row = known if known >= 0 else builder.add(part[at + 1 :], row, len(part))
        rows[part] = row
        at = end
    return row


def _path_fault(path: str, rows: dict[str, int]) -> tuple[str, str, str] | None:
    """Code, what and mend of a key that is not a path; None where it is one."""
    if not path.startswith("/"):
        mend = f"write it by path as well: `/{shown(path)}`"
        return "mixed-consumers", f"`{shown(path)}` is a name among paths", mend
    if path == "/":
        return "name", "the root `/` is the cluster and has no settings", "leave it out"
    above, _, last = path.rpartition("/")
    # What a known parent consists of was looked at before.
    for name in (last,) if above in rows else path[1:].split("/"):
        wrong = name_fault(name)
        if wrong:
            return "name", f"in `{shown(path)}` {wrong}", "write `/NAME/NAME`, each name non-empty"
    return None
