"""Cases of all slot policies with controls of the reclaim in their plans, and shortages in their states."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.ownership.strategies import owning
from tests.properties.strategies import GROUP, NOW, Case, Json, cases, leaves_of, now_and_then, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

EARLIER = ("2026-01-05T08:50:00Z", "2026-01-05T08:59:50Z", NOW)
SPANS = ("10s", "1m", "30m", "1h")


@st.composite
def restrained(draw: DrawFn, *, switched: bool | None = False) -> Case:
    """A case of any policy; every control stands in some of them."""
    case = draw(st.one_of(cases(), sharing(), owning(switched=switched)))
    plan, state = deepcopy(case.plan_document), deepcopy(case.state_document)
    is_observed = draw(now_and_then(4))  # of entries that are in force together, all or none
    for entry in plan["policies"]:
        entry["settings"] = entry.get("settings", {}) | _controls(draw) | {"observe_only": is_observed}
        if "requests" in state:
            for settings in entry["consumers"].values():
                if draw(st.booleans()):
                    settings["min_runtime"] = draw(st.sampled_from(("0s", *SPANS)))
    if draw(st.booleans()):
        state["shortages"] = [
            {"consumer": leaf, "resource_group": GROUP, "since": draw(st.sampled_from(EARLIER))}
            | ({"taking": True} if draw(st.booleans()) else {})
            for leaf in leaves_of(plan)
            if draw(st.booleans())
        ]
    if "previous_cycle" not in state and draw(st.booleans()):
        state["previous_cycle"] = draw(st.sampled_from(EARLIER))
    return Case(plan, state)


def _controls(draw: DrawFn) -> Json:
    every = {
        "max_reclaims": st.integers(1, 5),
        "dead_zone": st.integers(0, 3),
        "await_ends": st.sampled_from(SPANS),
    }
    return {key: draw(each) for key, each in every.items() if draw(st.booleans())}
