"""What was used, as it is kept."""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """What was used in a span of time, in unit-microseconds; `begin` belongs to the span, `end` does not.

    unit : what one unit is, as `spans.Key` says it
    """

    begin: int
    end: int
    consumer: str
    user: str
    job: str
    kind: str
    amount: int
    unit: str = ""
