"""`usage`: slot-hours and resource-hours of consumers, users, jobs and kinds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.legend import legend
from fairhold.cli.live.connection import connect
from fairhold.cli.live.options import KEYS, LABEL
from fairhold.cli.live.printing import fitted, say, say_json
from fairhold.client import steps
from fairhold.errors import UsageError, printable
from fairhold.model.vector import decimal_text
from fairhold.units import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.client.exchange import Document

KINDS = ("own", "borrowed", "lent", "lost")
SLOTS = "slots"
UNSIZED = "unsized"
"""The column of units of which nobody knows the size."""
DOMINANT = "dominant"
Names = tuple[str | None, ...]
"""Values of the keys of a row, the last key first."""
MILLION = 1_000_000


def print_usage(
    service: str, start: str | None, end: str | None, by: str, resources: Sequence[str], *, as_json: bool
) -> None:
    """A row for every combination of the keys in `by`, which is their names with commas.

    Slots stand in one table and resources in another, with a column for each: they are never added up.
    Where `kind` is not among the keys, the kinds stand beside each other of slots, below each other of resources.
    """
    keys = keys_of(by)
    check_span(start, end)
    asked = keys if as_json or "kind" in keys else [*keys, "kind"]
    query = {"from": start, "to": end, "by": ",".join(asked), "resource": ",".join(resources) or None}
    found = connect(service).run(steps.listing("usage", query))
    if as_json:
        say_json(found)
        return
    span = f"from {found['from'] if start else 'the start'} to {found['to']}"
    slots = [row for row in found["rows"] if row["resource"] == SLOTS]
    others = [row for row in found["rows"] if row["resource"] != SLOTS]
    if not found["rows"]:
        say(f"hours {span}\nnothing was used")
    if slots:
        say(f"slot-hours {span}")
        _print_slots(found, slots, keys)
    if others:
        say(("\n" if slots else "") + f"resource-hours {span}")
        _print_resources(found, others, asked)
    for line in remarks(found):
        say(f"\n{line}")
    if slots and asked is not keys:
        say(f"\n{legend(KINDS)}")


def remarks(found: Document) -> Iterator[str]:
    """What it cost in all, what has no price, and where lent is not borrowed."""
    if found.get("currency"):
        free = (
            f"; without a price: {', '.join(each or UNSIZED for each in found['unpriced'])}"
            if found["unpriced"]
            else ""
        )
        yield f"cost in all: {money(Fraction(found['cost']))} {found['currency']}{free}"
    for each in found.get("balance", ()):
        if each["why"]:
            yield f"lent and borrowed {each['resource'] or UNSIZED} differ: {each['why']}"


def keys_of(by: str) -> list[str]:
    """The keys of `--by`. Raises UsageError where they are none, or stand there twice."""
    keys = by.split(",")
    unknown = [key for key in keys if key not in KEYS and not (key.startswith(LABEL) and key != LABEL)]
    if unknown or len(set(keys)) != len(keys):
        words = ", ".join((*KEYS, f"{LABEL}NAME"))
        raise UsageError(f"--by {printable(by)}: write each of {words} once at most, with commas between them")
    return keys


def check_span(start: str | None, end: str | None) -> None:
    """Raise UsageError where a span ends before it begins."""
    first, last = (parse_instant(text) if text else None for text in (start, end))
    if first is not None and last is not None and last < first:
        raise UsageError("--to is before --from: swap them")


def _largest(found: Document, keys: Sequence[str]) -> dict[Names, str]:
    """Of every row of a table, what is the largest part that it had of any resource: `42.1 % gpu`."""
    return {_names(each, keys): f"{percent(each['share'])} {each['resource']}" for each in found.get("dominant", ())}


def percent(share: str) -> str:
    """A part of 1 as a percentage with one digit, rounded."""
    tenths = round(Fraction(share) * 1000)
    return f"{tenths // 10}.{tenths % 10} %"


def _print_slots(found: Document, rows: list[Document], keys: Sequence[str]) -> None:
    heads: Sequence[str] = (SLOTS,) if "kind" in keys else KINDS
    wide = _wide(rows, keys, _resource if "kind" in keys else _kind, heads)
    _print_table(heads, wide, keys, {_cost_head(found): _costs(rows, keys)})


def _print_resources(found: Document, rows: list[Document], keys: Sequence[str]) -> None:
    columns = sorted({(row["resource"] or UNSIZED, row["unit"]) for row in rows})
    wide = _wide(rows, keys, lambda row: row["resource"] or UNSIZED, [name for name, _ in columns])
    heads = [f"{name} {unit}".rstrip() for name, unit in columns]
    more = {DOMINANT: _largest(found, keys), _cost_head(found): _costs(rows, keys)}
    _print_table(heads, wide, keys, more)
    said = [word for word in (UNSIZED, DOMINANT) if word in heads or more.get(word)]
    if said:
        say(f"\n{legend(said)}")


def _print_table(
    heads: Sequence[str], rows: list[list[str | None]], keys: Sequence[str], more: Mapping[str, Mapping[Names, str]]
) -> None:
    """Amounts, then further columns as far as they have anything, then the keys.

    more : head → value of each row
    """
    count = len(heads)
    shown = {head: values for head, values in more.items() if values}
    names = [(*row[count:],) for row in rows]
    table = [
        [*row[:count], *(values.get(name) for values in shown.values()), *row[count:]]
        for row, name in zip(_below_each_other(rows, count), names, strict=True)
    ]
    say(fitted((*heads, *shown, *reversed(keys)), table))


def _cost_head(found: Document) -> str:
    return f"cost {found.get('currency')}"


def _names(row: Document, keys: Sequence[str]) -> Names:
    """What a row of a table ends with."""
    return tuple(row.get(key) or None for key in reversed(keys))


def _costs(rows: Iterable[Document], keys: Sequence[str]) -> dict[Names, str]:
    """What each row of a table costs, over its resources and kinds; of those that have a price."""
    found: dict[Names, Fraction] = {}
    for row in rows:
        if "cost" in row:
            name = _names(row, keys)
            found[name] = found.get(name, Fraction(0)) + Fraction(row["cost"])
    return {name: money(cost) for name, cost in found.items()}


def money(cost: Fraction) -> str:
    """An amount of a currency, rounded to two digits."""
    cents = abs(round(cost * 100))
    return f"{'-' if cost < 0 and cents else ''}{cents // 100}.{cents % 100:02}"


def _resource(row: Document) -> str:
    return str(row["resource"])


def _kind(row: Document) -> str:
    return str(row["kind"])


def _wide(
    rows: Iterable[Document], keys: Sequence[str], column: Callable[[Document], str], columns: Sequence[str]
) -> list[list[str | None]]:
    """A row for each value of the keys, with some columns of hours."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(key) or "" for key in keys), {})[column(row)] = hours(row["resource_seconds"])
    return [
        [*(amounts.get(name, "0") for name in columns), *(name or None for name in reversed(names))]
        for names, amounts in found.items()
    ]


def hours(seconds: str) -> str:
    """Exact seconds as hours, rounded to a millionth."""
    millionths = round(Fraction(seconds) * MILLION / 3600)
    return decimal_text(Fraction(millionths, MILLION))


def _below_each_other(rows: list[list[str | None]], columns: int) -> list[list[str | None]]:
    """The numbers of the first columns with their points below one another; they are text, and no floats."""
    for at in range(columns):
        parts = [str(row[at]).partition(".") for row in rows]
        whole, rest = (max(len(part[side]) for part in parts) for side in (0, 2))
        for row, (left, point, right) in zip(rows, parts, strict=True):
            row[at] = f"{left:>{whole}}{point or ' ' * bool(rest)}{right:<{rest}}"
    return rows
