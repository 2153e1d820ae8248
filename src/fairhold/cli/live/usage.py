"""`usage`: unit-seconds of consumers, users, jobs and kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.legend import legend
from fairhold.cli.live.connection import connect
from fairhold.cli.live.options import KEYS
from fairhold.cli.live.printing import fitted, say, say_json
from fairhold.client import steps
from fairhold.errors import UsageError, printable
from fairhold.units import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.client.exchange import Document

KINDS = ("own", "borrowed", "lent", "lost")


def print_usage(service: str, start: str | None, end: str | None, by: str, *, as_json: bool) -> None:
    """A row for every combination of the keys in `by`, which is their names with commas.

    Where `kind` is not among them, the kinds stand beside each other.
    """
    keys = by.split(",")
    unknown = [key for key in keys if key not in KEYS]
    if unknown or len(set(keys)) != len(keys):
        raise UsageError(
            f"--by {printable(by)}: write each of {', '.join(KEYS)} once at most, with commas between them"
        )
    first, last = (parse_instant(text) if text else None for text in (start, end))
    if first is not None and last is not None and last < first:
        raise UsageError("--to is before --from: give them in their order")
    asked = keys if as_json or "kind" in keys else [*keys, "kind"]
    query = {"from": start, "to": end, "by": ",".join(asked)}
    found = connect(service).run(steps.listing("usage", query))
    if as_json:
        say_json(found)
        return
    begin = found["from"] if start else "the start"
    say(f"unit-seconds from {begin} to {found['to']}")
    if not found["rows"]:
        say("nothing was used")
    elif asked is keys:
        head, rows = ("unit-seconds", *reversed(keys)), [_long(row, keys) for row in found["rows"]]
        say(fitted(head, _below_each_other(rows, 1)))
    else:
        say(fitted((*KINDS, *reversed(keys)), _below_each_other(_wide(found["rows"], keys), len(KINDS))))
        say(f"\n{legend(KINDS)}")


def _long(row: Document, keys: Sequence[str]) -> list[str | None]:
    return [row["unit_seconds"], *(row.get(key) or None for key in reversed(keys))]


def _wide(rows: Iterable[Document], keys: Sequence[str]) -> list[list[str | None]]:
    """A row for each value of the keys, with a column for each kind."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(key) or "" for key in keys), {})[row["kind"]] = row["unit_seconds"]
    return [
        [*(kinds.get(kind, "0") for kind in KINDS), *(name or None for name in reversed(names))]
        for names, kinds in found.items()
    ]


def _below_each_other(rows: list[list[str | None]], columns: int) -> list[list[str | None]]:
    """The numbers of the first columns with their points below one another; they are exact text, and no floats."""
    for at in range(columns):
        parts = [str(row[at]).partition(".") for row in rows]
        whole, rest = (max(len(part[side]) for part in parts) for side in (0, 2))
        for row, (left, point, right) in zip(rows, parts, strict=True):
            row[at] = f"{left:>{whole}}{point or ' ' * bool(rest)}{right:<{rest}}"
    return rows
