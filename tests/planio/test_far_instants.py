"""States at the end of time: what a cycle writes is read again."""

from __future__ import annotations

import json

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.units import parse_duration, parse_instant

PLAN = """
fairhold: 1
resource_groups: {c: {slots: 4}}
consumers: {A: {}, B: {reclaim_grace: 366d}}
policies: [{resource_groups: [c], policy: hybrid, consumers: {/A: {owned: 4}}}]
"""
STATE = "fairhold_state: 1\nnow: %s\ndemand: {/A: {c: 4}, /B: {c: 4}}\nallocated: {/B: {c: 4}}\n"


@pytest.mark.parametrize("now", ["8999-12-31T23:59:59Z", "9000-01-01T00:00:00Z"])
def test_a_deadline_may_be_the_longest_grace_after_the_last_now(now: str) -> None:
    plan, _ = parse_plan(PLAN, "plan")
    after = run_cycle(plan, parse_state(STATE % now, plan, "state")).after
    text = json.dumps(state_document(plan, after))
    assert '"deadline": "9' in text
    assert parse_state(text, plan, "after") == after


def test_now_may_not_be_so_late() -> None:
    plan, _ = parse_plan(PLAN, "plan")
    with pytest.raises(InputError, match=r"after the year 8999.*\[instant\]"):
        parse_state(STATE % "9000-06-01T00:00:00Z", plan, "state")


@pytest.mark.parametrize("digit", ["\u0663", "\uff13", "\u0969"])
def test_only_plain_digits_are_digits(digit: str) -> None:
    assert digit.isdigit()
    assert parse_duration(f"{digit}s") is None
    assert parse_duration(f"1.{digit}s") is None
    assert parse_instant(f"202{digit}-01-05T09:00:00Z") is None


def test_an_hour_that_no_clock_shows_and_an_offset_beyond_the_hour_are_no_instants() -> None:
    assert parse_instant("2026-01-05T24:00:00Z") is None
    assert parse_instant("2026-01-05T09:00:00+05:75") is None


def test_a_host_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"a name is empty"):
        parse_plan(PLAN.replace("slots: 4}}", 'hosts: [{name: "", slots: 4}]}}', 1), "plan")
