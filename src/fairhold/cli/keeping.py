"""Why consumers keep their quota under another plan, why nothing is stopped, and who waits longer, in words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from fairhold.cli.pools import percent
from fairhold.cycle.summary import ENTITLED, HAS_ALL, HOLDS_ALL, IDLE, LIMIT, NOBODY_WANTS, OWNED, SHARE, SLOTS
from fairhold.errors import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Document = dict[str, Any]
_NAMED = 3
_WHY = {
    HOLDS_ALL: ("it asks for no more than it has", "they ask for no more than they have"),
    HAS_ALL: ("that is all that it asks for", "that is all that they ask for"),
    LIMIT: ("its limit is reached", "their limits are reached"),
    OWNED: ("that is what it owns or deserves", "that is what they own or deserve"),
    SHARE: ("its computed share is the same as before", "their computed shares are the same as before"),
}
_NOTHING = {
    NOBODY_WANTS: "no consumer asks for more than it has",
    ENTITLED: "no consumer holds more than it is entitled to",
}


def kept_lines(summary: Document) -> Iterator[str]:
    """A line for each reason; those whose values were changed come first, each in its own line."""
    quotas: dict[tuple[str, str, bool], list[str]] = {}
    for row in summary["kept"]:
        quotas.setdefault((row["consumer"], row["reason"], row["changed"]), []).append(_quota(row))
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (path, reason, is_changed), amounts in quotas.items():
        key = (path, reason) if is_changed else ("", reason)
        alike.setdefault(key, []).append((path, ", ".join(amounts)))
    for (changed, reason), those in alike.items():
        one, several = _WHY[reason]
        rest = 0 if changed else summary["kept_more"].get(reason, 0)
        if len(those) + rest == 1:
            path, quota = those[0]
            yield f"{path} keeps {quota}{' though its values change' if changed else ''}: {one}"
        else:
            named = ", ".join(f"{path} ({quota})" for path, quota in those[:_NAMED])
            others = max(0, len(those) - _NAMED) + rest
            more = f" and {others:,} more" if others else ""
            yield f"{named}{more} keep theirs: {several}"


def _quota(row: Document) -> str:
    if row["pool"] is not None:
        return f"{percent(row['quota'])} of {'the public pool' if row['pool'] == '/' else row['pool']}"
    return str(row["quota"]) if row["resource"] == SLOTS else f"{row['quota']} {row['resource']}"


def nothing_stopped(summary: Document) -> str:
    """That nothing is stopped, and why, where that is simple."""
    why = summary["nothing_taken"]
    if why is None:
        return "Nothing is stopped"
    if why["reason"] != IDLE:
        return f"Nothing is stopped: {_NOTHING[why['reason']]}"
    sides = (side for row in summary["changes"] for side in (row["old"], row["new"]))
    named = {name for side in sides if isinstance(side, dict) for name in side}
    idle = {name: amount for name, amount in why["idle"].items() if name in named} or why["idle"]
    told = [
        f"{amount} {name.removesuffix('s') if name == SLOTS and amount == 1 else name}" for name, amount in idle.items()
    ]
    is_one = len(idle) == 1 and next(iter(idle.values())) == 1
    return f"Nothing is stopped: {', '.join(told)} {'is' if is_one else 'are'} idle, and {_grants_text(why['granted'])}"


def _grants_text(granted: Mapping[str, int]) -> str:
    """Who gets how many units in the next cycle."""
    named = [f"{count(units, 'unit')} to {path}" for path, units in islice(granted.items(), _NAMED)]
    more = sum(islice(granted.values(), _NAMED, None))
    others = [f"{more:,} to others"] if more else []
    return f"the next cycle grants {', '.join([*named, *others])}"


def waits_text(waits: Mapping[str, int]) -> str:
    """Who waits longer, who does the most first."""
    paths = list(waits)
    if not paths:
        return "nobody waits longer"
    if len(paths) == 1:
        return f"{paths[0]} waits longer"
    if len(paths) <= _NAMED:
        return f"{', '.join(paths[:-1])} and {paths[-1]} wait longer"
    return f"{len(paths)} consumers wait longer, {paths[0]} the most"
