"""What differs over time between two plans, in words: the spans between switches, and the tasks that are stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.errors import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Document = dict[str, Any]
MOST = 20
"""Rows of stopped tasks that are shown; `--json` has all."""
_HOUR = 3600
_NOBODY: Document = {"stopped": [0, 0], "lost": [0, 0]}


def coming_text(document: Document) -> str:
    """The part `over_time` of a difference."""
    title = f"Over time, until {document['until']}, if {', and '.join(document['assumes'])}:"
    rows = [row for span in document["spans"] for row in _span(span)]
    stops = document["stops"]
    alone = [row for row in stops if row["anyway"] < row["units"]]
    texts = [f"{title} nothing differs"]
    if rows:
        head = ("from", "times", "group", "consumer", "held at the end", "stopped", "lost unit-hours")
        texts = [f"{title}\n{table(head, rows)}"]
    if alone:
        texts.append(f"Held now, and stopped by the new plan alone:\n{_stops(alone)}")
    both = sum(row["anyway"] for row in stops)
    if both:
        texts.append(f"Held now, and stopped under both plans: {both} {'unit' if both == 1 else 'units'}")
    return "\n\n".join(texts)


def _span(span: Document) -> Iterator[Sequence[object]]:
    """A row for everybody to whom both plans do not do the same between two switches."""
    of_group: dict[tuple[str, str], Document] = {
        (group, path): values for group, rows in span["consumers"].items() for path, values in rows.items()
    }
    found = {path for _, path in of_group}
    others = [
        path
        for path, each in span["stops"].items()
        if path not in found and any(one != other for one, other in each.values())
    ]
    begin = f"{span['day']} {span['local'].replace('T', ' ')}" if "local" in span else span["from"]
    told: set[str] = set()
    for group, path in (*of_group, *(("", path) for path in others)):
        values = of_group.get((group, path), {})
        stops = _NOBODY if path in told else span["stops"].get(path, _NOBODY)
        told.add(path)
        only_slots = list(values) == ["slots"]
        held = ", ".join(f"{'' if only_slots else f'{name} '}{was} -> {will}" for name, (was, will) in values.items())
        lost = [f"{seconds / _HOUR:.2f}" for seconds in stops["lost"]]
        cells = held or "=", _pair(stops["stopped"]), _pair(lost)
        yield begin, len(span["at"]), group or None, path, *cells


def _pair(values: Sequence[object]) -> str:
    was, will = values
    return f"{was} -> {will}" if was != will else str(was)


def _stops(rows: list[Document]) -> str:
    columns = {"consumer": "consumer", "resource_group": "group", "request": "request", "task": "task", "host": "host"}
    keys = [key for key in columns if any(key in row for row in rows)]
    head = (*(columns[key] for key in keys), "units", "by", "for", "reason", "lost unit-hours")
    cells = [
        (
            *(row.get(key) for key in keys),
            *(row["units"], row["deadline"], row["for"], row["reason"], f"{row['lost'] / _HOUR:.2f}"),
        )
        for row in rows[:MOST]
    ]
    rest = rows[MOST:]
    more = f"\nand {count(sum(row['units'] for row in rest), 'unit')} more; --json tells all of them" if rest else ""
    return table(head, cells) + more
