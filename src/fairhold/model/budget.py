"""Budgets: how much a consumer may use in a period that comes again and again (R-BUDGET-1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from fairhold.model.window import DAY, MINUTE
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.model.window import Zone

PERIODS = ("day", "week", "month")
THEN = ("wait", "borrow_only", "lowest_rank")
HOUR = 3600 * SECOND
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a consumer may use in every period.

    unit_hours : units times hours that it holds them
    period     : one of PERIODS, in the local time of the plan
    then       : what follows when it is used up, until the next period begins; one of THEN
    """

    unit_hours: int
    period: str
    then: str = "wait"

    @property
    def amount(self) -> int:
        """The same in unit-microseconds."""
        return self.unit_hours * HOUR


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
