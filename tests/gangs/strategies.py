"""Random cases with gangs, run limits and units that are held for gangs that have waited too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.properties.strategies import Case, cases, now_and_then, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

HOLD_AFTER = ("0s", "48m30s", "2h")
TIME_LIMITS = ("20m", "41m", "2h")


@st.composite
def gangs(draw: DrawFn, *, shared: bool | None = None, holds: bool | None = None) -> Case:
    """A case of requests, more of them gangs; holds: whether units are held for some."""
    by_ratio = draw(st.booleans()) if shared is None else shared
    case = draw(sharing(requested=True) if by_ratio else cases(requested=True))
    if draw(st.booleans()) if holds is None else holds:
        for entry in case.plan_document["policies"]:
            entry["settings"]["hold_after"] = draw(st.sampled_from(HOLD_AFTER))
    for request in case.state_document["requests"]:
        if draw(now_and_then(3)) and not request["min_count"]:
            request["min_count"] = request["count"]
        if draw(st.booleans()):
            request["time_limit"] = draw(st.sampled_from(TIME_LIMITS))
        if draw(now_and_then(4)):
            request["waiting_since"] = "2026-01-05T08:50:00Z"
    return case
