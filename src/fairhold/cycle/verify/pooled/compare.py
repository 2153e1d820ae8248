"""Compares the pools' part of a result with its recomputation, number by number and row by row."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import amounts_document, number
from fairhold.reference.document import short
from fairhold.reference.finding import Finding
from fairhold.units import format_instant, parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State

Json = dict[str, Any]
MISSING = "nothing"
FORMAT = "FORMAT"
NUMBERS = {
    "amounts": "R-POOL-3",
    "usage": "R-USAGE-1",
    "usage_demand": "R-USAGE-2",
    "usage_quota": "R-USAGE-3",
    "share_quota": "R-USAGE-4",
    "approximate_share_quota": "R-USAGE-4",
    "fair_share": "R-QUEUE-3",
    "requested": "R-QUEUE-1",
    "deserved": "R-QUEUE-2",
    "saturation": "R-CONTEST-2",
}
ROWS = {
    "stops": "R-SETTLE-1",
    "grants": "R-TURN-1",
    "reclaims": "R-TAKE-3",
    "observed": "R-CONTROL-4",
    "withdrawn": "R-NOTICE-2",
    "ownership": "R-ADJUST-3",
    "refused": "R-POOL-3",
    "warnings": "R-ADJUST-2",
}
STATE_ROWS = {
    "requests": FORMAT,
    "allocations": "R-SWEEP-1",
    "reclaims": "R-NOTICE-2",
    "held": "R-HELD-1",
    "ownership": "R-ADJUST-3",
    "own_entries": "R-ADJUST-1",
    "shortages": "R-CONTROL-3",
}
"""Lists of rows with the rule that a wrong row breaks."""
FIELDS = {"deadline": "R-LEND-6", "lenders": "R-POOL-2", "pool": "R-POOL-1", "for": "R-TAKE-1", "amounts": "R-ADJUST-0"}
"""Fields with a rule of their own."""
NAMES = ("id", "request", "host", "consumer", "entry")
"""The fields that identify a row."""


def compare_pools(said: Json, expected: Json) -> Iterator[Finding]:
    """Compare the tables of all pools."""
    for key in ("pools", "queues"):
        if key in said or key in expected:
            yield from _compare_values(said.get(key, MISSING), expected.get(key, MISSING), (key,), FORMAT)


def compare_moves(plan: Plan, state: State, said: Json, expected: Json) -> Iterator[Finding]:
    """Compare all lists of a cycle, and those of the state after it."""
    for section, rule in ROWS.items():
        yield from _compare_rows(
            rule, section, said.get(section, [] if section == "observed" else MISSING), expected[section]
        )
    after = said["state"] if isinstance(said.get("state"), dict) else {}
    right = {"requests": [_request(plan, each) for each in state.requests if each.unit], **expected["state"]}
    for section, rule in STATE_ROWS.items():
        # That nobody owns anything is not the same as not knowing it.
        rows = after.get(section, MISSING if section == "ownership" else [])
        if section == "requests" and isinstance(rows, list):
            rows = [_with_span(row) for row in rows]
        yield from _compare_rows(rule, f"state {section}", rows, right[section])
    last = expected["state"]["adjusted"]
    yield from _compare_values(after.get("adjusted", {}), last, ("state", "adjusted"), "R-ADJUST-5")
    yield from _compare_values(after.get("usage", {}), _usage(plan, state), ("state", "usage"), FORMAT)
    spent = {plan.tree.paths[row]: _spent(plan, amounts) for row, amounts in state.spent_amounts.items()}
    yield from _compare_values(after.get("spent_resources", {}), spent, ("state", "spent_resources"), FORMAT)


def _is_same(said: object, right: object) -> bool:
    """Whether values and their types are equal: `true` is not 1, `3.0` not 3; a number that was read has its text."""
    if isinstance(said, float) and isinstance(right, float):
        return float(said) == right
    if type(said) is not type(right):
        return False
    if isinstance(said, dict) and isinstance(right, dict):
        return said.keys() == right.keys() and all(_is_same(said[key], right[key]) for key in right)
    if isinstance(said, list) and isinstance(right, list):
        return len(said) == len(right) and all(map(_is_same, said, right))
    return said == right


def _compare_values(said: object, right: object, where: tuple[str, ...], rule: str) -> Iterator[Finding]:
    if isinstance(said, dict) and isinstance(right, dict):
        for key in [*right, *(each for each in said if each not in right)]:
            below = where if key == "consumers" else (*where, str(key))
            pair = said.get(key, MISSING), right.get(key, MISSING)
            yield from _compare_values(*pair, below, NUMBERS.get(str(key), rule))
    elif not _is_same(said, right):
        yield Finding(rule, " ".join(where), _told(said), _told(right), "differs from what the rules give")


def _compare_rows(rule: str, section: str, said: object, right: list[Json]) -> Iterator[Finding]:
    """Rows that are missing, too many, different or in another order."""
    if not isinstance(said, list):
        yield Finding(FORMAT, section, _told(said), "a list", "cannot be read")
        return
    if _is_same(said, right):
        return
    extra, lacking = list(said), []
    for row in right:
        at = next((at for at, other in enumerate(extra) if _is_same(other, row)), None)
        if at is None:
            lacking.append(row)
        else:
            del extra[at]
    if not extra and not lacking:
        at = next(at for at, (one, two) in enumerate(zip(said, right, strict=True)) if not _is_same(one, two))
        text = "the rows are in another order than the rules give"
        yield Finding(rule, f"{section} {at + 1}", _told(said[at]), _told(right[at]), text)
    for row in lacking:
        at = next((at for at, other in enumerate(extra) if _name(other) == _name(row)), None)
        if at is None:
            yield Finding(rule, f"{section} {_words(row)}", MISSING, _told(row), "is missing")
        else:
            yield from _compare_fields(rule, f"{section} {_words(row)}", extra.pop(at), row)
    for row in extra:
        yield Finding(rule, f"{section} {_words(row)}", _told(row), MISSING, "is not what the rules give")


def _compare_fields(rule: str, where: str, said: Json, right: Json) -> Iterator[Finding]:
    for key in [*right, *(each for each in said if each not in right)]:
        pair = said.get(key, MISSING), right.get(key, MISSING)
        yield from _compare_values(*pair, (where, str(key)), FIELDS.get(str(key), rule))


def _name(row: object) -> list[str]:
    return [str(row.get(key, "")) for key in NAMES] if isinstance(row, dict) else []


def _words(row: object) -> str:
    return " ".join(each for each in _name(row) if each) if isinstance(row, dict) else short(row)


def _told(value: object) -> object:
    return short(value) if isinstance(value, (dict, list)) else value


def _with_span(row: object) -> object:
    """A request's time limit in microseconds, however it is written."""
    if isinstance(row, dict) and isinstance(row.get("time_limit"), str):
        return row | {"time_limit": parse_duration(row["time_limit"])}
    return row


def _usage(plan: Plan, state: State) -> Json:
    """Decayed history as a state repeats it."""
    return {
        plan.tree.paths[row]: {
            each.name: number(part) for each, part in zip(plan.resources, parts, strict=True) if part
        }
        for row, parts in sorted(state.usage.items())
    }


def _spent(plan: Plan, amounts: tuple[tuple[int, int], ...]) -> Json:
    """What a consumer has used, as a state repeats it; after the resources comes the dominant share in billionths."""
    of = [*((each.name, each.base) for each in plan.resources), ("dominant_share", 10**9)]
    return {of[at][0]: number(Fraction(seconds, of[at][1])) for at, seconds in amounts}


def _request(plan: Plan, request: Request) -> Json:
    """A request as the state after repeats it; what has its default is left out."""
    stated: Json = {
        "min_count": request.min_count,
        "priority": request.priority,
        "submitted": format_instant(request.submitted) if request.submitted else "",
        "user": request.user,
        "time_limit": request.time_limit,
        "need": list(request.siting.need),
        "prefer": list(request.siting.prefer),
        "avoid": list(request.siting.avoid),
        "place": request.siting.place,
        "waiting_since": "" if request.since is None else format_instant(request.since),
    }
    said = {} if request.preemptible is None else {"preemptible": request.preemptible}
    return (
        {
            "id": request.id,
            "consumer": plan.tree.paths[request.consumer],
            "unit": amounts_document(plan.resources, request.unit),
            "count": request.count,
        }
        | {key: value for key, value in stated.items() if value}
        | said
    )
