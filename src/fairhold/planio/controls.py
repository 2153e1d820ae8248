"""The budget of a consumer in a policy entry, and the time zone in which its periods begin (R-BUDGET-1, R-BUDGET-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.budget import PERIODS, THEN, Budget, counted
from fairhold.planio.resources import known, read_amounts
from fairhold.planio.scalars import is_whole
from fairhold.planio.zones import find_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import PolicyEntry
    from fairhold.model.policy import Policy
    from fairhold.model.window import Zone
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

BUDGET_KEYS = ("unit_hours", "hours", "period", "then")
_OTHER_AMOUNT = {
    "unit_hours": (
        "a unit of one CPU and a unit of eight GPUs would cost the same unit-hours",
        "write `hours` with those of resources, such as `hours: {gpu: 100}`",
    ),
    "hours": ("this policy shares slots, which are all alike", "write `unit_hours`, units times hours"),
}
"""What a policy of the other kind counts → why this one does not, and what to write."""


def read_budget(report: Report, value: Value, place: Place, policy: Policy, resources: Known) -> Budget | None:
    """Read a budget; None, and a fault, where it is none."""
    node = report.mapping(value, place, what="a budget")
    report.keys(node, BUDGET_KEYS, place, {})
    key, other = ("hours", "unit_hours") if policy.shares_vectors else ("unit_hours", "hours")
    if other in node:
        why, mend = _OTHER_AMOUNT[other]
        what = f"`{other}` is not available under `{policy.name}`: {why}"
        report.fault("other-policy", what, mend, (*place, other))
    report.missing(node, ("period",) if other in node else (key, "period"), place, "a budget")
    units, amounts = 0, tuple[tuple[int, int], ...]()
    if key in node and policy.shares_vectors:
        amounts = _read_amounts(report, node[key], (*place, key), resources)
    elif key in node:
        units = _read_hours(report, node[key], (*place, key))
    period = report.word(node["period"], (*place, "period"), PERIODS) if "period" in node else ""
    then = report.word(node.get("then", THEN[0]), (*place, "then"), THEN)
    if then == "borrow_only" and policy.divides_by_ratio:
        what = f"`borrow_only` acts on what is owned, and nothing is owned under `{policy.name}`"
        report.fault("nothing-owned", what, "write `wait` or `lowest_rank`", (*place, "then"))
    return Budget(units, period, then, amounts) if (units or amounts) and period and then else None


def _read_amounts(report: Report, value: Value, place: Place, resources: Known) -> tuple[tuple[int, int], ...]:
    """Read (place, base units times hours)."""
    found = read_amounts(report, value, place, countable(resources), what="hours by resource", least=1)
    if value == {}:
        what = "a budget without any resource limits nothing"
        report.fault("missing-key", what, "write the hours of a resource, such as `{gpu: 100}`", place)
    return found


def countable(resources: Known) -> Known:
    """What budgets of vectors count: resources, and the dominant share where no resource has its name."""
    found = known(counted(resources.resources))
    found.at.update(resources.at)
    return found


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
