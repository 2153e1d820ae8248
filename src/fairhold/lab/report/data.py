"""What the plots of one resource show, from all summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.report.amounts import key_of, part_of, unit_of
from fairhold.lab.report.views import (
    fitting,
    lending,
    over_time,
    rows_of,
    spreads,
    sufferings,
    taken,
    together,
    views_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.lab.report.amounts import Unit
    from fairhold.lab.report.views import View

    Document = Mapping[str, Any]

SERIES = ("over", "total")
"""Data that come as series over time; the rest comes as rows."""


class Resource(NamedTuple):
    """One resource of one group.

    of : name of the plan → its summary, and its part about the resource
    """

    key: tuple[str, str]
    unit: Unit
    of: dict[str, tuple[Document, Document]]

    @property
    def begin(self) -> float:
        """The first instant, in milliseconds."""
        return float(min(document["begin"] for document, _ in self.of.values()) / 1000)

    @property
    def end(self) -> float:
        """The last instant, in milliseconds."""
        return float(max(document["end"] for document, _ in self.of.values()) / 1000)

    @property
    def views(self) -> list[tuple[View, int]]:
        """What of the tree can be shown, with points of time."""
        return fitting(views_of([shared for _, shared in self.of.values()]), len(self.of))

    def data(self, view: View, points: int) -> dict[str, list[Any]]:
        """What the plots of a view show: series and rows by name."""
        found: dict[str, list[Any]] = {
            name: [] for name in (*SERIES, "lending", "taken", "sufferings", "waits", "slowdowns")
        }
        found["taken"] = taken({plan: shared for plan, (_, shared) in self.of.items()}, view)
        for plan, (document, shared) in self.of.items():
            found["over"] += over_time(plan, document, shared, view, points=points, unit=self.unit)
            found["total"].append(together(plan, document, shared, self.unit))
            found["lending"] += lending(plan, shared, view, self.unit)
            found["sufferings"] += sufferings(plan, shared, view, self.unit)
            found["waits"] += spreads(plan, shared, view, "waits", scale=1_000_000, least=1)
            found["slowdowns"] += spreads(plan, shared, view, "slowdowns", scale=1000, least=1)
        darkest = max((row["hours"] for row in found["lending"]), default=0)
        found["lending"] = [row | {"is_dark": row["hours"] * 2 > darkest} for row in found["lending"]]
        return found


def resources_of(documents: Mapping[str, Document]) -> list[Resource]:
    """All resources, in the order of the summaries."""
    keys = dict.fromkeys(key_of(shared) for document in documents.values() for shared in document["shared"])
    found = []
    for key in keys:
        parts = {plan: (document, part) for plan, document in documents.items() if (part := part_of(document, key))}
        found.append(Resource(key, unit_of(next(iter(parts.values()))[1]), parts))
    return found


def packed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns, for a page: words stand there once, and a column of words has their places."""
    found: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        column = [row[name] for row in rows]
        if isinstance(column[0], str):
            words = {word: at for at, word in enumerate(dict.fromkeys(column))}
            found[name] = {"words": list(words), "at": [words[word] for word in column]}
        else:
            found[name] = column
    return found


def in_rows(data: Mapping[str, list[Any]]) -> dict[str, list[dict[str, Any]]]:
    """The same, all as rows."""
    return {name: rows_of(each) if name in SERIES else each for name, each in data.items()}
