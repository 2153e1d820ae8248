"""Queues for people: of every resource what each is entitled to, deserves, asks for and holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairhold.cli.table import table
from fairhold.errors import printable

Document = dict[str, Any]
_HEAD = ("consumer", "resource", "fair share", "deserved", "limit", "requested", "allocated", "saturation")


def is_of_queues(group: Document) -> bool:
    """Whether a resource group of a result is shared by queues."""
    return "amounts" in group


def queue_table(name: str, group: Document) -> str:
    """A table of one group: a line for each resource of which a queue has or wants anything."""
    has = ", ".join(f"{printable(key)} {value}" for key, value in group["amounts"].items())
    rows = []
    for path, values in group["consumers"].items():
        for resource, fair in values["fair_share"].items():
            requested, allocated = values["requested"].get(resource, 0), values["allocated"].get(resource, 0)
            deserved = values["deserved"][resource]
            if path != "/" and (fair or requested or allocated or deserved):
                said = "all" if deserved is None else deserved
                saturation = _part(values["saturation"][resource])
                limit = values["limit"][resource]
                rows.append((path, resource, fair, said, limit, requested, allocated, saturation))
    return f"{printable(name)}: {has or 'empty'}\n" + table(_HEAD, rows)


def _part(text: str) -> str:
    """A ratio as a number of two places: 1 is all of what one is entitled to."""
    if text == "unbounded":
        return text
    hundredths = round(Fraction(text) * 100)
    return f"{hundredths // 100}.{hundredths % 100:02}"
