"""Jobs in an order that somebody chose: those that have not ended and those that have, in one list.

A list is ordered by (value of the column, number of the job), both upwards or both downwards. The number makes the
order total, so that a page begins exactly behind the last row of the page before, whatever has come or gone since.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.runtime.live.finished_overlay import is_wanted
from fairhold.runtime.live.views.jobs import look, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import FinishedJob
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.jobs import Wanted

Value = int | str
Place = tuple[Value, int]
"""Value of the column and number of the job."""
NOT_ENDED = 2**62
"""Where a job that has not ended stands by its end: behind all that have."""
NAME = "name"
"""The one column that is not in memory."""
COLUMNS: dict[str, Callable[[JobRecord], Value]] = {
    "job": lambda job: int(job.name),
    NAME: lambda _: "",
    "consumer": lambda job: job.consumer,
    "user": lambda job: job.terms.user,
    "state": state_of,
    "priority": lambda job: job.priority,
    "tasks": lambda job: job.terms.tasks,
    "running": lambda job: job.running,
    "waiting": lambda job: job.waiting,
    "submitted": lambda job: job.submitted,
    "ended": lambda _: NOT_ENDED,
}
"""Columns by which jobs can be ordered, with their value for a job that has not ended."""
_NUMBERS = frozenset(COLUMNS) - {NAME, "consumer", "user", "state"}
_ANY = 2**62
_CURSOR = re.compile(r"sort-([A-Za-z0-9_-]+=*)")


class Order(NamedTuple):
    """By which column, and which way; `sort`: as somebody writes it, `-priority` is downwards."""

    column: str
    is_down: bool

    @classmethod
    def of(cls, sort: str) -> Order:
        """The order of a query."""
        return cls(sort.removeprefix("-"), sort.startswith("-"))

    def comes_behind(self, place: Place, other: Place) -> bool:
        """Whether one place comes after another one."""
        return place < other if self.is_down else place > other

    def behind(self, places: Iterable[Place], place: Place | None) -> list[Place]:
        """Those that come behind a place, None = all, in order."""
        return sorted(
            (each for each in places if place is None or self.comes_behind(each, place)), reverse=self.is_down
        )

    def cursor(self, place: Place) -> str:
        """Where the next page begins: behind this place."""
        text = json.dumps([f"{'-' if self.is_down else ''}{self.column}", *place])
        return f"sort-{urlsafe_b64encode(text.encode()).decode()}"

    def parse(self, cursor: str) -> Place:
        """The place behind which a page begins. InputError `bad-cursor` where it is none of this order."""
        match = _CURSOR.fullmatch(cursor)
        try:
            sort, value, number = json.loads(urlsafe_b64decode(match[1])) if match else ("", 0, 0)
        except (ValueError, TypeError):
            sort, value, number = "", 0, 0
        kind = int if self.column in _NUMBERS else str
        if self.of(str(sort)) != self or type(value) is not kind or type(number) is not int:
            what, mend = "this is not a cursor of a page in this order", "use the cursor that came with a page"
            raise InputError([Fault("bad-cursor", what, mend)])
        return value, number


def live_places(core: Core, wanted: Wanted, column: str, below: int) -> tuple[list[Place], int]:
    """Places of jobs that have not ended, of some below a number, 0 = all; and where to go on, 0 = nowhere."""
    found, rest = look(core, wanted, below, _ANY)
    value = COLUMNS[column]
    return [(value(job), int(job.name)) for job in found], rest


def unwritten(core: Core, wanted: Wanted) -> list[FinishedJob]:
    """Jobs that are over and could not be written yet."""
    return [job for job in core.journal.jobs.values() if is_wanted(job, wanted.of_store)]


def finished_place(job: FinishedJob, column: str) -> Place:
    """Where a job that is over stands."""
    if column in {"running", "waiting"}:
        return 0, int(job.job)
    if column in {"priority", "tasks"}:
        return int(json.loads(job.summary).get(column, 0)), int(job.job)
    return int(job.job) if column == "job" else getattr(job, column), int(job.job)


def merged(order: Order, parts: Sequence[tuple[Sequence[Place], Place | None]], limit: int) -> tuple[list[Place], str]:
    """The first places of several lists, and the cursor of what follows, empty = nothing.

    parts : each list in order with the place up to which it is whole; None = to its end
    """
    borders = [border for _, border in parts if border is not None]
    whole = (max if order.is_down else min)(borders, default=None)
    every = {place for places, _ in parts for place in places}
    kept = [place for place in order.behind(every, None) if whole is None or not order.comes_behind(place, whole)]
    if len(kept) > limit:
        return kept[:limit], order.cursor(kept[limit - 1])
    return kept, "" if whole is None else order.cursor(whole)
