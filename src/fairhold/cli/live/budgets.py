"""`budgets`: what consumers may use in a period, and what they have used."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import budget_part, fitted, say, say_json
from fairhold.client import steps

if TYPE_CHECKING:
    from fairhold.client.exchange import Document

HEAD = ("of", "used", "period", "lasts until", "ends", "then", "group", "consumer")


def print_budgets(service: str, *, as_json: bool) -> None:
    """A row for every consumer that has a budget now, in path order."""
    groups = connect(service).run(steps.consumers())["resource_groups"]
    found = [
        {"consumer": each["path"], "resource_group": group, **each["budget"]}
        for group, rows in groups.items()
        for each in rows["consumers"]
        if each.get("budget") is not None
    ]
    if as_json:
        say_json({"budgets": found})
    elif found:
        print_table(found)
        say("\nlasts until: used up then, at the mean rate of the period so far")
    else:
        say("no consumer has a budget now")


def print_table(budgets: list[Document]) -> None:
    """A row for every budget; of resources with the hours of each."""
    of = "hours" if any(each["hours"] for each in budgets) else "unit-hours"
    say(fitted((of, *HEAD), [_row(each) for each in budgets]))


def _row(each: Document) -> list[object]:
    part, until = budget_part(each).removesuffix(" used"), each["lasts_until"] or "its end"
    used = ", ".join(f"{_hours(seconds)} {name}" for name, seconds in each["seconds"].items())
    numbers = [
        used or _hours(each["unit_seconds"]),
        ", ".join(each["hours"].values()) or each["unit_hours"],
        part,
        each["period"],
        until,
        each["ends"],
        each["then"],
    ]
    return [*numbers, each["resource_group"], each["consumer"]]


def _hours(seconds: str) -> str:
    """Hours with two digits, rounded down, of exact seconds."""
    hundredths = int(Fraction(seconds) / 36)
    return f"{hundredths // 100}.{hundredths % 100:02}"
