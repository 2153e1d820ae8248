"""The words of an explanation of queues: one sentence, then how shares come about, who is above, and every request."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.alike import told_together
from fairhold.cli.legend import legend
from fairhold.cli.queue_requests import request_text
from fairhold.cli.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cli.pools import Document

_MOST = 12
"""Queues that are named in one line at most."""


_COLUMNS = ("usable", "deserved", "fair share", "allocated", "bound by", "history")


def parts_in_words(told: Document) -> Iterator[str]:
    """The whole explanation, part by part."""
    yield told["sentence"]
    for one in told["resources"]:
        for level in one["levels"]:
            yield _level(one["resource"], level)
    if any(one["levels"] for one in told["resources"]):
        has_history = any(
            "usage" in row for one in told["resources"] for level in one["levels"] for row in level["siblings"]
        )
        yield legend(_COLUMNS if has_history else _COLUMNS[:-1])
    if told.get("usage_to"):
        yield f"History counts from {told['usage_from']} to {told['usage_to']}, as the service booked it [R-HISTORY-1]."
    if told["over_fair_share"]:
        yield "\n".join(["Above their fair share:", *map(_over, told["over_fair_share"])])
    yield from map(request_text, told_together(told["requests"]))


def _level(resource: str, level: Document) -> str:
    head = f"{level['parent']} divides {resource} {level['amount']}"
    if "rounds" not in level:
        return f"{head} as KAI does [R-QUEUE-5]:\n{_siblings(level)}"
    head += f": {level['deserved']} deserved [R-QUEUE-2], {level['surplus']} beyond that"
    if level["oversubscribed"]:
        head += "; it is oversubscribed: more is deserved than there is"
    return "\n".join([head, *map(_round, level["rounds"]), _siblings(level)])


def _round(one: Document) -> str:
    """One filling: who got how much of what was left."""
    names = [_member(each) for each in one["members"][:_MOST]]
    more = len(one["members"]) - len(names)
    others = f" and {more} more" if more else ""
    what = f"{one['given']} of {one['left']} by weight"
    return f"  priority {one['priority']}: {what}: {', '.join(names)}{others} [R-QUEUE-3]"


def _member(one: Document) -> str:
    exact = Fraction(one["exact"])
    if exact == Fraction(str(one["surplus"])):
        return f"{one['consumer']} {one['surplus']}"
    return f"{one['consumer']} {one['surplus']} (exactly {fraction(exact)}, rounded down {one['floor']})"


def fraction(value: Fraction) -> str:
    """An exact fraction for people: `2 2/3`."""
    whole, rest = divmod(value, 1)
    if not rest:
        return str(whole)
    return f"{whole} {rest}" if whole else str(rest)


def _siblings(level: Document) -> str:
    rows = level["siblings"]
    has_usage = any("usage" in row for row in rows)
    keys = ("usable", "deserved", "limit", "priority", "weight", *(("usage",) if has_usage else ()))
    shown = ("history" if key == "usage" else key for key in keys)
    head = ("consumer", "demand", *shown, "fair share", "allocated", "bound by")
    cells = [
        (
            row["consumer"],
            row["requested"],
            *(_usage(row) if key == "usage" else row.get(key) for key in keys),
            row["fair_share"],
            row["held"],
            row["bound"],
        )
        for row in rows
    ]
    return table(head, cells)


def _usage(row: Document) -> str | None:
    """Decayed history, a part of the capacity, to a thousandth."""
    return f"{float(Fraction(row['usage'])):.3f}" if "usage" in row else None


def _over(one: Document) -> str:
    leaving = f", {one['under_notice']} more under notice" if one["under_notice"] else ""
    return (
        f"  {one['consumer']}: {one['resource']} {one['held']} of {one['fair_share']}, {one['above']} above{leaving}; "
        f"{one['deserved'] if one['deserved'] is not None else 'all'} deserved"
    )
