"""Instants of a scenario: stated, or so long after its start, which its workload may have to say first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value


class Moment(NamedTuple):
    """An instant as it is written.

    micros   : since 1970, or since the start
    is_after : since the start
    """

    micros: int
    is_after: bool = False

    def at(self, start: int) -> int:
        """The instant."""
        return self.micros + start if self.is_after else self.micros

    def is_up_to(self, other: Moment) -> bool:
        """Whether it is not later than another; False where that depends on when the scenario starts."""
        return self.is_after == other.is_after and self.micros <= other.micros


def read_moment(report: Report, value: Value, place: Place, start: int | None = None) -> Moment:
    """An instant, or a length of time after the start.

    start : of the scenario, None = not known yet: then what counts from it stays as it is
    """
    if isinstance(value, str) and value[4:5] == "-":
        return Moment(report.instant(value, place))
    length = report.duration(value, place)
    return Moment(length, is_after=True) if start is None else Moment(start + length)


def moment(report: Report, value: Value, place: Place, start: int) -> int:
    """An instant, or so long after the start."""
    return read_moment(report, value, place, start).micros
