"""What has ended, including what could not be written yet because the disk is full."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from fairhold.ports import Page

if TYPE_CHECKING:
    from fairhold.ports import Filter, FinishedJob, FinishedTask
    from fairhold.runtime.live.core import Core

_PLACE = re.compile(r"[0-9]{1,15}")
FIRST = (-1, 0)
"""Before the first attempt of the first task."""


def jobs_over(core: Core, wanted: Filter, cursor: str, limit: int) -> Page[FinishedJob]:
    """A page of jobs that are over, the latest end first: those that are yet to be written, then those in the store.

    A cursor that is a number counts those that are yet to be written; any other is the store's. What is written, or
    ends, between two pages may be seen twice, never missed. Raises InputError `bad-cursor`.
    """
    if cursor and not _PLACE.fullmatch(cursor):
        return core.store.jobs(wanted, cursor, limit)
    start = int(cursor or 0)
    kept = (job for job in reversed(core.journal.jobs.values()) if is_wanted(job, wanted))
    rows = list(islice(kept, start, start + limit))
    if len(rows) == limit:
        return Page(rows, str(start + limit))
    page = core.store.jobs(wanted, "", limit - len(rows))
    return Page([*rows, *page.rows], page.cursor)


def is_wanted(job: FinishedJob, wanted: Filter) -> bool:
    """As the store looks for its rows, of what is asked of jobs."""
    above = "/" + wanted.consumer.strip("/")
    if above != "/" and not f"{job.consumer}/".startswith(f"{above}/"):
        return False
    if wanted.label[0] and job.labels.get(wanted.label[0]) != wanted.label[1]:
        return False
    return wanted.state in {"", job.state} and wanted.user in {"", job.user}


def attempts_over(core: Core, job: str, after: tuple[int, int] = FIRST, limit: int = 100) -> list[FinishedTask]:
    """Attempts of a job that are over by (task, number), from the one behind `after`."""
    rows = core.store.tasks_of(job, after, limit)
    kept = [each for each in core.journal.tasks.get(job, ()) if (each.task, each.number) > after]
    return sorted([*rows, *kept], key=lambda each: (each.task, each.number))[:limit] if kept else rows
