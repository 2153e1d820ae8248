"""Controls of a consumer in a policy entry: its budget, the longest and shortest run, the most that one user holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.budget import PERIODS, THEN, Budget
from fairhold.planio.report import listed, shown
from fairhold.planio.scalars import is_whole
from fairhold.planio.zones import find_zone
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import PolicyEntry
    from fairhold.model.policy import Policy
    from fairhold.model.window import Zone
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

BUDGET_KEYS = ("unit_hours", "period", "then")


def read_control(report: Report, key: str, value: Value, place: Place, policy: Policy) -> Budget | int | None:
    """Read the control of a key out of CONTROLS, as `ConsumerSettings` has it."""
    if key == "budget":
        return read_budget(report, value, place, policy)
    if key == "max_run_time":
        return read_max_run_time(report, value, place)
    if key == "user_limit":
        return read_user_limit(report, value, place)
    return report.duration(value, place)


def read_budget(report: Report, value: Value, place: Place, policy: Policy) -> Budget | None:
    """Read a budget; None, and a fault, where it is none."""
    node = report.mapping(value, place, what="a budget")
    report.keys(node, BUDGET_KEYS, place, {})
    report.missing(node, ("unit_hours", "period"), place, "a budget")
    hours = _read_hours(report, node["unit_hours"], (*place, "unit_hours")) if "unit_hours" in node else 0
    period = _read_word(report, node["period"], (*place, "period"), PERIODS) if "period" in node else ""
    then = _read_word(report, node.get("then", THEN[0]), (*place, "then"), THEN)
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


def _read_word(report: Report, value: Value, place: Place, known: tuple[str, ...]) -> str:
    word = report.text(value, place, what=f"one of {listed(known)}")
    if isinstance(value, str) and word not in known:
        mend = report.suggest(word, known, f"write one of {listed(known)}")
        report.fault("unknown-word", f"`{shown(word)}` is not a value of `{place[-1]}`", mend, place)
        return ""
    return word


def read_max_run_time(report: Report, value: Value, place: Place) -> int:
    """Read the longest run of an attempt in microseconds; 0 = `none`, any time."""
    if value is None or value == "none":
        return 0
    if is_whole(value) and value == 0:
        report.fault("out-of-range", "0 seconds leaves no attempt any time to run", "write `none` for no limit", place)
        return 0
    return report.duration(value, place)


def read_user_limit(report: Report, value: Value, place: Place) -> int:
    """Read the most units that one user may hold in a leaf; UNLIMITED = `none`."""
    if value is None or value == "none":
        return UNLIMITED
    return report.whole(value, place, least=1)


def zone_of_budgets(report: Report, zone: str, entries: Sequence[PolicyEntry]) -> Zone | None:
    """Return the time zone in which periods begin; None where there are none, or a fault says what is missing."""
    has_budget = any(stated.budget is not None for entry in entries for stated in entry.consumers.values())
    queues = (entry.settings.fair_share for entry in entries)
    has_period = any(settings is not None and settings.usage_window.period for settings in queues)
    return find_zone(report, zone) if has_budget or has_period else None
