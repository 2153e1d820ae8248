"""Budgets, user limits and longest runs in files: what is read, and what is refused with its place and mend."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.budget import Budget, period_of
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.planio.zones import load_zone
from fairhold.units import UNLIMITED, format_instant, parse_instant

DAY = {"unit_hours": 5, "period": "day"}


def text_of(policy: str = "hybrid", **stated: Any) -> str:
    entry = {"resource_groups": ["g"], "policy": policy, "consumers": {"/A": stated}}
    return json.dumps(
        {"fairhold": 1, "resource_groups": {"g": {"slots": 4}}, "consumers": {"A": {}}, "policies": [entry]}
    )


@pytest.mark.parametrize(
    ("stated", "code", "place", "mend"),
    [
        ({"budget": {"unit_hours": 5}}, "missing-key", "/A.budget", "add `period:`"),
        ({"budget": {"period": "day"}}, "missing-key", "/A.budget", "add `unit_hours:`"),
        ({"budget": None}, "missing-key", "/A.budget", "add `unit_hours:`"),
        ({"budget": DAY | {"unit_hours": 0}}, "out-of-range", "budget.unit_hours", "write `limit: 0` to give nothing"),
        ({"budget": DAY | {"unit_hours": -1}}, "negative", "budget.unit_hours", "write a number from 1 to"),
        ({"budget": DAY | {"unit_hours": 10**20}}, "out-of-range", "budget.unit_hours", "write a number from 1 to"),
        ({"budget": DAY | {"unit_hours": 1.5}}, "not-whole", "budget.unit_hours", "write 1 or 2"),
        ({"budget": DAY | {"unit_hours": 0.001}}, "not-whole", "budget.unit_hours", "write 1"),
        ({"budget": DAY | {"period": "hour"}}, "unknown-word", "budget.period", "write one of `day`, `week`, `month`"),
        ({"budget": DAY | {"then": "wiat"}}, "unknown-word", "budget.then", "did you mean `wait`?"),
        ({"budget": DAY | {"hours": 1}}, "other-policy", "budget.hours", "write `unit_hours`"),
        ({"user_limit": 0}, "out-of-range", "/A.user_limit", "write a number from 1"),
        ({"max_run_time": 0}, "out-of-range", "/A.max_run_time", "write `none` for no limit"),
        ({"max_run_time": "0s"}, "out-of-range", "/A.max_run_time", "write `none` for no limit"),
        ({"max_run_time": 60}, "duration", "/A.max_run_time", "write `60s` for seconds"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place_and_mend(
    stated: dict[str, Any], code: str, place: str, mend: str
) -> None:
    with pytest.raises(InputError) as refused:
        parse_plan(text_of(**stated), "plan")
    fault = refused.value.faults[0]
    assert fault.code == code
    assert place in str(fault)
    assert fault.mend.startswith(mend)


def test_a_budget_that_is_a_number_is_one_fault() -> None:
    with pytest.raises(InputError) as refused:
        parse_plan(text_of(budget=5), "plan")
    (fault,) = refused.value.faults
    assert (fault.code, fault.mend) == ("wrong-type", "write `{key: value, …}`")


def test_who_owns_nothing_cannot_lose_what_it_owns() -> None:
    """R-BUDGET-3: under `share_ratio`."""
    with pytest.raises(InputError) as refused:
        parse_plan(text_of("share_ratio", budget=DAY | {"then": "borrow_only"}), "plan")
    assert [fault.code for fault in refused.value.faults] == ["nothing-owned"]


def test_what_is_stated_is_kept_and_none_lifts_what_is_inherited() -> None:
    plan = parse_plan(text_of(budget=DAY, user_limit="none", max_run_time=None), "plan")[0]
    stated = plan.policies[0].consumers[1]
    assert (stated.budget, stated.user_limit, stated.max_run_time) == (Budget(5, "day", "wait"), UNLIMITED, 0)


def test_what_is_spent_is_read_and_written_again() -> None:
    """A plain number where one group is shared; who has no budget may be named, as `diff` reads it under two plans."""
    plan = parse_plan(text_of(budget=DAY), "plan")[0]
    short = '{"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "spent": {"/A": 7}}'
    state = parse_state(short, plan, "state")
    assert state.spent == {(1, "g"): 7}
    again = state_document(plan, state)
    assert again["spent"] == {"/A": {"g": 7}}
    assert parse_state(json.dumps(again), plan, "state") == state
    assert parse_state(short, parse_plan(text_of(), "plan")[0], "state").spent == {(1, "g"): 7}


@pytest.mark.parametrize(
    ("spent", "code"),
    [
        ({"/B": 1}, "unknown-consumer"),
        ({"/A": -1}, "negative"),
        ({"/A": {"g": 1.5}}, "not-whole"),
        ({"/A": {"h": 1}}, "unknown-resource-group"),
        ({"/A": "much"}, "wrong-type"),
    ],
)
def test_what_cannot_be_spent_is_refused(spent: dict[str, Any], code: str) -> None:
    plan = parse_plan(text_of(budget=DAY), "plan")[0]
    text = json.dumps({"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "spent": spent})
    with pytest.raises(InputError) as refused:
        parse_state(text, plan, "state")
    assert refused.value.faults[0].code == code


@pytest.mark.parametrize(
    ("period", "begin", "end"),
    [
        ("day", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),  # 23 hours: clocks are put forward
        ("week", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("month", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"),
    ],
)
def test_periods_begin_at_local_midnight(period: str, begin: str, end: str) -> None:
    """R-BUDGET-1."""
    now = parse_instant("2026-03-29T12:00:00Z")
    assert now is not None
    found = period_of(load_zone("Europe/Zurich"), period, now)
    assert tuple(map(format_instant, found)) == (begin, end)
    assert period_of(load_zone("Europe/Zurich"), period, found[1])[0] == found[1]
    assert period_of(load_zone("Europe/Zurich"), period, found[1] - 1) == found
