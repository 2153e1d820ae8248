"""What the live commands print: lines, tables that fit, JSON."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import cut, table, terminal_width
from fairhold.errors import count, printable
from fairhold.runtime.cells import width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.client.exchange import Document

_GAP = 2
_LEAST = 8
"""Cells to which a last column is cut at most."""


def say(text: str) -> None:
    """Lines to standard output, at once; what steers a terminal is shown in escapes."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")
    sys.stdout.flush()


def say_json(document: object) -> None:
    """A document to standard output."""
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


def show(document: object, in_words: Callable[[Any], str], *, as_json: bool) -> None:
    """A document, as JSON or in words."""
    if as_json:
        say_json(document)
    else:
        say(in_words(document))


def fitted(head: Sequence[str], rows: Sequence[Sequence[object]], spare: Sequence[str] = ()) -> str:
    """A table without its empty columns, fitted to the terminal.

    Where it is too wide, the columns in `spare` go first, then texts are cut in their middle, the last column before
    others.
    """
    room = terminal_width()
    kept = [at for at in range(len(head)) if not rows or any(row[at] is not None for row in rows)]
    cells = [list(row) for row in rows]
    if room:
        sizes = [max([width(name), *(width(_text(row[at])) for row in rows)]) for at, name in enumerate(head)]
        for name in spare:
            if _line(sizes, kept) <= room:
                break
            kept = [at for at in kept if head[at] != name]
        for at in reversed(kept):
            most = max(sizes[at] - max(0, _line(sizes, kept) - room), min(sizes[at], max(_LEAST, width(head[at]))))
            if most < sizes[at] and any(isinstance(row[at], str) for row in rows):
                sizes[at] = most
                for row in cells:
                    row[at] = cut(_text(row[at]), most) if width(_text(row[at])) > most else row[at]
    return table([head[at] for at in kept], [[row[at] for at in kept] for row in cells], room=0)


def _line(sizes: Sequence[int], kept: Sequence[int]) -> int:
    return sum(sizes[at] + _GAP for at in kept) - _GAP


def _text(cell: object) -> str:
    return "-" if cell is None else printable(str(cell))


def pairs(rows: Mapping[str, object]) -> str:
    """Names and values, one a line; what is None is left out."""
    told = {name: value for name, value in rows.items() if value is not None}
    room = max(map(len, told), default=0)
    return "\n".join(f"{name:{room}}  {printable(str(value))}" for name, value in told.items())


def clock(instant: str | None) -> str | None:
    """An instant as a person here reads it: local time, without the day where it is today."""
    if not instant:
        return None
    moment = datetime.fromisoformat(instant).astimezone()
    today = datetime.now(UTC).astimezone().date()
    return f"{moment:%H:%M:%S}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M:%S}"


def span(start: str | None, end: str | None) -> str | None:
    """How long something took, or has taken until now."""
    if not start:
        return None
    until = datetime.fromisoformat(end) if end else datetime.now(UTC)
    return seconds((until - datetime.fromisoformat(start)).total_seconds())


def seconds(value: float) -> str:
    """A duration as `1.2s`, `3m 05s`, `2h 04m`, `3d 02h`."""
    if value < 60:
        return f"{max(value, 0):.1f}s"
    whole = int(value)
    for size, next_size, name, next_name in ((86_400, 3600, "d", "h"), (3600, 60, "h", "m"), (60, 1, "m", "s")):
        if whole >= size:
            return f"{whole // size}{name} {whole % size // next_size:02}{next_name}"
    return f"{whole}s"


def resources_used(resources: Mapping[str, Document]) -> str:
    """What is used of what there is of every resource: `gpu 3/4, cpu 6/64`."""
    return ", ".join(f"{name} {of['used']}/{of['total']}" for name, of in resources.items())


def tasks_in_words(tasks: Document) -> str:
    """How many tasks a job has, and where they are."""
    states = [f"{tasks[name]} {name}" for name in ("running", "waiting", "delayed", "done", "failed", "cancelled")
              if tasks.get(name)]  # fmt: skip
    text = f"{tasks['tasks']}: {', '.join(states)}" if states else str(tasks["tasks"])
    taken = tasks.get("reclaimed", 0)
    return f"{text}; {count(taken, 'attempt')} reclaimed" if taken else text


def is_low(budget: Document | None) -> bool:
    """Whether so much of a budget is used that people are told."""
    return budget is not None and bool(budget.get("warned"))


def budget_part(budget: Document) -> str:
    """How much of a budget is used: `used up`, else its part in percent."""
    return "used up" if budget["used_up"] else f"{int(Fraction(budget['used']) * 100)} % used"


def budget_size(budget: Document) -> str:
    """What may be used in a period: `40 unit-hours`, of vectors `100 gpu, 800 cpu hours`."""
    hours = ", ".join(f"{amount} {name}" for name, amount in budget["hours"].items())
    return f"{hours} hours" if hours else f"{budget['unit_hours']} unit-hours"
