"""`settings:` of a policy entry that hold reclaims back (SPEC §8; R-CONTROL-1 to R-CONTROL-4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.planio.scalars import is_whole

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.plan import PolicySettings
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value


def with_restraints(report: Report, node: dict[str, Value], place: Place, settings: PolicySettings) -> PolicySettings:
    """The settings of an entry with what it states of when to reclaim, and how much."""
    return replace(
        settings,
        max_reclaims=_read_most(report, node.get("max_reclaims"), (*place, "max_reclaims")),
        dead_zone=report.whole(node.get("dead_zone", 0), (*place, "dead_zone")),
        await_ends=report.duration(node.get("await_ends", 0), (*place, "await_ends")),
        observe_only=report.flag(node.get("observe_only", False), (*place, "observe_only")),
        hold_after=_read_hold(report, node.get("hold_after"), (*place, "hold_after")),
    )


def _read_most(report: Report, value: Value, place: Place) -> int | None:
    """Units a cycle; none at all would mean that nothing is ever given back, and another setting says that better."""
    if value is None or value == "none":
        return None
    if is_whole(value) and value == 0:
        what = "with `max_reclaims: 0` nothing would ever be reclaimed"
        report.fault("out-of-range", what, "write 1 or more, or `observe_only: true`", place)
        return None
    return report.whole(value, place, least=1)


def _read_hold(report: Report, value: Value, place: Place) -> int | None:
    """Read after how long units are held for a gang; None = `none`, never."""
    return None if value is None or value == "none" else report.duration(value, place)
