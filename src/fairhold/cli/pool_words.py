"""The words of an explanation of pools: one sentence, then what is owned, how pools are divided, and every request."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cli.alike import told_together
from fairhold.cli.legend import legend
from fairhold.cli.pool_requests import called, request_text
from fairhold.cli.pools import percent, short
from fairhold.cli.queue_words import parts_in_words
from fairhold.cli.table import table
from fairhold.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cli.pools import Document

_READABLE = 24
"""Characters of a fraction that is still written exactly."""


def pools_in_words(told: Document, word: str = "request") -> str:
    """The whole explanation as text; of queues in their own words.

    word : what requests are called
    """
    told = called(told, word)
    if "pools" not in told:
        parts = [*parts_in_words(told), *_budgets(told), *moves_in_words(told)]
        return "\n\n".join(map(printable_lines, parts))
    parts = [
        told["sentence"],
        _owned(told),
        *_loans(told),
        *(_limit(each) for each in told["share_limits"]),
        *_budgets(told),
        *(_pool(pool, told["consumer"]) for pool in told["pools"]),
        legend(_SHARERS) if any(pool["levels"] for pool in told["pools"]) else "",
        *map(request_text, told_together(told["requests"])),
        *moves_in_words(told),
    ]
    return "\n\n".join(printable_lines(part) for part in parts if part)


_THEN = {
    "wait": "nothing more is granted there until {ends}",
    "borrow_only": "until {ends} it owns or deserves nothing, and gets what others leave",
    "lowest_rank": "until {ends} it comes last among its siblings",
}


def _budgets(told: Document) -> Iterator[str]:
    """Budgets that are used up, of the consumer and around it, with what follows; a part of the text."""
    lines = [
        f"The budget of {each['consumer']} is used up: {_THEN[each['then']].format(**each)} [{each['rule']}]"
        for each in told.get("budgets", ())
    ]
    if lines:
        yield "\n".join(lines)


def printable_lines(text: str) -> str:
    """Text that may have several lines, with what no terminal should get escaped."""
    return "\n".join(map(printable, text.split("\n")))


def _owned(told: Document) -> str:
    """What is owned, host by host, and who stands on it."""
    rows = told["owned"]
    if not rows:
        return ""
    keys = list(dict.fromkeys(key for row in rows for key in row["amounts"]))
    cells = [
        (
            row["host"],
            row["owner"],
            *(row["amounts"].get(key, 0) for key in keys),
            row["preference"],
            "reserved" if row["reserved"] else row["lend_grace"] or "any",
            _amounts(row["idle"]),
            "; ".join(f"{each['units']} of {each['request']} ({each['consumer']})" for each in row["used_by"]) or None,
        )
        for row in rows
    ]
    head = ("host", "owner", *keys, "preference", "lend_grace", "idle", "used by")
    return f"Owned [R-POOL-1]:\n{table(head, cells)}"


def _loans(told: Document) -> Iterator[str]:
    """To whom it lends, and of whom it borrows; units in brackets."""
    for name, verb in (("lent", "Lends to"), ("borrowed", "Borrows of")):
        if told[name]:
            others = ", ".join(f"{path} ({units})" for path, units in told[name].items())
            yield f"{verb} {others} [R-LEND-5]."


def _amounts(amounts: Document) -> str | None:
    return ", ".join(f"{name} {value}" for name, value in amounts.items()) or None


def _has(amounts: Document) -> str:
    """Exact fractions as amounts for people; what there is none of is left out."""
    return ", ".join(f"{name} {short(value)}" for name, value in amounts.items() if value != "0") or "nothing"


def _limit(limit: Document) -> str:
    notice = f", {limit['under_notice']} of it under notice" if limit["under_notice"] else ""
    coming = f", {limit['on_the_way']} on the way" if limit["on_the_way"] else ""
    return (
        f"Share limit of {limit['consumer']}: {limit['resource']} {limit['limit']}; {limit['used']} used"
        f"{notice}{coming}, {limit['left']} left [{limit['rule']}]."
    )


def _pool(pool: Document, path: str) -> str:
    """What a pool has, and how its usage is divided down to the consumer."""
    title = "Public pool" if pool["pool"] == "/" else f"Private pool of {pool['pool']}"
    head = f"{title}: {_has(pool['amounts'])} [R-POOL-3]"
    return "\n".join([head, *_content(pool), *_numbers(pool, path), *_levels(pool)])


def _content(pool: Document) -> Iterator[str]:
    """Whose what a pool has is, and what it has room for."""
    yield f"  {'not owned' if pool['pool'] == '/' else 'its own'}: {_has(pool['unowned'])}"
    for lender, amounts in pool["lent_in"].items():
        yield f"  lent by {lender}: {_has(amounts)}"
    if any(value != "0" for value in pool["lent_out"].values()):
        yield f"  less what is lent out: {_has(pool['lent_out'])}"
    for each in pool["capacity"]:
        units = "1 unit" if each["units"] == 1 else f"{each['units']} units"
        yield f"  if it were free it would have room for {units} of {_amounts(each['unit'])}"


def _numbers(pool: Document, path: str) -> Iterator[str]:
    usage, demand, quota, moved = (
        percent(pool[key]) for key in ("usage", "usage_demand", "usage_quota", "usage_as_moved")
    )
    yield f"  {path}: usage {usage} ({moved} after all reclaims), demand {demand}, usage quota {quota} [R-USAGE-3]"
    planned, now = _has(pool["share_quota"]), _has(pool["approximate_share_quota"])
    yield f"  share quota: {planned} by ratios alone; about {now} now [R-USAGE-4]"


_SHARERS = (*("consumer", "class", "share_ratio", "usage", "usage demand", "usage quota", "moved", "next", "bound by"),)


def _levels(pool: Document) -> Iterator[str]:
    for level in pool["levels"]:
        classes = "; ".join(
            f"class {each['share_priority']} has {percent(each['amount'])}, λ {_level(each['lambda'])}"
            for each in level["classes"]
            if Fraction(each["amount"])
        )
        yield f"{level['parent']} divides {percent(level['amount'])}{': ' if classes else ''}{classes}"
        has_some = Fraction(level["amount"]) > 0
        yield table(_SHARERS, [_sibling(row, has_some=has_some) for row in level["siblings"]])


def _level(text: str) -> str:
    """An exact level; of a fraction that nobody can read some digits."""
    return f"= {text}" if len(text) <= _READABLE else f"≈ {float(Fraction(text)):.4g}"


def _sibling(row: Document, *, has_some: bool) -> tuple[object, ...]:
    """A row of a division.

    has_some : there is something to divide
    """
    numbers = (percent(row[key]) for key in ("usage", "usage_demand", "usage_quota", "usage_as_moved"))
    part = percent(row["percentage"]) if row["node"] else None
    bound = row["bound"] if has_some or row["bound"] != "all that is used" else "nothing to divide"
    return (row["consumer"], row["share_priority"], row["share_ratio"], *numbers, part, bound)


def moves_in_words(told: Document) -> Iterator[str]:
    """What requests do not tell: units that were stopped, and for whom, and notices that are withdrawn."""
    rows = [f"  {_move(move)}" for move in told["moves"] if move["kind"] in {"stops", "withdrawn"}]
    if rows:
        yield "\n".join(["Moves:", *rows])


def _move(move: Document) -> str:
    whose = f"{move['units']} of {move['request']} ({move['consumer']}) on {move['host']}"
    if move["kind"] == "withdrawn":
        return f"{whose}: the notice is withdrawn [R-NOTICE-2]"
    whom = f" for {move['for']}" if move.get("for") else ""
    return f"{whose}: stopped{whom}, because its grace is over [R-SETTLE-1]"
