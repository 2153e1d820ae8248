"""Results that differ in meaning from a right one by one thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = dict[str, Any]
GROUP = "g"
ROWS = ("stops", "grants", "reclaims", "withdrawn")
NUMBERS = ("quota", "free", "need", "reserve", "allocated", "demand", "owned")


def mutants(result: Json, dice: Random, number: int) -> list[tuple[str, Json]]:
    """(what was changed, result), at most so many; none of them says the same as the result."""
    found = []
    text = json.dumps(result)
    for _ in range(number):
        changed = json.loads(text)
        what = dice.choice(_WAYS)(changed, dice)
        if what and json.dumps(changed) != text:
            found.append((what, changed))
    return found


def _some_row(result: Json, dice: Random, keys: tuple[str, ...] = ROWS) -> tuple[str, Json] | None:
    rows = [(key, row) for key in keys for row in result[key]]
    return dice.choice(rows) if rows else None


def _units(result: Json, dice: Random) -> str:
    """One unit more or less."""
    found = _some_row(result, dice)
    if found is None:
        return ""
    found[1]["units"] += dice.choice((1, -1))
    return f"{found[0]} units"


def _leaf(result: Json, dice: Random) -> str:
    """Another consumer, or another request."""
    found = _some_row(result, dice)
    if found is None:
        return ""
    key, row = found
    others = [each for each in result["state"].get("requests", []) if each["id"] != row.get("request")]
    if "request" in row:
        if not others:
            return ""
        other = dice.choice(others)
        row |= {"request": other["id"], "consumer": other["consumer"]}
    else:
        row["consumer"] = dice.choice(sorted(result["state"]["demand"]))
    return f"{key} of another"


def _host(result: Json, dice: Random) -> str:
    """Another host, as some other row names."""
    hosts = {row["host"] for row in result["state"].get("allocations", []) if "host" in row}
    found = _some_row(result, dice)
    if found is None or "host" not in found[1] or len(hosts) < 2:
        return ""
    found[1]["host"] = dice.choice(sorted(hosts - {found[1]["host"]}))
    return f"{found[0]} on another host"


def _deadline(result: Json, dice: Random) -> str:
    """A second later or earlier."""
    found = _some_row(result, dice, ("reclaims",))
    if found is None:
        return ""
    row = found[1]
    at = row["deadline"].index("Z") - 1
    row["deadline"] = f"{row['deadline'][:at]}{(int(row['deadline'][at]) + dice.choice((1, 9))) % 10}Z"
    return "deadline"


def _taker(result: Json, dice: Random) -> str:
    """For somebody else, or for nobody."""
    found = _some_row(result, dice, ("reclaims",))
    if found is None:
        return ""
    others = {None, *(path for path in result["resource_groups"][GROUP]["consumers"] if path != "/")}
    found[1]["for"] = dice.choice(sorted(others - {found[1]["for"]}, key=str))
    return "for"


def _row_gone(result: Json, dice: Random) -> str:
    """A row is missing."""
    found = _some_row(result, dice)
    if found is None:
        return ""
    result[found[0]].remove(found[1])
    return f"{found[0]} missing"


def _row_more(result: Json, dice: Random) -> str:
    """A unit is granted, stopped, withdrawn or taken out of nothing."""
    key = dice.choice(ROWS)
    row: Json = {"resource_group": GROUP, "units": 1}
    if requests := result["state"].get("requests"):
        one = dice.choice(requests)
        row |= {"consumer": one["consumer"], "request": one["id"]}
        hosts = [each["host"] for each in result["state"].get("allocations", []) if "host" in each]
        row |= {"host": dice.choice(hosts)} if hosts else {}
    else:
        row["consumer"] = dice.choice(sorted(result["state"]["demand"]))
    if key == "reclaims":
        row |= {"for": None, "deadline": result["now"], "reason": "quota"}
    result[key].append(row)
    return f"{key} more"


def _number(result: Json, dice: Random) -> str:
    """A number of a consumer is one more or less."""
    path = dice.choice(sorted(result["resource_groups"][GROUP]["consumers"]))
    key = dice.choice(NUMBERS)
    result["resource_groups"][GROUP]["consumers"][path][key] += dice.choice((1, -1))
    return key


def _two_numbers(result: Json, dice: Random) -> str:
    """One unit of a quota is another consumer's."""
    table = result["resource_groups"][GROUP]["consumers"]
    if len(table) < 3:
        return ""
    one, other = dice.sample(sorted(set(table) - {"/"}), 2)
    table[one]["quota"] += 1
    table[other]["quota"] -= 1
    return "quota of another"


def _total(result: Json, dice: Random) -> str:
    """The number of slots, or of idle ones, is another."""
    key = dice.choice(("slots", "idle"))
    result["resource_groups"][GROUP][key] += dice.choice((1, -1))
    return key


def _state(result: Json, dice: Random) -> str:
    """The state after the cycle says another thing than the cycle."""
    state = result["state"]
    rows = [*state.get("allocations", []), *state.get("reclaims", []), *state.get("borrowed", [])]
    if rows and dice.random() < 0.5:
        dice.choice(rows)["units"] += 1
        return "state units"
    if not state.get("allocated"):
        return ""
    leaf = dice.choice(sorted(state["allocated"]))
    state["allocated"][leaf][GROUP] += 1
    return "state allocated"


def _wishes(result: Json, dice: Random) -> str:
    """The state after the cycle wants something else than the one before."""
    state = result["state"]
    if requests := state.get("requests"):
        request = dice.choice(requests)
        request["count"] += 1
        return "state count"
    leaf = dice.choice(sorted(state["demand"]))
    state["demand"][leaf][GROUP] += 1
    return "state demand"


_WAYS = (
    *(_units, _leaf, _host, _deadline, _taker, _row_gone, _row_more),
    *(_number, _two_numbers, _total, _state, _wishes),
)
