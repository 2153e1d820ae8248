"""The tree of consumers as a table: one row each, children below their parents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.drawing.colours import key_mark
from fairhold.drawing.letters import cut, width
from fairhold.drawing.marks import BODY, FAINT, RULE, SMALL, STRIPE, Block, box, line, put, text, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.tree import ConsumerTree

_LINE, _PAD, _HEAD = 15, 8, 24
OWNS = "owns"
"""The column in which every second line says the terms of the one above it."""
_GAP = 18
"""Between columns."""
_INDENT, _DEEPEST = 18, 270
_NAME, _CELL = 240, 250
"""The widest that a name and a cell may be."""


@dataclass(frozen=True, slots=True)
class Row:
    """One consumer.

    node  : row of the plan's tree
    key   : of its colour, 0 = it needs none
    cells : column → one or several lines; what is missing is nothing
    bar   : drawn at the end of the row; all bars of a table are equally wide
    """

    node: int
    cells: Mapping[str, tuple[str, ...]]
    key: int = 0
    bar: Block | None = None

    @property
    def height(self) -> int:
        """In pixels."""
        return max(1, *map(len, self.cells.values()), 0) * _LINE + _PAD


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, drawn.

    middle : node → the height at which the first line of its row is
    """

    block: Block
    middle: Mapping[int, int] = field(default_factory=dict)


def in_order(tree: ConsumerTree, first_level: Sequence[int]) -> list[int]:
    """The root and the consumers below some of its children, parents before children, in plan order."""
    found, open_ = [], [*reversed(first_level)]
    while open_:
        node = open_.pop()
        found.append(node)
        open_ += reversed(tree.children[node])
    return [0, *found]


def depths(tree: ConsumerTree) -> list[int]:
    """Levels above every consumer."""
    found = [0] * len(tree)
    for node in range(1, len(tree)):
        found[node] = found[tree.parent[node]] + 1
    return found


def draw_table(tree: ConsumerTree, columns: Sequence[str], rows: Sequence[Row], wordy: frozenset[str]) -> Table:
    """A table; columns in which no row says anything are left out, and those that are not named come last.

    wordy : columns of words, which begin at the left; those of numbers end at the right
    """
    known = dict.fromkeys((*columns, *(name for row in rows for name in row.cells)))
    columns = [name for name in known if any(row.cells.get(name) for row in rows)]
    step = _step(tree, rows)
    depth = depths(tree)
    wide = {name: _width_of(name, rows) for name in columns}
    x = _PAD + max(_name_end(tree, row, depth[row.node] * step) for row in rows) + _GAP
    start = {}
    for name in columns:
        start[name] = x if name in wordy else x + wide[name]
        x += wide[name] + _GAP
    bar = max((row.bar.width for row in rows if row.bar), default=0)
    full = x + bar + _PAD if bar else x - _GAP + _PAD
    parts = [_heading(name, start[name], name in wordy) for name in columns]
    parts.append(line("M", 0, _HEAD, "H", full))
    y, middle = _HEAD, {}
    marks = []
    for at, row in enumerate(rows):
        if at % 2:
            parts.append(box(0, y, full, row.height, fill=STRIPE))
        middle[row.node] = y + _PAD // 2 + _LINE // 2
        marks.append(_row(tree, row, start, (depth[row.node] * step, y), wordy))
        if row.bar:
            marks.append(put(row.bar, x, y + (row.height - row.bar.height) // 2))
        y += row.height
    parts += _branches(tree, rows, middle, depth, step)
    return Table(Block(full, y, (*parts, *marks)), middle)


def _step(tree: ConsumerTree, rows: Sequence[Row]) -> int:
    """How far a level is set in, so that the deepest are not too far."""
    depth = depths(tree)
    return max(1, min(_INDENT, _DEEPEST // max(1, *(depth[row.node] for row in rows))))


def _name(tree: ConsumerTree, row: Row) -> str:
    return cut(tree.name[row.node] or "/", _NAME, BODY, bold=True)


def _name_end(tree: ConsumerTree, row: Row, inset: int) -> int:
    mark = key_mark(row.key, 0, 0)[0] + 5 if row.key else 0
    return inset + mark + width(_name(tree, row), BODY, bold=True)


def _width_of(name: str, rows: Sequence[Row]) -> int:
    cells = (width(cut(each, _CELL, SMALL), SMALL) for row in rows for each in row.cells.get(name, ()))
    return max(width(name, SMALL), *cells)


def _heading(name: str, x: int, is_wordy: bool) -> str:  # noqa: FBT001 - one of two sides
    return text(x, _HEAD - 8, name, SMALL, fill=FAINT, text_anchor=None if is_wordy else "end")


def _row(tree: ConsumerTree, row: Row, start: Mapping[str, int], place: tuple[int, int], wordy: frozenset[str]) -> str:
    inset, y = place
    foot, x, parts = y + _PAD // 2 + BODY, _PAD + inset, []
    if row.key:
        wide, mark = key_mark(row.key, x, foot - 11)
        parts.append(mark)
        x += wide + 5
    parts.append(text(x, foot, _name(tree, row), BODY, font_weight="bold"))
    for name, left in start.items():
        for at, each in enumerate(row.cells.get(name, ())):
            shown = {"text_anchor": None if name in wordy else "end"} | (
                {"fill": FAINT} if name == OWNS and at % 2 else {}
            )
            parts.append(text(left, foot + at * _LINE, cut(each, _CELL, SMALL), SMALL, **shown))
    said = "; ".join(f"{name} {', '.join(row.cells[name])}" for name in start if row.cells.get(name))
    path = tree.paths[row.node]
    return titled(f"{path}: {said}" if said else path, parts, class_="consumer")


def _branches(
    tree: ConsumerTree, rows: Sequence[Row], middle: Mapping[int, int], depth: Sequence[int], step: int
) -> list[str]:
    """The lines of the tree: from every parent down to its last child, and to each child."""
    parts = []
    last = {tree.parent[row.node]: row.node for row in rows if row.node}
    for parent, child in last.items():
        x = _PAD + depth[parent] * step + step // 3
        parts.append(line("M", x, middle[parent] + 9, "V", middle[child], stroke=RULE))
    for row in rows[1:]:
        x = _PAD + depth[row.node] * step
        parts.append(line("M", x - step + step // 3, middle[row.node], "H", max(x - 3, x - step + step // 3)))
    return parts
