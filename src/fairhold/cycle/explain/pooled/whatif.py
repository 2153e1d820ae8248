"""What would give a waiting request more, by trying (see `explain.search`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.parameter import Files, put_all
from fairhold.cycle.explain.search import ChangeSearch
from fairhold.cycle.pooled.active_entries import entries_at
from fairhold.cycle.pooled.decide import decide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Settings
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.cycle.explain.pooled.parameters import Parameters
    from fairhold.cycle.explain.search import Course
    from fairhold.ledger.pools import PendingRequest

GROUPS = ("request", "consumers", "hosts", "settings", "other requests", "other consumers")
"""What the values that are tried one after the other are of; `consumers`: the leaf and those above it."""
_HOST = 4
"""Units that a host costs as much as."""


class Search(ChangeSearch):
    """Tries changes for the requests of one inquiry."""

    def __init__(self, inquiry: Inquiry, parameters: Parameters) -> None:
        self.inquiry, self.parameters = inquiry, parameters
        books = inquiry.books
        super().__init__(1 + sum(asked.model.count for asked in books.asked.values()) + _HOST * len(books.hosts))
        self._files = Files(inquiry.plan, inquiry.state)

    def of(self, asked: PendingRequest, pointed: Iterator[Iterator[Settings]]) -> Document:
        """What gives a request more, and how the search went.

        pointed : for every kind of change what is tried of it, the smallest first
        """
        had = asked.held + self.inquiry.reservations.new_units(asked)
        groups = dict(zip(GROUPS, self.parameters.groups(asked), strict=True))
        course = self.find(asked.model.id, had, pointed, groups)
        helps = [self._document(course, kind) for kind in course.told()]
        return {"would_help": helps if helps or course.is_complete else None, "search": course.document()}

    def _run(self, settings: Settings) -> dict[str, tuple[int, int]]:
        """What every request of the inquiry holds, and what is on its way to it, in a cycle after a change.

        Requests that wait for the same reason are often helped by the same change: it is tried once for all of them.
        """
        files = put_all(self._files, settings)
        forces = entries_at(files.plan, files.state)
        force = next(each for each in forces if each.at == self.inquiry.force.at)
        decided = decide(files.plan, force.entry, force.part_of(files.plan, files.state), force.members)
        others = [decided.books.asked[asked.model.id] for asked in self.inquiry.asked()]
        return {other.model.id: (other.held, decided.sweeps.reservations.new_units(other)) for other in others}

    def _document(self, course: Course, kind: object) -> Document:
        settings = course.found[kind]
        held, coming = self.outcome(course, settings)
        changes = [parameter.becomes(value).document() for parameter, value in settings]
        told = {"changes": changes, "held": held, "on_the_way": coming}
        return told | ({} if kind not in course.loose else {"is_smallest": False})
