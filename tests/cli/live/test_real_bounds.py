"""Budgets, user limits and longest runs, against a real service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.live.served import PLAN, Served, until

if TYPE_CHECKING:
    from pathlib import Path

BOUNDED = PLAN.replace(
    "/Research/Models: {owned: 1}",
    "/Research/Models: {owned: 1, user_limit: 1, max_run_time: 2s, budget: {unit_hours: 9, period: month}}",
)


def test_a_service_keeps_users_runs_and_budgets(tmp_path: Path) -> None:
    """R-RUN-1, R-USER-1, R-BUDGET-1: one of two tasks runs, is ended after two seconds, and what it used is shown."""
    with Served(tmp_path) as house:
        assert house("budgets") == "no consumer has a budget now\n"
        house.plan.write_text(BOUNDED)
        house("plan", "apply", str(house.plan))
        job = house.submit("/Research/Models", "--count", "2", "--", "sleep", "30")
        until(lambda: house.json("show", job)["job"]["reason"] == "user_limit")
        assert house.json("show", job)["job"]["time_limit"] == 2
        until(lambda: house.state_of(job) == "failed")
        tasks = house.json("show", job)["tasks"]
        assert [each["reason"] for task in tasks for each in task["attempts"]] == ["time_limit", "time_limit"]
        (budget,) = house.json("budgets")["budgets"]
        assert (budget["consumer"], budget["unit_hours"], budget["used_up"]) == ("/Research/Models", 9, False)
        assert 1 < float(budget["unit_seconds"]) < 60
        assert "0.00" in house("budgets")
        assert (budget["warned"], budget["lasts_until"]) == (False, None)
        assert house.json("show", job)["job"]["budgets"] == []
        waiting = house.submit("/Research/Models", "--hold", "--", "true")
        assert "/Research/Models 0 % used of 9 unit-hours this month" in house("show", waiting)
