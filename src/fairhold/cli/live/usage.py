"""`usage`: unit-seconds of consumers, users, jobs and kinds."""

from __future__ import annotations

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import fitted, say, say_json
from fairhold.client import steps
from fairhold.errors import UsageError, printable

KEYS = ("consumer", "user", "job", "kind")


def print_usage(service: str, start: str, end: str, by: str, *, as_json: bool) -> None:
    """A row for every combination of the keys in `by`, which is their names with commas."""
    keys = by.split(",")
    unknown = [key for key in keys if key not in KEYS]
    if unknown or len(set(keys)) != len(keys):
        raise UsageError(
            f"--by {printable(by)}: write each of {', '.join(KEYS)} once at most, with commas between them"
        )
    found = connect(service).run(steps.listing("usage", {"from": start or None, "to": end or None, "by": by}))
    if as_json:
        say_json(found)
        return
    rows = [
        (_right(row["unit_seconds"], found["rows"]), *(row.get(key) for key in reversed(keys))) for row in found["rows"]
    ]
    say(f"unit-seconds from {found['from']} to {found['to']}")
    say(fitted(("unit-seconds", *reversed(keys)), rows) if rows else "nothing was used")


def _right(number: str, rows: list[dict[str, str]]) -> str:
    """A number below the others with its point; they are exact text, and no floats."""
    fraction = max(len(row["unit_seconds"].partition(".")[2]) for row in rows)
    whole = max(len(row["unit_seconds"].partition(".")[0]) for row in rows)
    left, point, right = number.partition(".")
    return f"{left:>{whole}}{point or ' ' * bool(fraction)}{right:<{fraction}}"
