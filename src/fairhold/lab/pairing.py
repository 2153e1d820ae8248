"""Plans compared over several draws: both meet the same jobs and outages in each, so that only the plans differ."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.comparing import numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Quantiles of Student's distribution for 95 %, for 1 to 30 degrees of freedom."""
_NORMAL = 1.960


class Paired(NamedTuple):
    """A number of a consumer under two plans, over several draws.

    before, after : means, rounded down
    low, high     : the mean difference lies between them with 95 %
    weight        : of the mean difference, as in `comparing.Difference`
    """

    resource_group: str
    resource: str
    consumer: str
    what: str
    before: int
    after: int
    low: int
    high: int
    weight: int

    @property
    def is_sure(self) -> bool:
        """Whether the difference is more than chance."""
        return self.low > 0 or self.high < 0


def paired(before: Sequence[Document], after: Sequence[Document]) -> list[Paired]:
    """Compare draw by draw; those that are sure come first, then the weightiest.

    before, after : summaries of the draws, at least two, in one order
    """
    tables = [(numbers_of(one), numbers_of(other, one)) for one, other in zip(before, after, strict=True)]
    found = []
    for key, (_, weight) in tables[0][0].items():
        if all(key in one and key in other for one, other in tables):
            first = [one[key][0] for one, _ in tables]
            second = [other[key][0] for _, other in tables]
            if first != second:
                found.append(_pair(key, first, second, weight))
    return sorted(found, key=lambda each: (not each.is_sure, -each.weight, each[:4]))


def _pair(key: tuple[str, str, str, str], first: list[int], second: list[int], weight: int) -> Paired:
    count = len(first)
    differences = [other - one for one, other in zip(first, second, strict=True)]
    total = sum(differences)
    squares = count * sum(each * each for each in differences) - total * total  # count² times the variance
    student = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else _NORMAL
    margin = student * sqrt(squares / (count - 1)) / count
    low, high = round(total / count - margin), round(total / count + margin)
    return Paired(*key, sum(first) // count, sum(second) // count, low, high, abs(total) * weight // count)
