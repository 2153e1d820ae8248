"""Random cases in which gangs that collect, labels, user limits, budgets and packings meet, under every policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.budgets.strategies import bounded
from tests.gangs.strategies import HOLD_AFTER, TIME_LIMITS
from tests.properties.strategies import GROUP, Case, Json, leaves_of, now_and_then

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

LABELS = ("zone=a", "zone=b", "ssd")
ON_HOSTS: tuple[list[str], ...] = ([], ["zone=a"], ["zone=b"], ["zone=a", "ssd"], ["zone=b", "ssd"])


@st.composite
def crossed(draw: DrawFn) -> Case:
    """A case of requests of any policy, all of these by chance; labels and packings where the group has hosts."""
    case = draw(bounded(requested=True))
    plan, requests = case.plan_document, case.state_document["requests"]
    hosts = plan["resource_groups"][GROUP].get("hosts", [])
    packing = draw(st.sampled_from(["stacked", "stacked", "balanced", "exclusive"])) if hosts else "stacked"
    for entry in plan["policies"]:
        entry["settings"]["packing"] = packing
        if draw(now_and_then(3)):
            entry["settings"]["hold_after"] = draw(st.sampled_from(HOLD_AFTER))
    for host in hosts:
        host["labels"] = draw(st.sampled_from(ON_HOSTS))
    for request in requests:
        if draw(st.booleans()) and not request["min_count"]:
            request["min_count"] = request["count"]
        if draw(st.booleans()):
            request["time_limit"] = draw(st.sampled_from(TIME_LIMITS))
        if draw(now_and_then(6)):
            request["waiting_since"] = draw(st.sampled_from(["2026-01-05T08:50:00Z", request["submitted"]]))
        if hosts:
            _ask_of_hosts(draw, request)
    for notice in case.state_document["reclaims"]:
        if draw(st.booleans()):
            notice["for"] = draw(st.sampled_from(leaves_of(plan)))
    return case


def _ask_of_hosts(draw: DrawFn, request: Json) -> None:
    for key in ("need", "prefer", "avoid"):
        if draw(now_and_then(4)):
            taken = request.get("need", [])
            request[key] = [draw(st.sampled_from([each for each in LABELS if each not in taken]))]
    if draw(now_and_then(4)):
        request["place"] = draw(st.sampled_from(["spread", "pack"]))
