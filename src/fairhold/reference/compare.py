"""Compares the numbers of a result with those that the rules give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.reference.document import MalformedError, instant, mapping, short
from fairhold.reference.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MISSING = "nothing"
FORMAT = "FORMAT"
ROWS = {"stops": "R-SETTLE-1", "grants": "R-GRANT-1", "withdrawn": "R-NOTICE-1", "reclaims": "R-RECLAIM-4"}
"""Lists of rows of a cycle, with the rule that a wrong row breaks."""
CYCLE_KEYS = {*ROWS, "warnings", "state"}
FIELDS = {
    "demand": "R-NEED-1",
    "need": "R-NEED-2",
    "owned": "R-SET-1",
    "reserve": "R-SCALE-2",
    "limit": "R-SCALE-3",
    "allocated": "R-SETTLE-1",
    "quota": "R-QUOTA-2",
    "free": "R-FREE-1",
    "share_ratio": "R-SET-1",
    "planned": "R-SHARE-3",
}


def differences(rule: str, where: str, said: Mapping[Any, Any], expected: Mapping[Any, Any]) -> Iterator[Finding]:
    """One finding for each key whose values or types differ: `true` is not 1, and `3.0` is not 3."""
    for key in [*expected, *(each for each in said if each not in expected)]:
        one, two = said.get(key, MISSING), expected.get(key, MISSING)
        if one != two or type(one) is not type(two):
            place = f"{where} {_words(key)}".strip()
            told = short(one) if isinstance(one, (dict, list)) else one
            yield Finding(rule, place, told, two, "differs from what the rules give")


def _words(key: object) -> str:
    return " ".join(str(part) for part in key if part != "") if isinstance(key, tuple) else str(key)


def compare_tables(said: dict[str, Any], expected: dict[str, Any]) -> Iterator[Finding]:
    """Compare the instant, the slots, the idle slots and the table of consumers."""
    keys = set(expected)
    yield from differences(FORMAT, "result", dict.fromkeys(said), dict.fromkeys(keys))
    try:
        if instant(said.get("now")) != instant(expected["now"]):
            yield Finding(FORMAT, "now", said.get("now"), expected["now"], "is not the instant of the state")
        groups = mapping(said.get("resource_groups"))
        yield from differences(
            FORMAT, "resource_groups", dict.fromkeys(groups), dict.fromkeys(expected["resource_groups"])
        )
        for name, right in expected["resource_groups"].items():
            yield from _compare_group(name, mapping(groups.get(name)), right)
    except MalformedError as error:
        yield Finding(FORMAT, "resource_groups", str(error), "the agreed form", "cannot be read")


def _compare_group(name: str, said: dict[str, Any], right: dict[str, Any]) -> Iterator[Finding]:
    numbers = {key: value for key, value in said.items() if key != "consumers"}
    yield from differences("R-QUOTA-1", name, numbers, {key: right[key] for key in right if key != "consumers"})
    consumers = mapping(said.get("consumers"))
    yield from differences(FORMAT, name, dict.fromkeys(consumers), dict.fromkeys(right["consumers"]))
    for path, row in right["consumers"].items():
        found = mapping(consumers.get(path, {}))
        for field in [*row, *(key for key in found if key not in row)]:
            rule = FIELDS.get(field, FORMAT)
            one = {field: found[field]} if field in found else {}
            two = {field: row[field]} if field in row else {}
            yield from differences(rule, f"{name} {path}", one, two)
