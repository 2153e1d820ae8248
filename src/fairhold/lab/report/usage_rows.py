"""The rows of a report of usage, made of what a service answers; hours are exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.model.vector import decimal_text
from fairhold.units import SECOND, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Document = Mapping[str, Any]

KINDS = ("own", "borrowed", "lent", "lost")
HOUR = 3600
DIGITS = 6
ALL, ITSELF, OTHERS = "all", "itself", "others"
"""What a row of sums is of: everything, a branch without those below it, what is not among the largest."""
_TIMES = frozenset({"hour", "day", "month"})


class Dominant(NamedTuple):
    """The largest part that somebody held of all there was of any resource, and the same part of the time, in hours."""

    share: Fraction
    resource: str
    hours: Fraction


@dataclass
class ReportRow:
    """What one combination of names used of a resource, in hours.

    names    : values of the keys; of : empty, or one of ALL, ITSELF, OTHERS
    cost     : None = nothing of it has a price
    dominant : over all resources, None = it is not known, or nothing was held; nor is it told of OTHERS and by time
    """

    names: tuple[str, ...]
    resource: str
    unit: str
    of: str = ""
    hours: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(KINDS, Fraction(0)))
    cost: Fraction | None = None
    dominant: Dominant | None = None

    @property
    def held(self) -> Fraction:
        """Own and borrowed together."""
        return self.hours["own"] + self.hours["borrowed"]

    def add(self, other: ReportRow) -> None:
        """Add another row's numbers."""
        for kind, hours in other.hours.items():
            self.hours[kind] += hours
        self.add_cost(other.cost)

    def add_cost(self, cost: Fraction | None) -> None:
        """Add a cost, where there is one."""
        if cost is not None:
            self.cost = (self.cost or Fraction(0)) + cost

    def like(self, names: tuple[str, ...], of: str) -> ReportRow:
        """An empty row of the same resource."""
        return ReportRow(names, self.resource, self.unit, of)


def report_rows(answer: Document, keys: Sequence[str], top: int = 0) -> list[ReportRow]:
    """A row for each combination of names and resource, by resource; those that held most first, then all together.

    answer : of `GET /v1/usage` by these keys and `kind`
    top    : rows of each resource; those that follow are one row; 0 = all
    By consumer alone, and without `top`, the rows are the tree: each with all below it, a branch also by itself.
    """
    tables = [_with_all(rows, is_tree=_is_tree(keys, top)) for rows in _by_resource(answer, keys).values()]
    if is_known(answer) and _TIMES.isdisjoint(keys):
        _tell_dominant(tables, answer)
    return [row for rows in tables for row in _largest(rows, top)]


def _with_all(rows: list[ReportRow], *, is_tree: bool) -> list[ReportRow]:
    """The rows of a resource, and all together."""
    everything = rows[0].like((f"all {rows[0].resource or 'unsized'}",), ALL)
    for row in rows:
        everything.add(row)
    if is_tree:
        return [*_tree(rows), everything]
    return [*sorted(rows, key=lambda row: (-row.held, -row.hours["lent"], row.names)), everything]


def _largest(rows: Sequence[ReportRow], top: int) -> Iterator[ReportRow]:
    """So many rows, the others as one, and all together."""
    *each, everything = rows
    yield from each[: top or None]
    if top and len(each) > top:
        others = everything.like((), OTHERS)
        for row in each[top:]:
            others.add(row)
        yield others
    yield everything


def _tell_dominant(tables: Iterable[Sequence[ReportRow]], answer: Document) -> None:
    """Write into each row what its names held of the resource of which they held most."""
    totals = {each.resource: each.total for each in utilisations(answer).values() if each.total}
    rows: dict[tuple[str, tuple[str, ...]], list[ReportRow]] = {}
    for row in (row for table in tables for row in table):
        rows.setdefault(_who(row), []).append(row)
    for mine in rows.values():
        shares = [
            (row.held / totals[row.resource], row.resource) for row in mine if row.held and row.resource in totals
        ]
        if shares:
            share, resource = max(shares)
            for row in mine:
                row.dominant = Dominant(share, resource, share * _hours_of(answer))


def _who(row: ReportRow) -> tuple[str, tuple[str, ...]]:
    """Who a row is of, in all resources alike."""
    return row.of, () if row.of == ALL else row.names


def _hours_of(answer: Document) -> Fraction:
    """How long the span is, as far as it is known what there was."""
    begin, end = (parse_instant(answer[name]) or 0 for name in ("capacity_from", "to"))
    return Fraction(end - begin, HOUR * SECOND)


def dominant_rows(rows: Iterable[ReportRow], keys: Sequence[str], top: int = 0) -> list[tuple[ReportRow, Dominant]]:
    """One of the rows of each that has a dominant share: the tree, or the largest first; then all together.

    keys, top : as of `report_rows`; the `top` largest of all are among the `top` rows of some resource
    """
    found = {_who(row): (row, row.dominant) for row in rows if row.dominant is not None}
    each = [told for told in found.values() if told[0].of != ALL]
    if _is_tree(keys, top):
        each.sort(key=lambda told: (_place(told[0].names[0]), told[0].of))
    else:
        each.sort(key=lambda told: (-told[1].share, told[0].names))
    return [*each[: top or None], *(told for told in found.values() if told[0].of == ALL)]


def _is_tree(keys: Sequence[str], top: int) -> bool:
    return list(keys) == ["consumer"] and not top


def _place(path: str) -> list[str]:
    """Sorts paths as a tree."""
    return [] if path == "/" else path.split("/")


def _by_resource(answer: Document, keys: Sequence[str]) -> dict[str, list[ReportRow]]:
    rows: dict[tuple[str, tuple[str, ...]], ReportRow] = {}
    for each in answer["rows"]:
        names = tuple(each[key] for key in keys)
        place = each["resource"], names
        if place not in rows:
            rows[place] = ReportRow(names, each["resource"], each["unit"])
        rows[place].hours[each["kind"]] += Fraction(each["resource_seconds"]) / HOUR
        rows[place].add_cost(Fraction(each["cost"]) if "cost" in each else None)
    found: dict[str, list[ReportRow]] = {}
    for (resource, _), row in sorted(rows.items(), key=lambda item: item[0]):
        found.setdefault(resource, []).append(row)
    return found


def _tree(rows: Sequence[ReportRow]) -> Iterator[ReportRow]:
    """Each consumer that has something, with all below it; what a branch has itself stands right below it."""
    sums: dict[str, ReportRow] = {}
    itself = {row.names[0]: row for row in rows}
    for path, row in itself.items():
        for above in line_of(path):
            if above not in sums:
                sums[above] = row.like((above,), "")
            sums[above].add(row)
    branches = {above for path in sums for above in line_of(path)[:-1]}
    for path in sorted(sums, key=_place):
        if path != "/":  # all together are the last row
            yield sums[path]
        if path in itself and (path in branches or path == "/"):
            row = itself[path]
            row.of = ITSELF
            yield row


def line_of(path: str) -> list[str]:
    """All above a consumer from the first level on, and itself."""
    if path == "/" or not path.startswith("/"):
        return [path]
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]


STATES = ("allocated", "reserved", "idle", "down")
"""What can become of what there is."""


@dataclass(frozen=True)
class Utilisation:
    """What became of all there was of a resource, in hours; the four parts are all of it.

    allocated : held by somebody
    reserved  : idle slots that are never lent; idle: all else on hosts that were up
    down      : on hosts that were down, silent or closed
    """

    resource: str
    unit: str
    allocated: Fraction
    reserved: Fraction
    idle: Fraction
    down: Fraction

    @property
    def total(self) -> Fraction:
        """All there was."""
        return self.allocated + self.reserved + self.idle + self.down

    def parts(self) -> dict[str, Fraction]:
        """Each as a part of 1."""
        total = self.total or Fraction(1)
        return {name: getattr(self, name) / total for name in STATES}


def utilisations(answer: Document, time: str = "") -> dict[tuple[str, str], Utilisation]:
    """(value of the key of time, or empty; resource) → what became of it, from when on capacity is on record."""
    there: dict[tuple[str, str], list[Fraction]] = {}
    units = {}
    for each in answer["capacity"]:
        place = each.get(time) or "", each["resource"]
        units[place] = each["unit"]
        sums = there.setdefault(place, [Fraction(0)] * 4)
        for at, name in enumerate(("up", "down", "reserved", "held")):
            sums[at] += Fraction(each[f"{name}_seconds"]) / HOUR
    found = {}
    for place, (up, down, reserved, held) in there.items():
        allocated = min(held, up)
        parts = (allocated, reserved, up - allocated - reserved, down)
        found[place] = Utilisation(place[1], units[place], *parts)
    return found


def number(value: Fraction, digits: int = DIGITS) -> str:
    """A decimal, rounded."""
    return decimal_text(Fraction(round(value * 10**digits), 10**digits))


def report_document(answer: Document, keys: Sequence[str], rows: Iterable[ReportRow]) -> dict[str, Any]:
    """The report for JSON; hours and costs are decimals in texts, rounded to six digits."""
    of_total = {resource: each.total for (_, resource), each in utilisations(answer).items()}
    told = []
    for row in rows:
        named = dict(zip(keys, row.names, strict=False)) if row.of in {"", ITSELF} else {}
        document: dict[str, str | None] = {**named, "of": row.of, "resource": row.resource, "unit": row.unit}
        document |= {f"{kind}_hours": number(hours) for kind, hours in row.hours.items()}
        total = of_total.get(row.resource)
        document["share"] = number(row.held / total, 9) if total and is_known(answer) else None
        document["dominant_share"] = number(row.dominant.share, 9) if row.dominant else None
        document["dominant_resource"] = row.dominant.resource if row.dominant else None
        document["dominant_hours"] = number(row.dominant.hours) if row.dominant else None
        told.append(document | ({} if row.cost is None else {"cost": number(row.cost)}))
    used = [
        {"resource": each.resource, "unit": each.unit, "total_hours": number(each.total)}
        | {name: number(part, 9) for name, part in each.parts().items()}
        for each in (utilisations(answer).values() if is_known(answer) else ())
    ]
    said = {name: answer[name] for name in ("from", "to", "currency", "cost", "unpriced", "balance") if name in answer}
    return said | {"by": list(keys), "rows": told, "utilisation": used, "capacity_from": answer["capacity_from"]}


def is_known(answer: Document) -> bool:
    """Whether capacity is on record for all that was used."""
    return bool(answer["capacity_whole"])
