"""The words for one request of a queue: where it stands, who takes its units, why it waits, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.pool_requests import at_least, what_would_help
from fairhold.runtime.explaining_pools import counted, listed, why

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cli.pools import Document

_MOST = 5
"""Moves that are named in one line at most."""
_STRATEGY = {"fair_share": "by fair shares", "quota": "by quotas", None: "given before this cycle"}
_TESTS = {
    "within fair share": "{consumer} would have {resource} {value}, and its fair share is {bound}, {by} too little",
    "above threshold": "{consumer} holds {resource} {value}, and has to hold more than {bound}",
    "within deserved": "{consumer} would have {resource} {value}, and deserves {bound}, {by} too little",
    "above deserved": "{consumer} holds {resource} {value}, and has to hold more than it deserves, {bound}",
    "deserved": "{consumer} deserves {resource} {bound}, and would be left with {value}",
    "saturation": "{compared_with} would have {ours} of its fair share of {resource}, {consumer} {theirs}: it has to "
    "have more than {multiplier} times that, so to be left with more than {resource} {least}, and is with {left}",
    "order": "{compared_with} would have {ours} of its fair share of {resource}, more than {consumer} with {theirs}, "
    "which has to be left with {resource} {least}, and is with {left}",
    "young": "{request} of {consumer} has run for {ran}, and is spared until it has for {runtime}, at {until}",
    "granted now": "{request} of {consumer} was granted just now on what was held for it, and gives nothing "
    "before {until}",
    "strategy": "{consumer} would hold {resource} {value} by then, and may keep {bound}",
}
"""Inequality that fails → what it says of both sides."""
_CAUSES = {
    "hierarchy": "because of the hierarchy: {compared[0]} and {compared[1]} are compared, which hold {resource} "
    "{values[0]} and {values[1]}",
    "deserved": "because {compared[1]} deserves more: {resource} {values[1]}, and {compared[0]} {values[0]}",
    "priority": "because of their priorities: {compared[1]} has {values[1]}, and {compared[0]} {values[0]}",
    "weight": "because of their weights: {compared[1]} has {values[1]}, and {compared[0]} {values[0]}",
}
"""Why a queue that holds more keeps it."""


def request_text(request: Document) -> str:
    """One request."""
    gang = at_least(request)
    waits = f", {request['waiting']} {'waits' if request['waiting'] == 1 else 'wait'}" if request["waiting"] else ""
    coming = f", {request['on_the_way']} of them on the way" if request["on_the_way"] else ""
    kind = "" if request["preemptible"] else ", not preemptible"
    wants = f"{counted(request['count'])}{gang} of {listed(request['unit'])}{kind}"
    lines = [f"{request['title']} of {request['consumer']}: {wants}; holds {request['held']}{waits}{coming}."]
    for row in request["stands"]:
        lines += _stands(row)
    if request["on_hosts_down"]:
        lines.append(f"  {request['on_hosts_down']} on hosts that are down or not in the plan")
    for each in request["coming"]:
        lines += _coming(each)
    lines += [f"  {each['units']} kept for it on {each['host']} [R-HELD-1]" for each in request["kept"]]
    if request["waits"] and request["waits"]["reason"] != "on the way":
        lines += _waits(request)
    return "\n".join(lines)


def _stands(row: Document) -> Iterator[str]:
    """Units that stand alike, and who takes them."""
    new, notice = ", new" if row["is_new"] else "", row["notice"]
    if notice is None:
        yield f"  {row['units']} on {row['host']}{new}"
        return
    if notice["reason"] == "consolidation":
        whom = f"{notice['for']} of {notice['consumer']}"
        when = f"moves by {notice['deadline']} to make room for {whom}"
        yield f"  {row['units']} on {row['host']}{new}; {when} [{notice['rule']}]"
        return
    goes = f"for {notice['for']} of {notice['consumer']}" if notice["for"] else "for nobody"
    how = f", {_STRATEGY[notice['strategy']]}" if "strategy" in notice else ""
    if "priority" in notice:
        how = f", of priority {notice['priority']} in the same queue"
    told = f"under notice until {notice['deadline']}, {goes}{how} [{notice['rule']}]"
    yield f"  {row['units']} on {row['host']}{new}; {told}"
    for name, both in notice.get("resources", {}).items():
        yield f"    {name}: {'; '.join(_moved(each) for each in both.values())}"


def _moved(side: Document) -> str:
    deserved = "all" if side["deserved"] is None else side["deserved"]
    return (
        f"{side['consumer']} held {side['held']} and will hold {side['as_moved']} of a fair share of "
        f"{side['fair_share']}, {deserved} deserved"
    )


def _coming(coming: Document) -> Iterator[str]:
    yield f"  {coming['units']} on the way to {coming['host']} [{coming['rule']}]"
    for each in coming["from"]:
        yield f"    when {each['units']} of {each['request']} ({each['consumer']}) have gone, by {each['deadline']}"


def _waits(request: Document) -> Iterator[str]:
    """Its place, why it is not placed, and why it takes nothing back."""
    waits, left = request["waits"], request["waiting"] - request["on_the_way"]
    yield f"  {counted(left)} {'waits' if left == 1 else 'wait'}: {why(waits)}"
    if request["serving"]:
        place = request["serving"]
        whose = f"{request['together']} has " if "together" in request else ""
        yield f"  {whose}place {place['place']} of {place['of']} in the order of serving [{place['rule']}]"
    if "gang" in waits:
        yield f"  {waits['gang']['units']} are wanted at once, and {waits['gang']['room_for']} fit on what is idle"
    if "others" in waits:
        yield from _others(waits["others"])
    if "consolidation" in waits:
        yield _moves(waits["consolidation"])
    yield from what_would_help(request)


def _moves(told: Document) -> str:
    """Who would have to move."""
    rows = told["moves"]
    named = ", ".join(f"{row['units']} of {row['request']} from {row['from']} to {row['to']}" for row in rows[:_MOST])
    more = f" and {len(rows) - _MOST} more" if len(rows) > _MOST else ""
    how = "in a later cycle" if told["is_on"] else "with `consolidation: true` in the settings"
    return f"  moves would make room, {how}: {named}{more} [{told['rule']}]"


def _others(others: Document) -> Iterator[str]:
    """Side by side, by which strategy it gives nothing, and the inequality that fails."""
    if others["gate"]:
        yield f"  takes nothing back: {_test(others['gate'])} [R-CONTEST-1]"
    for side in others["sides"]:
        holds = ", ".join(
            f"{name} {both['theirs']['held']} of a fair share of {both['theirs']['fair_share']}"
            for name, both in side["resources"].items()
        )
        yield f"  {side['consumer']}, compared with {side['compared_with']}: holds {holds}"
        if not others["gate"]:
            for each in side["strategies"]:
                yield from _strategy(each)
    if others["sides_left_out"]:
        yield f"  and {others['sides_left_out']} more that hold less"
    if others["own_queue"]:
        own = others["own_queue"]
        young = f", {own['young']} of them spared until {own['until']}" if own["young"] else ""
        make = "makes" if own["units"] == 1 else "make"
        yield f"  in its own queue {counted(own['units'])} of lower priority{young} {make} no room [R-CONTEST-5]"
    for cause in others["causes"]:
        ours, theirs = cause["held"]
        values = ["all" if value is None else value for value in cause["values"]]
        told = _CAUSES[cause["cause"]].format(**cause | {"values": values})
        yield f"  {cause['consumer']} holds {cause['resource']} {theirs} and its queue {ours} {told}"


def _strategy(one: Document) -> Iterator[str]:
    how = _STRATEGY[one["strategy"]]
    if not one["may_give"]:
        yield f"    {how} it keeps all: {'; '.join(map(_test, one['fails']))} [R-CONTEST-1]"
        return
    if one["could_give"]:
        yield f"    {how} it could give {counted(one['could_give'])}, which make no room [R-CONTEST-4]"
    for each in one["refused"]:
        if "gang" in each:
            gang = f"deserved is blocked by gang {each['gang']}, {counted(each['units'])} that stop together"
            yield f"    {how} {gang}: {_test(each)} [{each['rule']}]"
        elif each["test"] == "granted now":
            yield f"    {how} it keeps {counted(each['rest'])} for now: {_test(each)} [{each['rule']}]"
        elif each["rest"]:
            rest = f"{counted(each['rest'])} that would make room may not go without others that make none"
            yield f"    {how} {rest}: {_test(each)} [{each['rule']}]"
        else:
            yield f"    {how} it keeps {each['pieces']}: {_test(each)} [{each['rule']}]"
    if not one["could_give"] and not one["refused"]:
        yield f"    {how} it would give, but nothing that it holds is preemptible [R-CONTEST-3]"


def _test(one: Document) -> str:
    return _TESTS[one["test"]].format(**{name: "all" if value is None else value for name, value in one.items()})
