"""Terms that many jobs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.orchestrator.changes import JobAdded

MOST_TERMS = 1_000


class SharedTerms:
    """Terms of jobs that came lately, so that equal ones are in memory once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], JobAdded] = {}

    def of(self, job: JobAdded) -> JobAdded:
        """The terms of a job, without its name, as some job has them already."""
        known = self._known.get(job[1:])
        if known is None:
            if len(self._known) >= MOST_TERMS:
                self._known.clear()
            known = self._known[job[1:]] = job._replace(job="")
        return known
