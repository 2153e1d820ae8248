"""Consumers as a tree with bars: what each owns, is entitled to, has allocated, borrows, lends and waits for."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.live.printing import budget_part, clock, is_low, resources_used
from fairhold.errors import count, printable
from fairhold.model.presence import presence_in_words
from fairhold.runtime.cells import padded, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.client.exchange import Document

COLUMNS = ("owned", "entitled", "allocated", "borrowed", "lent", "waiting")
_BY_WEIGHT = ("allocated", "waiting", "owned", "borrowed", "entitled", "lent")
"""Which columns a narrow terminal keeps."""
_BAR, _LEAST_BAR = 48, 8
_GAP = 2
_LEAST_NAME = 12
_FIRST = ("allocated",)
"""Columns that come before a bar where there is not room for all."""


class Mark(NamedTuple):
    """A part of a bar: what it stands for, how it is drawn, in which colour, and where there are only ASCII letters."""

    what: str
    sign: str
    colour: str
    plain: str


OWN = Mark("own", "█", "green", "#")
BORROWED = Mark("borrowed", "▓", "yellow", "+")
RECLAIMING = Mark("under notice", "▒", "red", "!")
LENT = Mark("lent", "░", "blue", "-")
WAITING = Mark("waiting", "·", "dim", ".")
MARKS = (OWN, BORROWED, RECLAIMING, LENT, WAITING)


class Line(NamedTuple):
    """A line of the tree.

    cells : texts of the columns that fit
    bar   : its parts in cells, each with its mark
    """

    name: str
    cells: tuple[str, ...]
    bar: tuple[tuple[Mark, int], ...]


class Tree(NamedTuple):
    """All lines of a resource group, and how wide each column is. head: name and columns that fit."""

    title: str
    head: tuple[str, ...]
    widths: tuple[int, ...]
    lines: tuple[Line, ...]

    def text(self, line: Line) -> str:
        """A line without its bar."""
        return self._joined((line.name, *line.cells))

    def heading(self) -> str:
        """The line above."""
        return self._joined(self.head)

    def _joined(self, cells: Sequence[str]) -> str:
        return (" " * _GAP).join(
            padded(cell, size, right=bool(at)) for at, (cell, size) in enumerate(zip(cells, self.widths, strict=True))
        )


def trees(document: Document, room: int) -> Iterator[Tree]:
    """A tree for each resource group of the answer about consumers.

    Where slots are shared, all are numbers of slots; else amounts of resources: of all that hosts have where there is
    room, else of one, which bars always show.
    room : cells of a line
    """
    for group, found in document["resource_groups"].items():
        paused = [word for word in ("grants", "reclaims") if (found.get("paused") or {}).get(word)]
        title = f"{printable(group)}  {count(found['slots'], 'slot')}, {found['idle']} idle"
        rows = [row for row in found["consumers"] if row["path"] != "/"]
        resources, shown = found.get("resources"), ""
        if resources:
            title = f"{printable(group)}  {resources_used(resources)} used"
            shown = _shown(resources)
        cells = [[_cell(row, column) for column in COLUMNS] for row in rows]
        if resources and not _fits(rows, cells, room):
            cells = [[_number(_amount(row, column, shown)) for column in COLUMNS] for row in rows]
            title += f"; columns show {shown}" if len(resources) > 1 else ""
        title += f"; no {' and no '.join(paused)}: paused" if paused else ""
        away = presence_in_words(found.get("hosts"), clock)
        title += f"; {printable(away)}" if away else ""
        low = [f"{printable(row['path'])} {budget_part(row['budget'])}" for row in rows if is_low(row.get("budget"))]
        title += f"; budget of {', '.join(low)}" if low else ""
        yield _tree(title, rows, cells, shown, room)


def _shown(resources: Document) -> str:
    """The resource of bars: GPUs where there are any, else the one of which the largest part is allocated."""
    if Fraction(str((resources.get("gpu") or {}).get("total", 0))):
        return "gpu"
    parts = {
        name: Fraction(str(of["used"])) / total
        for name, of in resources.items()
        if (total := Fraction(str(of["total"])))
    }
    return max(parts, key=parts.__getitem__, default=next(iter(resources)))


def _fits(rows: Sequence[Document], cells: Sequence[Sequence[str]], room: int) -> bool:
    """Whether all columns stand beside a name and a bar."""
    name_room, sizes = _sizes(rows, cells, room)
    return name_room + sum(size + _GAP for size in sizes.values()) + _GAP + _LEAST_BAR <= room


def _sizes(rows: Sequence[Document], cells: Sequence[Sequence[str]], room: int) -> tuple[int, dict[str, int]]:
    """Cells of the names, and of every column."""
    names = (width(_name(row["path"])) for row in rows)
    name_room = min(max([len("consumer"), *names]), max(_LEAST_NAME, room // 3))
    return name_room, {name: max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(COLUMNS)}


def _tree(title: str, rows: Sequence[Document], cells: Sequence[Sequence[str]], resource: str, room: int) -> Tree:
    name_room, sizes = _sizes(rows, cells, room)
    left = room - name_room
    kept = []
    for name in _BY_WEIGHT:
        kept_free = 0 if name in _FIRST else _GAP + _LEAST_BAR
        if sizes[name] + _GAP > left - kept_free:
            break
        left -= sizes[name] + _GAP
        kept.append(name)
    columns = [name for name in COLUMNS if name in kept]
    bar_room = min(_BAR, left - _GAP)
    parts = [_parts(row, resource) if row["leaf"] else () for row in rows]
    largest = max([Fraction(1), *map(_length, parts)])
    lines = [
        Line(
            _short(_name(row["path"]), name_room),
            tuple(row_cells[COLUMNS.index(column)] for column in columns),
            _bar(row_parts, bar_room, largest) if bar_room >= _LEAST_BAR else (),
        )
        for row, row_parts, row_cells in zip(rows, parts, cells, strict=True)
    ]
    widths = (name_room, *(sizes[name] for name in columns))
    return Tree(title, ("consumer", *columns), widths, tuple(lines))


def _name(path: str) -> str:
    return "  " * (path.count("/") - 1) + printable(path.rpartition("/")[2])


def _short(name: str, room: int) -> str:
    while width(name) > room:
        name = name[:-2] + "…"
    return name


def _amount(row: Document, column: str, resource: str = "") -> int | float | str:
    """Slots, or how much of a resource."""
    if row.get("amounts"):
        amount: int | float | str = row["amounts"].get(column, {}).get(resource, 0)
        return amount
    return int(row.get("quota" if column == "entitled" else column) or 0)


def _cell(row: Document, column: str) -> str:
    """Slots, or what of every resource it is."""
    if row.get("amounts"):
        return ", ".join(f"{name} {amount}" for name, amount in row["amounts"].get(column, {}).items()) or _number(0)
    return _number(_amount(row, column))


def _number(value: float | str) -> str:
    return str(value) if value else "·"


def _parts(row: Document, resource: str) -> tuple[tuple[Mark, Fraction], ...]:
    """How much is of each kind; what is under notice is taken off what is borrowed, and then off its own."""
    held, borrowed, reclaiming, lent, waiting = (
        Fraction(str(_amount(row, name, resource)))
        for name in ("allocated", "borrowed", "reclaiming", "lent", "waiting")
    )
    none = Fraction(0)
    own = held - borrowed - max(none, reclaiming - borrowed)
    sizes = (own, max(none, borrowed - reclaiming), reclaiming, lent, waiting)
    return tuple((mark, max(none, size)) for mark, size in zip(MARKS, sizes, strict=True))


def _length(parts: Sequence[tuple[Mark, Fraction]]) -> Fraction:
    """How much a bar shows; what waits takes no more room than what there is, since it may be millions."""
    sizes = dict(parts)
    waiting = sizes.pop(WAITING, Fraction(0))
    rest = sum(sizes.values(), Fraction(0))
    return rest + min(waiting, max(rest, Fraction(4)))


def _bar(parts: Sequence[tuple[Mark, Fraction]], room: int, largest: Fraction) -> tuple[tuple[Mark, int], ...]:
    """Cells of each part; the largest bar fills the room, where there is more than one unit to a cell."""
    scale = max(1, -(-largest // room))
    cells, left = [], room
    for mark, units in parts:
        size = min(-(-units // scale), left)
        left -= size
        if size:
            cells.append((mark, size))
    return tuple(cells)
