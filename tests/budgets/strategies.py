"""Random plans of every slot policy with budgets and user limits, and states in which some budgets are used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.ownership.strategies import owning
from tests.properties.strategies import GROUP, Case, cases, now_and_then, sharing

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


@st.composite
def bounded(draw: DrawFn, *, requested: bool | None = None, users: bool = True, budgets: bool = True) -> Case:
    """A case; `users`, `budgets` False: without user limits, without budgets."""
    policy = draw(st.sampled_from(["hybrid", "ownership", "share_ratio"]))
    made = {
        "hybrid": cases(requested=requested),
        "ownership": owning(requested=requested),
        "share_ratio": sharing(requested=requested),
    }
    case = draw(made[policy])
    plan, state = case.plan_document, case.state_document
    for entry in plan["policies"]:
        thens = ["wait", "lowest_rank"] + ["borrow_only"] * (policy != "share_ratio")
        for path, stated in entry["consumers"].items():
            if budgets and draw(now_and_then(3)):
                then = draw(st.sampled_from(thens))
                stated["budget"] = {"unit_hours": 2, "period": draw(st.sampled_from(["day", "week"])), "then": then}
                seconds = draw(st.sampled_from([0, 7199, 7200, 9000]))
                state.setdefault("spent", {})[path] = {GROUP: seconds}
            if users and draw(now_and_then(3)):
                stated["user_limit"] = draw(st.integers(1, 6))
    return Case(plan, state)
