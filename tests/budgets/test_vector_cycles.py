"""Random plans and states of vectors with budgets that are used up: the check agrees, and who waits gets nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from tests.examples import FEWER
from tests.pools.strategies import after, read
from tests.pools.test_random import stories as of_pools
from tests.pools.test_verify import cycle_of, quota_of
from tests.properties.strategies import now_and_then
from tests.queues.strategies import stories as of_queues

Json = dict[str, Any]
THENS = ("wait", "borrow_only", "lowest_rank")


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Json, Json, list[Json]]:
    """A story of pools or queues, with budgets of two hours of a resource or of the dominant share."""
    plan, state, turns = draw(st.one_of(of_pools(), of_queues()))
    names = [*plan["resources"], "dominant_share"]
    for entry in plan["policies"]:
        for path in [*entry["consumers"], *state_paths(state)]:
            if path != "/" and draw(now_and_then(2)):
                name, then = draw(st.sampled_from(names)), draw(st.sampled_from(THENS))
                stated = entry["consumers"].setdefault(path, {})
                stated["budget"] = {"hours": {name: 2}, "period": draw(st.sampled_from(["day", "week"])), "then": then}
                seconds = draw(st.sampled_from([0, 7199, 7200, 9000]))
                state.setdefault("spent_resources", {})[path] = {name: seconds}
    return plan, state, turns


def state_paths(state: Json) -> list[str]:
    return sorted({each["consumer"] for each in state.get("requests", ())})


def waiting_in(plan: Json, state: Json) -> set[str]:
    """Who waits for a budget, from the files alone."""
    used = state.get("spent_resources", {})
    tops = {
        path
        for entry in plan["policies"]
        for path, stated in entry["consumers"].items()
        if (budget := stated.get("budget")) and budget["then"] == "wait"
        if any(used.get(path, {}).get(name, 0) >= hours * 3600 for name, hours in budget["hours"].items())
    }
    return {leaf for leaf in state_paths(state) if any(f"{leaf}/".startswith(f"{top}/") for top in tops)}


@FEWER
@given(bounded())
def test_what_is_computed_under_budgets_is_verified(story: tuple[Json, Json, list[Json]]) -> None:
    """R-BUDGET-5, R-BUDGET-7, R-BUDGET-8."""
    plan_document, document, turns = story
    plan, state = read(plan_document, document)
    waiting = waiting_in(plan_document, document)
    for turn in turns:
        assert verify(plan, state, quota_of(plan, state)) == ()
        assert verify(plan, state, cycle_of(plan, state)) == ()
        done = run_cycle(plan, state)
        if len(plan_document["policies"]) == 1:
            assert not waiting & {each["consumer"] for each in done.document["grants"]}
        again = parse_state(json.dumps(state_document(plan, done.after)), plan, "state.json")
        assert again.spent_amounts == state.spent_amounts
        state = after(again, turn)
