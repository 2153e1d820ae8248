"""The rows of a report of usage, made of what a service answers; hours are exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Document = Mapping[str, Any]

KINDS = ("own", "borrowed", "lent", "lost")
HOUR = 3600
DIGITS = 6
ALL, ITSELF, OTHERS = "all", "itself", "others"
"""What a row of sums is of: everything, a branch without those below it, what is not among the largest."""


@dataclass
class ReportRow:
    """What one combination of names used of a resource, in hours.

    names : values of the keys; of : empty, or one of ALL, ITSELF, OTHERS
    cost  : None = nothing of it has a price
    """

    names: tuple[str, ...]
    resource: str
    unit: str
    of: str = ""
    hours: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(KINDS, Fraction(0)))
    cost: Fraction | None = None

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
    found: list[ReportRow] = []
    for resource, rows in _by_resource(answer, keys).items():
        everything = rows[0].like((), ALL)
        for row in rows:
            everything.add(row)
        if keys == ["consumer"] and not top:
            found += _tree(rows)
        else:
            rows.sort(key=lambda row: (-row.held, -row.hours["lent"], row.names))
            found += rows[: top or None]
            if top and len(rows) > top:
                others = rows[0].like((), OTHERS)
                for row in rows[top:]:
                    others.add(row)
                found.append(others)
        everything.names = (f"all {resource or 'unsized'}",)
        found.append(everything)
    return found


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
    for path in sorted(sums, key=lambda path: [] if path == "/" else path.split("/")):
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
    held: dict[tuple[str, str], Fraction] = {}
    for each in answer["rows"]:
        if each["kind"] in KINDS[:2]:
            place = each.get(time, ""), each["resource"]
            held[place] = held.get(place, Fraction(0)) + Fraction(each["resource_seconds"]) / HOUR
    there: dict[tuple[str, str], list[Fraction]] = {}
    units = {}
    for each in answer["capacity"]:
        place = each.get(time) or "", each["resource"]
        units[place] = each["unit"]
        sums = there.setdefault(place, [Fraction(0)] * 3)
        for at, name in enumerate(("up", "down", "reserved")):
            sums[at] += Fraction(each[f"{name}_seconds"]) / HOUR
    found = {}
    for place, (up, down, reserved) in there.items():
        allocated = min(held.get(place, Fraction(0)), up)
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
