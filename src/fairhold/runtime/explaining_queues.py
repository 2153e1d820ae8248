"""The first sentence of an explanation of queues; what commands and the service tell alike."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

WHY = {
    "no hosts": "only totals are known, and units need hosts",
    "queue limit": "a limit is reached",
    "beyond deserved": "it is not preemptible, and non-preemptible work of its queue already uses what is deserved",
    "delay": "its preemption delay is not over",
    "above fair share": "it reclaims nothing, because its queue would be above its fair share",
    "strategy": "no other queue has more than it may keep",
    "not preemptible": "what others have beyond that is not preemptible",
    "young": "what others could give has not run for its min_runtime",
    "granted now": "what others could give was granted to them in this cycle, as it had been held for them",
    "order": "a reclaim would break the order of the queues",
}
"""Why a request of a queue waits, where that is said of queues alone."""
BOUND = {
    "demand": "all that it asks for",
    "limit": "its limit",
    "limits below": "all that the limits below it allow",
    "deserved": "what it deserves; nothing is left beyond that",
    "weight 0": "what it deserves; with weight 0 it gets no surplus",
    "weight": "its part by weight",
    "parent": "all that the queue above it has",
    "priority": "what queues of higher priority leave",
    "history": "what queues that have used less leave",
    "division": "as KAI divides",
}
"""What holds a fair share where it is."""
_OF_SURPLUS = frozenset({"weight", "priority", "history"})
"""Those that say how much surplus there is."""


def head(told: Document) -> str:
    """What a queue is entitled to and why, in one sentence without its end."""
    whose = f"{told['consumer']} in {', '.join(told['resource_groups'])}"
    shares = [_share(each, told["consumer"]) for each in told["resources"] if each["requested"] or each["fair_share"]]
    return f"{whose}: {'; '.join(shares)}" if shares else whose


def _share(one: Document, path: str) -> str:
    said, holds = f"fair share {one['resource']} {one['fair_share']} of {one['total']}", f", holds {one['held']}"
    mine = own_row(one, path)
    if mine is None:
        return said + holds
    parts = ""
    if "deserved_part" in mine and mine["bound"] in _OF_SURPLUS:
        parts = f"{mine['deserved_part']} deserved and {mine['surplus_part']} surplus, "
    return f"{said} ({parts}{BOUND[mine['bound']]} [{mine['rule']}]){holds}"


def own_row(one: Document, path: str) -> Document | None:
    """The row of a consumer at its own level; None of the root, which is divided."""
    rows = one["levels"][-1]["siblings"] if one["levels"] else []
    return next((row for row in rows if row["consumer"] == path), None)


def detail(waits: Document) -> str:
    """The numbers behind a reason."""
    if bound := waits.get("bound"):
        most = bound.get("limit", bound.get("deserved"))
        kind = "limit" if "limit" in bound else "deserved"
        has = f"{bound['consumer']} has {bound['resource']} {bound['used']} of {most} ({kind})"
        coming = f" with {bound['on_the_way']} more on the way" if bound["on_the_way"] else ""
        return f": {has}{coming}, and needs {bound['need']} more"
    if waits["reason"] == "delay":
        return f": not before {waits['until']}"
    gate = waits.get("others", {}).get("gate")
    if gate:
        return f": {gate['consumer']} would have {gate['resource']} {gate['value']}, entitled to {gate['bound']}"
    return ""
