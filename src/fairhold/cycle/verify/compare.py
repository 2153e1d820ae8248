"""Compares a result with its recomputation, number by number and row by row."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.document import DocumentReader, MalformedError, instant, mapping, rows, short, text, whole
from fairhold.cycle.verify.finding import Finding
from fairhold.cycle.verify.sheet import planned_groups, slots_now
from fairhold.cycle.verify.takers import by_taker
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

MISSING = "nothing"
FORMAT = "FORMAT"
ROWS = {"stops": "R-SETTLE-1", "grants": "R-GRANT-1", "withdrawn": "R-NOTICE-1", "reclaims": "R-RECLAIM-4"}
"""Lists of rows of a cycle, with the rule that a wrong row breaks."""
NOTICES = {"reclaims", "observed"}
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
STATE_RULES = {
    "allocated": "R-GRANT-1",
    "allocations": "R-GRANT-3",
    "reclaims": "R-NOTICE-1",
    "held": "R-ASIDE-1",
    "borrowed": "R-LEND-4",
    "shortages": "R-CONTROL-3",
}
PLACE_KEYS = {"consumer", "resource_group", "units", "request", "host"}


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


def compare_rows(
    plan: Plan, said: dict[str, Any], expected: dict[str, Any], reasons: Mapping[tuple[str, str], tuple[str, ...]]
) -> Iterator[Finding]:
    """Compare stops, grants, reclaims and withdrawn notices: sums by consumer, request, host and deadline.

    reasons : (resource group, leaf) → reasons that a new notice of it may have
    """
    reader = DocumentReader(plan)
    shown = {"observed": "R-CONTROL-4"} if "observed" in expected else {}
    for kind, rule in (ROWS | shown).items():
        try:
            found = rows(said.get(kind), PLACE_KEYS | ({"for", "deadline", "reason"} if kind in NOTICES else set()))
            yield from differences(rule, kind, _sums(found, kind), _sums(expected[kind], kind))
            if kind in NOTICES:
                wrong = [finding for row in found for finding in _check_notice(reader, row, reasons)]
                yield from wrong or differences("R-FOR-1", kind, by_taker(found), by_taker(expected[kind]))
        except MalformedError as error:
            yield Finding(FORMAT, kind, str(error), "the agreed form", "cannot be read")
    if said.get("warnings") != []:
        yield Finding(FORMAT, "warnings", said.get("warnings"), [], "slots give no warnings but the plan's")


def _sums(found: Iterable[dict[str, Any]], kind: str) -> dict[Any, int]:
    sums: Counter[Any] = Counter()
    for row in found:
        holder = (text(row.get("resource_group")), text(row.get("consumer")))
        part = (text(row.get("request", "")), text(row.get("host", "")))
        deadline = format_instant(instant(row.get("deadline"))) if kind in NOTICES else ""
        sums[*holder, *part, deadline] += whole(row.get("units"), least=1)
    return dict(sums)


def _check_notice(
    reader: DocumentReader, row: dict[str, Any], reasons: Mapping[tuple[str, str], tuple[str, ...]]
) -> Iterator[Finding]:
    where = f"reclaims {row.get('consumer')}"
    if "for" not in row:
        yield Finding("R-FOR-1", where, MISSING, "a leaf or null", "a notice says for whom it is")
    reader.check_taker(row.get("for"))
    may_be = reasons.get((row["resource_group"], row["consumer"]), ())
    if row.get("reason") not in (may_be if row.get("for") is None else ("quota",)):
        yield Finding(
            "R-NOTICE-1", where, row.get("reason"), " or ".join(may_be), "is not a reason that this notice can have"
        )


def compare_state(plan: Plan, state: State, said: dict[str, Any], expected: dict[str, Any]) -> Iterator[Finding]:
    """Compare the state after the cycle, part by part."""
    reader = DocumentReader(plan)
    slots = {name: slots_now(plan.resource_groups[name], state) for name in planned_groups(plan)}
    own = {name: group.slots for name, group in plan.resource_groups.items() if not group.hosts}
    usual = {name: own.get(name, slots[name]) for name in slots}
    try:
        found = reader.read(said.get("state"), usual)
        right = reader.read(expected["state"], usual)
        reclaims = rows(said.get("reclaims"), PLACE_KEYS | {"for", "deadline", "reason"})
        right["reclaims"] = _with_reasons(right["reclaims"], reclaims, expected["reclaims"])
        for section, values in right.items():
            rule = STATE_RULES.get(section, FORMAT)
            yield from differences(rule, f"state {section}", dict(found[section]), dict(values))
    except MalformedError as error:
        yield Finding(FORMAT, "state", str(error), "the form of a state file", "cannot be read")


def _with_reasons(
    right: dict[Any, int], said: Iterable[dict[str, Any]], expected: Iterable[dict[str, Any]]
) -> dict[Any, int]:
    """The notices after the cycle, the new ones with the reasons of the result.

    A notice may have any of several valid reasons, but the state must repeat it.
    """
    after = Counter(right)
    for sign, found in ((-1, expected), (1, said)):
        for row in found:
            holder = (text(row.get("consumer")), text(row.get("resource_group")))
            part = (text(row.get("request", "")), text(row.get("host", "")))
            taker = None if row.get("for") is None else text(row["for"])
            key = (*holder, *part, instant(row.get("deadline")), text(row.get("reason")), taker)
            after[key] += sign * whole(row.get("units"), least=1)
    return {key: units for key, units in after.items() if units}
