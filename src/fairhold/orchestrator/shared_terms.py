"""Terms that many jobs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.orchestrator.changes import JobAdded

MOST_TERMS = 1_000


class SharedTerms:
    """Terms of jobs that came lately, so that equal ones are in memory once."""

    def __init__(self) -> None:
        self._known: dict[JobAdded, JobAdded] = {}

    def of(self, terms: JobAdded) -> JobAdded:
        """The same terms, as some job has them already."""
        if len(self._known) >= MOST_TERMS:
            self._known.clear()
        return self._known.setdefault(terms, terms)
