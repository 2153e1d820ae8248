"""Consumers as a tree with bars: what each uses of its own, borrows, lends and waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.live.printing import clock, resources_used
from fairhold.errors import count, printable
from fairhold.model.presence import presence_in_words
from fairhold.runtime.cells import padded, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.client.exchange import Document

COLUMNS = ("owned", "held", "borrowed", "lent", "waiting")
_BY_WEIGHT = ("held", "waiting", "owned", "borrowed", "lent")
"""Which columns a narrow terminal keeps."""
_BAR, _LEAST_BAR = 48, 8
_GAP = 2
_LEAST_NAME = 12
_FIRST = ("held",)
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
    bar   : its parts, each with its mark
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

    room : cells of a line
    """
    for group, found in document["resource_groups"].items():
        paused = [word for word in ("grants", "reclaims") if (found.get("paused") or {}).get(word)]
        has = f"{count(found['slots'], 'slot')}, {found['idle']} idle"
        if found.get("resources"):
            has = f"{resources_used(found['resources'])} used"
        told = f"{printable(group)}  {has}"
        told += f"; no {' and no '.join(paused)}: paused" if paused else ""
        away = presence_in_words(found.get("hosts"), clock)
        yield _tree(f"{told}; {printable(away)}" if away else told, found, room)


def _tree(title: str, found: Document, room: int) -> Tree:
    rows = [row for row in found["consumers"] if row["path"] != "/"]
    names = [_name(row["path"]) for row in rows]
    cells = [[_cell(row, column) for column in COLUMNS] for row in rows]
    name_room = min(max([len("consumer"), *map(width, names)]), max(_LEAST_NAME, room // 3))
    left = room - name_room
    heads = {"owned": _heading(rows)}
    sizes = {
        name: max([len(heads.get(name, name)), *(len(row[at]) for row in cells)]) for at, name in enumerate(COLUMNS)
    }
    kept = []
    for name in _BY_WEIGHT:
        kept_free = 0 if name in _FIRST else _GAP + _LEAST_BAR
        if sizes[name] + _GAP > left - kept_free:
            break
        left -= sizes[name] + _GAP
        kept.append(name)
    columns = [name for name in COLUMNS if name in kept]
    bar_room = min(_BAR, left - _GAP)
    largest = max([1, *(_length(row) for row in rows if row["leaf"])])
    lines = [
        Line(
            _short(name, name_room),
            tuple(row_cells[COLUMNS.index(column)] for column in columns),
            _bar(row, bar_room, largest) if row["leaf"] and bar_room >= _LEAST_BAR else (),
        )
        for name, row, row_cells in zip(names, rows, cells, strict=True)
    ]
    widths = (name_room, *(sizes[name] for name in columns))
    return Tree(title, ("consumer", *(heads.get(name, name) for name in columns)), widths, tuple(lines))


def _heading(rows: Sequence[Document]) -> str:
    """What the column of what is owned is called: where there are queues, of their fair shares."""
    queues = sum(bool(row.get("queue")) for row in rows)
    return "owned" if not queues else "fair share" if queues == len(rows) else "owned/share"


def _name(path: str) -> str:
    return "  " * (path.count("/") - 1) + printable(path.rpartition("/")[2])


def _short(name: str, room: int) -> str:
    while width(name) > room:
        name = name[:-2] + "…"
    return name


def _value(row: Document, column: str) -> int:
    return int(row["allocated" if column == "held" else column] or 0)


def _cell(row: Document, column: str) -> str:
    """A number of units; of what is owned of resources, the amounts, and of a queue its fair share."""
    if column == "owned" and row.get("queue"):
        shares = ((name, of["fair_share"]) for name, of in row["queue"]["resources"].items())
        return ", ".join(f"{name} {amount}" for name, amount in shares if amount) or _number(0)
    amounts = (row.get("amounts") or {}).get("owned")
    if column == "owned" and amounts:
        return ", ".join(f"{name} {amount}" for name, amount in amounts.items()) or _number(0)
    return _number(_value(row, column))


def _number(value: int) -> str:
    return str(value) if value else "·"


def _parts(row: Document) -> tuple[tuple[Mark, int], ...]:
    """Units of each kind; what is under notice is taken off what is borrowed, and then off its own."""
    held, borrowed, reclaiming = row["allocated"], row["borrowed"], row.get("reclaiming", 0)
    own = held - borrowed - max(0, reclaiming - borrowed)
    firm = max(0, borrowed - reclaiming)
    sizes = (own, firm, reclaiming, row["lent"], row["waiting"])
    return tuple((mark, max(0, size)) for mark, size in zip(MARKS, sizes, strict=True))


def _length(row: Document) -> int:
    """Units that a bar shows; what waits takes no more room than what there is, since it may be millions."""
    parts = dict(_parts(row))
    rest = sum(parts.values()) - parts[WAITING]
    return rest + min(parts[WAITING], max(rest, 4))


def _bar(row: Document, room: int, largest: int) -> tuple[tuple[Mark, int], ...]:
    """Cells of each part; the largest bar fills the room, where there are more units than cells."""
    scale = max(1, -(-largest // room))
    cells, left = [], room
    for mark, units in _parts(row):
        size = min(-(-units // scale), left)
        left -= size
        if size:
            cells.append((mark, size))
    return tuple(cells)
