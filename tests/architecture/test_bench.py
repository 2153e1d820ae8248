"""What `make bench` says of a figure."""

from __future__ import annotations

from bench.__main__ import is_missed, line
from bench.clusters import full_plan_text
from fairhold.planio.plan import parse_plan


def test_a_goal_that_is_missed_is_marked() -> None:
    assert "goal 5 MISSED" in line("a cycle", {"ms": 5.1, "goal_ms": 5})
    assert line("a cycle", {"ms": 5.0, "goal_ms": 5}).split()[2:] == ["5.00", "ms", "goal", "5"]
    assert not is_missed({"ms": 1e9})


def test_what_has_no_goal_shows_that_of_its_compiled_twin() -> None:
    row = {"ms": 9.0, "goal_compiled_ms": 5.0}
    assert "(no goal; 5 where compiled)" in line("a cycle", row)
    assert not is_missed(row)


def test_the_full_plan_is_good_and_states_everything() -> None:
    plan, warnings = parse_plan(full_plan_text(2_000), "plan")
    assert [warning.code for warning in warnings] == []
    settings = plan.policies[0].consumers[plan.tree.rows["/d1/t999"]]
    assert None not in (settings.rank, settings.grace)
    assert settings.owned > settings.reserved > 0
