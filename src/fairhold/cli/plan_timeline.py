"""What differs over time between two plans, in words: the spans between switches, and the tasks that are stopped."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.errors import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Document = dict[str, Any]
MOST = 20
"""Rows of stopped tasks that are shown; `--json` has all."""
_HOUR = 3600
_NOBODY: Document = {"stopped": [0, 0], "lost_of": [{}, {}]}


def coming_text(document: Document) -> str:
    """The part `over_time` of a difference."""
    title = f"Over time, until {document['until']}, if {', and '.join(document['assumes'])}:"
    resources = document["resources"]
    rows = [row for span in document["spans"] for row in _span(span, resources)]
    stops = document["stops"]
    alone = [row for row in stops if row["anyway"] < row["units"]]
    texts = [f"{title} nothing differs"]
    if rows:
        head = ("from", "times", "group", "consumer", "held at the end", "stopped", "lost")
        texts = [f"{title}\n{table(head, rows)}"]
    if alone:
        texts.append(f"Held now, and stopped only by the new plan:\n{_stops(alone, resources)}")
    both = sum(row["anyway"] for row in stops)
    if both:
        texts.append(f"Held now, and stopped under both plans: {both} {'unit' if both == 1 else 'units'}")
    return "\n\n".join(texts)


def lost_text(lost: Sequence[Document], resources: Sequence[Document]) -> str | None:
    """Work that is lost, of the resource that comes first: `21.00 gpu-hours`; None = none is.

    lost      : resource → amount times seconds; of two plans both, as `7.03 -> 12.05 gpu-hours`
    resources : those of which anything is lost, as `over_time` orders them
    """
    for each in resources:
        hours = [float(Fraction(str(amounts.get(each["resource"], 0))) / _HOUR) for amounts in lost]
        if any(hours):
            return f"{' -> '.join(dict.fromkeys(f'{value:.2f}' for value in hours))} {hours_word(each)}"
    return None


def hours_word(resource: Document) -> str:
    """What an amount of a resource over an hour is called: `slot-hours`, `gpu-hours`, `GiB-hours of memory`."""
    name, unit = resource["resource"], resource["unit"]
    return f"{unit}-hours of {name}" if unit else f"{'slot' if name == 'slots' else name}-hours"


def _span(span: Document, resources: Sequence[Document]) -> Iterator[Sequence[object]]:
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
        cells = held or "=", _pair(stops["stopped"]), lost_text(stops["lost_of"], resources)
        yield begin, len(span["at"]), group or None, path, *cells


def _pair(values: Sequence[object]) -> str:
    was, will = values
    return f"{was} -> {will}" if was != will else str(was)


def _stops(rows: list[Document], resources: Sequence[Document]) -> str:
    columns = {"consumer": "consumer", "resource_group": "group", "request": "request", "task": "task", "host": "host"}
    keys = [key for key in columns if any(key in row for row in rows)]
    head = (*(columns[key] for key in keys), "units", "by", "for", "reason", "lost")
    cells = [
        (
            *(row.get(key) for key in keys),
            *(row["units"], row["deadline"], row["for"], row["reason"], lost_text([row["lost_of"]], resources)),
        )
        for row in rows[:MOST]
    ]
    rest = rows[MOST:]
    more = f"\nand {count(sum(row['units'] for row in rest), 'unit')} more; --json has all" if rest else ""
    return table(head, cells) + more
