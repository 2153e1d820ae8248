"""Budgets: how much a consumer may use in a period that comes again and again (R-BUDGET-1, R-BUDGET-5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from fairhold.model.vector import Resource, amount
from fairhold.model.window import DAY, MINUTE
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.window import Zone

PERIODS = ("day", "week", "month")
THEN = ("wait", "borrow_only", "lowest_rank")
HOUR = 3600 * SECOND
DOMINANT = Resource("dominant_share", "", 10**9, 1)
"""In place of a resource, after the last one of the plan: the dominant share, 1 = all that there is (R-BUDGET-6)."""
_EPOCH = date(1970, 1, 1)
Used = dict[int, int]
"""Place of what is counted → base units times microseconds; of slots the place is 0, and the base unit is a slot."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a consumer may use in every period.

    unit_hours : units times hours that it holds them; 0 under policies of vectors
    period     : one of PERIODS, in the local time of the plan
    then       : what follows when it is used up, until the next period begins; one of THEN
    hours      : under policies of vectors (place of a resource, base units times hours); see `counted`
    """

    unit_hours: int
    period: str
    then: str = "wait"
    hours: tuple[tuple[int, int], ...] = ()

    @property
    def amounts(self) -> Used:
        """What may be used of each that it counts."""
        return {at: hours * HOUR for at, hours in self.hours or ((0, self.unit_hours),)}

    def is_used_up(self, used: Mapping[int, int]) -> bool:
        """Whether as much of anything is used as may be."""
        return any(used.get(at, 0) >= most for at, most in self.amounts.items())


def counted(resources: Sequence[Resource]) -> tuple[Resource, ...]:
    """What budgets of vectors count, by place: the resources of a plan, and the dominant share."""
    return *resources, DOMINANT


def budget_document(budget: Budget, _: Sequence[str], resources: Sequence[Resource]) -> dict[str, object]:
    """A budget as a plan writes it."""
    of = counted(resources)
    hours = {of[at].name: amount(of[at], each) for at, each in budget.hours}
    most: dict[str, object] = {"hours": hours} if hours else {"unit_hours": budget.unit_hours}
    return most | {"period": budget.period, "then": budget.then}


def period_of(zone: Zone, period: str, instant: int) -> tuple[int, int]:
    """When the period of an instant begins and when the next one does: at local midnight, weeks on Mondays."""
    day = _EPOCH + timedelta(days=zone.local(instant) // (DAY * MINUTE))
    if period == "week":
        day -= timedelta(days=day.weekday())
        following = day + timedelta(days=7)
    elif period == "month":
        day = day.replace(day=1)
        following = (day + timedelta(days=31)).replace(day=1)
    else:
        following = day + timedelta(days=1)
    begin, end = (zone.instant((each - _EPOCH).days * DAY * MINUTE) for each in (day, following))
    return begin, end
