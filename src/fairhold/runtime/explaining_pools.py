"""An explanation of pools or queues with its first sentence; what commands and the service tell alike."""

from __future__ import annotations

from typing import Any

from fairhold.errors import count
from fairhold.runtime import explaining_queues

Document = dict[str, Any]

WHY = {
    "on the way": "its units are being reclaimed for it",
    "budget": "a budget is used up, so nothing more is granted",
    "user limit": "its user has reached the user limit, or would with all units that start together",
    "gang first": "the gang's minimum is being reclaimed; units beyond the minimum wait for that",
    "stopping": "the gang is being stopped as a whole; it asks for nothing until it has stopped",
    "control": "a control of the plan delays its reclaim",
    "unplaceable": "one unit is larger than any host",
    "never fits": "it can never start",
    "too large": "no suitable host has enough for one unit",
    "ratio 0": "its share ratio, or one above it, is 0, so it gets no share",
    "share limit": "a share limit is reached",
    "bound": "it may not borrow where there is room, because its grace is longer than allowed there",
    "held for others": "what is idle is held for other requests",
    "closed": "the hosts with room are closed",
    "packing": "the hosts with room are used exclusively by other leaves",
    "in use": "its own units use it, or it is being reclaimed",
    "nobody else": "no unit fits in what is idle, and no other consumer has units there",
    "usage quota": "no unit fits in what is idle, and its usage quota, or one above it, is reached",
    "comparison": "no unit fits in what is idle, and nobody has to give enough back",
    "granted now": "what others could give was granted to them in this cycle, as it had been held for them",
    "no room": "what can be reclaimed on any one host is too little",
    "gang": "too few units fit; a gang starts whole or not at all",
    "next cycle": "idle resources are there for it; the next cycle grants them",
}
"""Why a request waits, all in all or at one level."""
UNPLACEABLE = {
    "down": "every host that could take a unit is down",
    "labels": "no host has the labels that it asks for and is large enough for a unit",
}
"""Why no host can take a unit, where some are large enough."""
NEVER = {
    "hosts": "the suitable hosts are large enough for {room} of them",
    "down": "the hosts that are up are large enough for {room} of them",
    "user limit": "its user may hold {room} more",
    "share limit": "limits allow {room} of them, even if nobody else has any",
    "reach": "what it may use at one level is large enough for {room} of them",
}
"""What is too little for a gang."""


def as_document(told: Document, called: str = "request ") -> Document:
    """What the core tells of one consumer in one policy entry, with the sentence; called: as in `sentence`."""
    names = ("consumer", "policy", "resource_groups")
    head = {name: told[name] for name in names}
    return head | {"sentence": sentence(told, called)} | {name: told[name] for name in told if name not in names}


def sentence(told: Document, called: str = "request ") -> str:
    """What a consumer holds and wants, and why the first of its requests that waits does, in one sentence.

    called : what stands before the name of a request, as `job `
    """
    requests = told["requests"]
    head = f"{told['consumer']} in {', '.join(told['resource_groups'])}"
    if not requests:
        asks = "pools" not in told and any(each["requested"] for each in told["resources"])
        return f"{explaining_queues.head(told)}." if asks else f"{head}: it asks for nothing."
    held, count = (sum(request[name] for request in requests) for name in ("held", "count"))
    said = explaining_queues.head(told) if "pools" not in told else f"{head}: holds {held}, wants {count}"
    waits = [request for request in requests if request["waits"]]
    if not waits:
        return f"{said}: it has all that it wants."
    first = next((each for each in waits if each["waits"]["reason"] != "on the way"), waits[0])
    left = first["waiting"] - first["on_the_way"]
    if not left:
        return f"{said}: all that it waits for is on its way [{first['waits']['rule']}]."
    who = f"{counted(left)} of {called}{first['request']}"
    return f"{said}; {who} {'waits' if left == 1 else 'wait'}: {why(first['waits'])}."


def why(waits: Document) -> str:
    """Why a request waits, with where the least is missing and the rule."""
    said = explaining_queues.WHY.get(waits["reason"]) or WHY[waits["reason"]]
    if waits["reason"] == "unplaceable":
        said = unplaceable(waits)
    elif "never" in waits:
        said = f"{said}: {never(waits['never'])}"
    said += f"{explaining_queues.detail(waits)}{_control(waits)}{_budget(waits)}{_user(waits)}"
    return f"{said}{where(waits)} [{waits['rule']}]"


def unplaceable(told: Document) -> str:
    """Why no host can take a unit; told: of a request that waits."""
    if labels := told.get("labels"):
        return f"no host {labels} is large enough for a unit"
    return UNPLACEABLE.get(told.get("because", ""), WHY["unplaceable"])


def refused(told: Document) -> str:
    """Why a request can have nothing on the hosts that are up, with the nearest host where a unit is too large."""
    return f"{unplaceable(told)}{_nearest(told.get('nearest'))}" if told["reason"] == "unplaceable" else never(told)


def never(told: Document) -> str:
    """What is too little for a gang; told: of one that waits, or that is refused."""
    return f"{counted(told['units'])} at once, and {NEVER[told['because']].format(**told)}"


def _control(waits: Document) -> str:
    """Which control, of how many units, and until when."""
    if "control" not in waits:
        return ""
    until = f" until {waits['until']}" if waits["until"] else ""
    return f": {waits['control']}, {counted(waits['units'])}{until}"


def _budget(waits: Document) -> str:
    """Whose budget of what, and until when."""
    if "budget" not in waits:
        return ""
    budget = waits["budget"]
    hours = ", ".join(f"{amount} {name}" for name, amount in budget["hours"].items())
    return f": of {budget['consumer']}, {hours} hours a {budget['period']}; it goes on at {budget['ends']}"


def _user(waits: Document) -> str:
    """Who holds how many of how many units."""
    if "user" not in waits:
        return ""
    user = waits["user"]
    return f": {user['name']} holds {user['held']} of {counted(user['limit'])}"


def where(told: Document) -> str:
    """Which host has room and starts nothing, and on which other the least is missing; told: all in all, or a level."""
    closed, gap = told.get("closed", ""), told.get("nearest")
    if not closed:
        return _nearest(gap)
    return f": {closed}{_nearest(gap) if gap and gap['host'] != closed else ''}"


def _nearest(gap: Document | None) -> str:
    """The host where the least is missing; nothing where nothing is."""
    if not gap or not gap["missing"]:
        return ""
    return f"; nearest is {gap['host']}, {listed(gap['missing'])} short"


def counted(units: int) -> str:
    """A number of units in words."""
    return count(units, "unit")


def listed(amounts: Document) -> str:
    """Amounts in words."""
    return ", ".join(f"{name} {value}" for name, value in amounts.items()) or "nothing"
