"""What must hold of every explanation of a consumer, told from the documents of the cycle and the state after it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.units import parse_duration, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle

Json = dict[str, Any]


def number(text: str | float) -> Fraction:
    return Fraction(str(text))


def untold(cycle: Cycle, told: Json) -> Iterator[str]:
    """What an explanation says otherwise than the cycle, or leaves open."""
    for pool in told["pools"]:
        yield from wrong_pool(cycle, pool)
    for request in told["requests"]:
        yield from wrong_request(cycle, request)
    for parcel in told["owned"]:
        yield from wrong_parcel(cycle, parcel)
    for limit in told["share_limits"]:
        left = max(Fraction(0), number(limit["limit"]) - number(limit["used"]) - number(limit["on_the_way"]))
        if number(limit["left"]) != left:
            yield f"{limit} should leave {left}"


def wrong_parcel(cycle: Cycle, parcel: Json) -> Iterator[str]:
    """A parcel that is more or less than what is used, kept and idle of it, or whose users are others."""
    consumer = {row["request"]: row["consumer"] for kind in ("grants", "reclaims") for row in cycle.document[kind]}
    for name, amount in parcel["amounts"].items():
        parts = [parcel["idle"], *(each["amounts"] for each in (*parcel["kept"], *parcel["used_by"]))]
        if sum(number(each.get(name, 0)) for each in parts) != number(amount):
            yield f"{parcel} does not add up"
    for user in parcel["used_by"]:
        if consumer.get(user["request"], user["consumer"]) != user["consumer"]:
            yield f"{parcel} says that {user['request']} is of {user['consumer']}"


def wrong_pool(cycle: Cycle, pool: Json) -> Iterator[str]:
    document = cycle.document["pools"][pool["pool"]]
    for name, has in document["amounts"].items():
        lent_in = sum(number(each[name]) for each in pool["lent_in"].values())
        content = number(pool["unowned"][name]) + lent_in - number(pool["lent_out"][name])
        if not number(pool["amounts"][name]) == content == number(has):
            yield f"{pool['pool']} has {has} of {name}, and what it is made of {content}"
    for level in pool["levels"]:
        for row in level["siblings"]:
            mine = document["consumers"][row["consumer"]]
            for name in ("usage", "usage_demand", "usage_quota"):
                if row[name] != mine[name]:
                    yield f"{row['consumer']} has {name} {mine[name]} in {pool['pool']}, told is {row[name]}"
        yield from wrong_level(pool["pool"], level)
    usage = sum((number(each["usage"]) for each in pool["requests"]), Fraction(0))
    if usage != number(pool["usage"]):
        yield f"usages of requests in {pool['pool']} are {usage} in all, not {pool['usage']}"


def wrong_level(pool: str, level: Json) -> Iterator[str]:
    """A division that is none: by class, in each to λ · ratio, at most the demand."""
    left = number(level["amount"])
    for each in level["classes"]:
        if number(each["amount"]) != left:
            yield f"{pool}, {level['parent']}: class {each} has {left} to divide"
        for row in level["siblings"]:
            if row["share_priority"] == each["share_priority"]:
                quota = number(row["usage_quota"])
                share = number(each["lambda"]) * row["share_ratio"]
                left -= quota
                if quota != min(number(row["usage_demand"]), share) and row["bound"] != "ratio 0":
                    yield f"{pool}: {row} does not follow from {each}"
                if row["bound"] in {"share ratio", "all that is used"} and quota != share:
                    yield f"{pool}: {row} is bound by less than {share}"
    parts = sum((number(row["percentage"]) for row in level["siblings"]), Fraction(0))
    if parts not in {0, 1} or (parts == 0 and any(row["node"] for row in level["siblings"])):
        yield f"{pool}, {level['parent']}: percentages sum up to {parts}"


def wrong_request(cycle: Cycle, request: Json) -> Iterator[str]:
    name = request["request"]
    held: Counter[tuple[str, str]] = Counter()
    for row in cycle.after.allocations:
        if row.request == name and row.host not in cycle.after.hosts_down:
            held[row.host, row.pool] += row.units
    told: Counter[tuple[str, str]] = Counter()
    for each in request["stands"]:
        told[each["host"], each["pool"]] += each["units"]
        yield from wrong_grace(cycle, each)
    if +held != +told:
        yield f"{name} holds {dict(held)}, told is {dict(told)}"
    noticed = sum(
        row.units for row in cycle.after.notices if row.request == name and row.host not in cycle.after.hosts_down
    )
    if noticed != sum(each["units"] for each in request["stands"] if each["notice"]):
        yield f"{noticed} units of {name} are under notice"
    if request["waiting"] != max(0, request["count"] - request["held"]):
        yield f"{name} waits for {request['waiting']}"
    if sum(each["units"] for each in [*request["coming"], *request["kept"]]) != request["on_the_way"]:
        yield f"{request['on_the_way']} units are on the way to {name}: {request['coming']}, {request['kept']}"
    if bool(request["waiting"]) != bool(request["waits"]):
        yield f"{name} waits for {request['waiting']} because of {request['waits']}"
    if request["waits"] and request["on_the_way"] >= request["waiting"] and request["waits"]["reason"] != "on the way":
        yield f"all of {name} is on its way, and told is {request['waits']}"


def wrong_grace(cycle: Cycle, stands: Json) -> Iterator[str]:
    """A new notice runs out after the grace in force."""
    notice, bound = stands["notice"], stands["grace"]["within"]
    if notice and notice["is_new"]:
        grace = (parse_instant(notice["deadline"]) or 0) - cycle.after.now
        if bound is None or grace != parse_duration(bound):
            yield f"{stands} has {grace} microseconds"
