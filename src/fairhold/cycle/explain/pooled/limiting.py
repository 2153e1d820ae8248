"""Share limits that keep a request from more: all that one more unit, or a gang's start, would break (R-LIMIT-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.model.vector import amount
from fairhold.rules.pools.limits import Limits

if TYPE_CHECKING:
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.ledger.pools import PendingRequest


@dataclass(frozen=True, slots=True)
class Reached:
    """A share limit that is too small for what a request wants in one go.

    row, at : the consumer that states it, and the place of the resource
    most    : the limit
    held    : what is used of it
    coming  : what is on its way, and counts, too
    """

    row: int
    at: int
    most: int
    held: int
    coming: int

    def document(self, inquiry: Inquiry) -> Document:
        """The limit as data."""
        resource = inquiry.plan.resources[self.at]
        return {
            "consumer": inquiry.path(self.row),
            "resource": resource.name,
            "limit": amount(resource, self.most),
            "used": amount(resource, self.held),
            "on_the_way": amount(resource, self.coming),
        }


def reached(
    inquiry: Inquiry, limits: Limits, asked: PendingRequest, units: int, coming: Limits | None
) -> tuple[Reached, ...]:
    """All share limits that so many more units would break, the nearest first.

    limits : what counts
    coming : of that, what is on its way; None = nothing
    """
    found, terms = [], inquiry.terms
    for row in terms.above[asked.leaf]:
        for at, most in terms.limit.get(row, ()):
            used, soon = limits.used[row][at], 0 if coming is None else coming.used[row][at]
            mine = asked.unit[at] * limits.coming.get(asked, 0)  # its own gives way to what is idle
            if asked.unit[at] and used - mine + asked.unit[at] * units > most:
                found.append(Reached(row, at, most, used - soon, soon - mine))
    return tuple(found)


def on_the_way(inquiry: Inquiry) -> Limits:
    """What is on its way under every share limit."""
    found = Limits(inquiry.books, (), ())
    found.expect(inquiry.reservations.shared())
    return found
