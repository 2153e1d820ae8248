"""The rules of budgets and user limits, each by an example, and what `explain` and `verify` say of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.words import in_words
from fairhold.cycle.document import run_cycle
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.budgets.test_live import text_of

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

USED_UP = {"/A": {"c": 3600}}
NOW = "2026-01-05T09:00:00Z"


def state_of(plan: Plan, spent: Any = None, **sections: Any) -> State:
    document = {"fairhold_state": 1, "now": NOW, "spent": USED_UP if spent is None else spent, **sections}
    return parse_state(json.dumps(document), plan, "state")


def counts(**units: int) -> dict[str, Any]:
    return {f"/{name.replace('_', '/')}": {"c": number} for name, number in units.items()}


def quotas(plan: Plan, state: State) -> dict[str, int]:
    document = run_cycle(plan, state).document
    assert (
        verify(
            plan,
            state,
            json.loads(json.dumps(document | {"state": state_document(plan, run_cycle(plan, state).after)})),
        )
        == ()
    )
    return {path: row["quota"] for path, row in document["resource_groups"]["c"]["consumers"].items()}


def test_who_waits_keeps_what_it_holds_and_wants_no_more() -> None:
    """R-BUDGET-2: nobody gives it anything, and it takes nothing back."""
    plan = parse_plan(text_of("wait", plain=True), "plan")[0]
    sections = {"demand": counts(A_a1=9, B=1), "allocated": counts(A_a1=1, B=1)}
    assert quotas(plan, state_of(plan, **sections))["/A/a1"] == 1
    assert quotas(plan, state_of(plan, {"/A": {"c": 3599}}, **sections))["/A/a1"] == 3


def test_who_may_only_borrow_gets_what_others_leave() -> None:
    """R-BUDGET-3: it owns 2, and another owner takes all."""
    plan = parse_plan(text_of("borrow_only", plain=True), "plan")[0]
    assert quotas(plan, state_of(plan, demand=counts(A_a1=4, B=3)))["/A"] == 1
    assert quotas(plan, state_of(plan, {}, demand=counts(A_a1=4, B=3)))["/A"] == 2


def test_an_owner_lends_all_and_uses_what_nobody_borrows() -> None:
    """R-BUDGET-3 under `ownership`: /B borrows 1 of /A's 3, and /A has the other 2, but takes none back."""
    peer = {"lend_to": [{"consumer": "/B", "limit": 1}], "owned": 3}
    entry = {
        "resource_groups": ["c"],
        "policy": "ownership",
        "consumers": {
            "/A": peer | {"budget": {"unit_hours": 1, "period": "day", "then": "borrow_only"}},
            "/B": {"owned": 1, "borrow_from": [{"consumer": "/A"}]},
        },
    }
    document = {"fairhold": 1, "resource_groups": {"c": {"slots": 4}}, "consumers": {"A": {}, "B": {}}}
    plan = parse_plan(json.dumps(document | {"policies": [entry]}), "plan")[0]
    state = state_of(plan, demand=counts(A=9, B=9), allocated=counts(A=3, B=1))
    assert quotas(plan, state) == {"/": 4, "/A": 2, "/B": 2}
    assert [(row["consumer"], row["units"]) for row in run_cycle(plan, state).document["reclaims"]] == [("/A", 1)]


def test_who_comes_last_gets_no_slot_left_over() -> None:
    """R-BUDGET-4: of 3 slots two siblings alike have 2 and 1 by rank; the ranks change places."""
    plan = parse_plan(text_of("lowest_rank", plain=True).replace('"slots": 4', '"slots": 3'), "plan")[0]
    demand = counts(A_a1=9, B=9)
    assert quotas(plan, state_of(plan, {}, demand=demand))["/A"] == 2
    state = state_of(plan, demand=demand)
    assert quotas(plan, state)["/A"] == 1
    explanation = explain(plan, run_cycle(plan, state).results["c"], "/A")
    assert explanation.levels[0].siblings[1].rank == 0
    assert [control.name for control in explanation.controls] == ["budget.lowest_rank"]


@pytest.mark.parametrize("policy", ["hybrid", "ownership"])
def test_who_may_only_borrow_is_told_so_and_what_would_help(policy: str) -> None:
    """R-BUDGET-3: /A owns 6 in the plan and nothing now; to own more of that is no help, as its budget is used up."""
    budget = {"unit_hours": 1, "period": "day", "then": "borrow_only"}
    lists: tuple[Any, Any] = {"lend_to": [{"consumer": "/B"}]}, {"borrow_from": [{"consumer": "/A"}]}
    more: tuple[Any, Any] = lists if policy == "ownership" else ({}, {})
    consumers = {"/A": {"owned": 6, "budget": budget, **more[0]}, "/B": {"owned": 4, **more[1]}}
    entry = {"resource_groups": ["c"], "policy": policy, "consumers": consumers}
    document = {"fairhold": 1, "resource_groups": {"c": {"slots": 10}}, "consumers": {"A": {}, "B": {}}}
    plan = parse_plan(json.dumps(document | {"policies": [entry]}), "plan")[0]
    state = state_of(plan, demand=counts(A=10, B=10))
    explanation = explain(plan, run_cycle(plan, state).results["c"], "/A")
    assert (explanation.quota, explanation.levels[0].siblings[0].bound) == (0, Bound.BORROWS)
    words = in_words(explanation)
    assert "it only gets what others leave [R-BUDGET-3]" in words
    assert "with /A's budget at 2 instead of 1, /A would have a quota of 6" in words


def test_what_a_sibling_owns_that_may_only_borrow_is_not_free_to_own() -> None:
    """R-BUDGET-3, R-CHECK-1: /P owns 10, its children 6 and 4, so that more for /P/Y is more for /P, too."""
    budget = {"unit_hours": 1, "period": "day", "then": "borrow_only"}
    consumers: dict[str, Any] = {
        "/P": {"owned": 10},
        "/P/X": {"owned": 6, "budget": budget},
        "/P/Y": {"owned": 4, "limit": 8},
    }
    consumers |= {"/Q": {"owned": 10}}
    entry = {"resource_groups": ["c"], "policy": "hybrid", "consumers": consumers}
    tree: dict[str, Any] = {"P": {"consumers": {"X": {}, "Y": {}}}, "Q": {}}
    document = {"fairhold": 1, "resource_groups": {"c": {"slots": 8}}, "consumers": tree, "policies": [entry]}
    plan = parse_plan(json.dumps(document), "plan")[0]
    state = state_of(plan, {"/P/X": {"c": 3600}}, demand=counts(P_X=9, P_Y=9, Q=9))
    one_more = explain(plan, run_cycle(plan, state).results["c"], "/P/Y").counterfactual
    assert one_more is not None
    changed = {each.consumer: each.new for each in one_more.changes if each.what == "owned"}
    for path, owned in changed.items():
        consumers[path] = {**consumers[path], "owned": owned}
    again = parse_plan(json.dumps(document), "plan")[0]
    assert changed
    assert quotas(again, state)["/P/Y"] == one_more.quota


REQUESTS = [
    {"id": "r1", "consumer": "/A/a1", "count": 8, "user": "ann", "submitted": "2026-01-05T08:00:00Z"},
    {"id": "r2", "consumer": "/A/a1", "count": 1, "user": "bob", "submitted": "2026-01-05T08:01:00Z"},
]


def test_what_users_may_not_have_is_no_demand() -> None:
    """R-USER-1: ann holds 2 of 3 and wants 6 more, bob 1: the demand that counts is 2 + 1 + 1."""
    plan = parse_plan(text_of(plain=True, user_limit=3), "plan")[0]
    held = [{"request": "r1", "units": 2, "started": "2026-01-05T08:00:00Z"}]
    state = state_of(plan, {}, requests=REQUESTS, allocations=held)
    row = run_cycle(plan, state).document["resource_groups"]["c"]["consumers"]["/A/a1"]
    assert (row["demand"], row["need"], row["quota"]) == (9, 4, 4)
    assert quotas(plan, state)["/A/a1"] == 4


def test_a_gang_that_does_not_fit_its_user_is_passed_over() -> None:
    """R-USER-1: ann may hold 3; her gang of 4 counts for nothing, her single unit behind it does."""
    plan = parse_plan(text_of(plain=True, user_limit=3), "plan")[0]
    gang = REQUESTS[0] | {"count": 4, "min_count": 4}
    single = REQUESTS[0] | {"id": "r3", "count": 1, "submitted": "2026-01-05T08:05:00Z"}
    state = state_of(plan, {}, requests=[gang, single])
    assert quotas(plan, state)["/A/a1"] == 1
    assert [(row["request"], row["units"]) for row in run_cycle(plan, state).document["grants"]] == [("r3", 1)]


def test_what_is_held_above_a_user_limit_stays() -> None:
    plan = parse_plan(text_of(plain=True, user_limit=1), "plan")[0]
    held = [{"request": "r1", "units": 3, "started": "2026-01-05T08:00:00Z"}]
    state = state_of(plan, {}, requests=REQUESTS, allocations=held)
    document = run_cycle(plan, state).document
    assert document["reclaims"] == []
    assert [(row["request"], row["units"]) for row in document["grants"]] == [("r2", 1)]


@pytest.mark.parametrize(
    ("sections", "bound", "control", "change"),
    [
        ({"demand": counts(A_a1=9, B=1)}, Bound.BUDGET, "budget.wait", "budget at 2 instead of 1"),
        ({"requests": REQUESTS, "spent": {}}, Bound.USER_LIMIT, "user_limit", "user_limit at 3 instead of 2"),
    ],
)
def test_explain_names_what_binds_and_its_change_is_true(
    sections: dict[str, Any], bound: Bound, control: str, change: str
) -> None:
    text = text_of(plain=True, user_limit=2)
    plan = parse_plan(text, "plan")[0]
    state = state_of(plan, **sections)
    explanation = explain(plan, run_cycle(plan, state).results["c"], "/A/a1")
    assert explanation.levels[-1].siblings[0].bound is bound
    assert control in [each.name for each in explanation.controls]
    words = in_words(explanation)
    assert change in words
    if bound is Bound.BUDGET:
        assert "before 2026-01-06T00:00:00Z" in words
    old, new = (
        ('"unit_hours": 1', '"unit_hours": 2') if bound is Bound.BUDGET else ('"user_limit": 2', '"user_limit": 3')
    )
    changed = parse_plan(text.replace(old, new), "plan")[0]
    one_more = explanation.counterfactual
    assert one_more is not None
    assert quotas(changed, state)["/A/a1"] == one_more.quota > explanation.quota


@pytest.mark.parametrize("spent", [{"/A": {"c": 3599}}, {"/A": {"c": 3601}}, {}])
def test_verify_finds_a_result_of_another_budget(spent: Any) -> None:
    """A result that was made while the budget was, or was not, used up is found out."""
    plan = parse_plan(text_of(plain=True), "plan")[0]
    sections = {"demand": counts(A_a1=9, B=1), "allocated": counts(A_a1=1, B=1)}
    state = state_of(plan, {"/A": {"c": 3600}}, **sections)
    other = run_cycle(plan, state_of(plan, spent, **sections))
    result = other.document | {"state": state_document(plan, other.after)}
    assert verify(plan, state, json.loads(json.dumps(result))) != ()


@pytest.mark.parametrize(("units", "gone"), [(8, 0), (12, 2)])
def test_a_budget_that_is_used_up_takes_nothing_at_a_switch(units: int, gone: int) -> None:
    """R-BUDGET-3 with R-SWITCH-1: /A owns 10 in both windows; only what it holds above that goes."""
    budget = {"unit_hours": 1, "period": "day", "then": "borrow_only"}
    numbers = {"/A": {"owned": 10, "budget": budget}, "/B": {"owned": 10}}
    entries = [
        {"resource_groups": ["c"], "policy": "ownership", "window": "Mon-Fri 08:00-09:00", "consumers": numbers},
        {"resource_groups": ["c"], "policy": "hybrid", "consumers": numbers},
    ]
    tree = {"A": {"reclaim_grace": "20m"}, "B": {}}
    document = {"fairhold": 1, "resource_groups": {"c": {"slots": 20}}, "consumers": tree, "policies": entries}
    plan = parse_plan(json.dumps(document), "plan")[0]
    had = {"demand": counts(A=units, B=2), "allocated": counts(A=units, B=2)}
    state = state_of(plan, previous_cycle="2026-01-05T08:59:59Z", **had)
    quotas(plan, state)
    taken = [(row["consumer"], row["units"], row["reason"]) for row in run_cycle(plan, state).document["reclaims"]]
    assert taken == [("/A", gone, "window")] * (gone > 0)
