"""The budget of a consumer in a policy entry, and the time zone in which its periods begin (R-BUDGET-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.budget import PERIODS, THEN, Budget
from fairhold.planio.scalars import is_whole
from fairhold.planio.zones import find_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import PolicyEntry
    from fairhold.model.policy import Policy
    from fairhold.model.window import Zone
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

BUDGET_KEYS = ("unit_hours", "period", "then")


def read_budget(report: Report, value: Value, place: Place, policy: Policy) -> Budget | None:
    """Read a budget; None, and a fault, where it is none."""
    node = report.mapping(value, place, what="a budget")
    report.keys(node, BUDGET_KEYS, place, {})
    report.missing(node, ("unit_hours", "period"), place, "a budget")
    hours = _read_hours(report, node["unit_hours"], (*place, "unit_hours")) if "unit_hours" in node else 0
    period = report.word(node["period"], (*place, "period"), PERIODS) if "period" in node else ""
    then = report.word(node.get("then", THEN[0]), (*place, "then"), THEN)
    if then == "borrow_only" and policy.divides_by_ratio:
        what = f"`borrow_only` acts on what is owned, and nothing is owned under `{policy.name}`"
        report.fault("nothing-owned", what, "write `wait` or `lowest_rank`", (*place, "then"))
    return Budget(hours, period, then) if hours and period and then else None


def _read_hours(report: Report, value: Value, place: Place) -> int:
    if is_whole(value) and value == 0:
        what = "a budget of 0 unit-hours would be used up before it begins"
        report.fault("out-of-range", what, "write `limit: 0` to give nothing, or a number from 1 on", place)
        return 0
    return report.whole(value, place, least=1)


def zone_of_budgets(report: Report, zone: str, entries: Sequence[PolicyEntry]) -> Zone | None:
    """Return the time zone in which periods begin; None where there are none, or a fault says what is missing."""
    has_budget = any(stated.budget is not None for entry in entries for stated in entry.consumers.values())
    queues = (entry.settings.fair_share for entry in entries)
    has_period = any(settings is not None and settings.usage_window.period for settings in queues)
    return find_zone(report, zone) if has_budget or has_period else None
