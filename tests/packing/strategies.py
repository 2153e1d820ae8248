"""Random cases on hosts: any packing, labels, and requests that ask for some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.properties.strategies import Case, plans, requests, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

LABELS = ("zone=a", "zone=b", "ssd", "gpu=h100")


@st.composite
def packed(draw: DrawFn) -> Case:
    """A plan on hosts under a packing that is not `stacked`, with requests."""
    packing = draw(st.sampled_from(["balanced", "exclusive", "exclusive"]))
    if draw(st.booleans()):
        plan = draw(plans(hosts=True))
        case = Case(plan, draw(requests(plan)))
    else:
        case = draw(sharing(requested=True).filter(has_hosts))
    for entry in case.plan_document["policies"]:
        entry["settings"]["packing"] = packing
    case.state_document["held"] = []  # what is kept for a request may be more than a limit above it
    return case


def has_hosts(case: Case) -> bool:
    return "hosts" in case.plan_document["resource_groups"]["g"]


@st.composite
def sited(draw: DrawFn) -> Case:
    """As `packed`, under any packing, with labels on hosts and requests that ask for some."""
    case = draw(packed())
    label(draw, case)
    return case


def label(draw: DrawFn, case: Case) -> None:
    """Any packing, labels on hosts, and requests that ask for some."""
    packing = draw(st.sampled_from(["stacked", "stacked", "balanced", "exclusive"]))
    for entry in case.plan_document["policies"]:
        entry["settings"]["packing"] = packing
    for host in case.plan_document["resource_groups"]["g"]["hosts"]:
        host["labels"] = draw(st.sampled_from([[], ["zone=a"], ["zone=b"], ["zone=a", "ssd"], ["zone=b", "gpu=h100"]]))
    for request in case.state_document["requests"]:
        for key in ("need", "prefer", "avoid"):
            if draw(st.integers(0, 2)) == 0:
                taken = request.get("need", [])
                request[key] = draw(
                    st.lists(st.sampled_from([each for each in LABELS if each not in taken]), max_size=2)
                )
        if draw(st.integers(0, 3)) == 0:
            request["place"] = draw(st.sampled_from(["spread", "pack"]))
