"""What an explanation of queues is about: how they stood before a cycle, and how they stand after it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.queued.open import count_all, count_moved
from fairhold.ledger.queues import amounts_of
from fairhold.model.vector import amount
from fairhold.rules.queues.reclaiming import Reclaimer
from fairhold.rules.queues.request_classes import gather
from fairhold.rules.queues.serving import Turns, next_units
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.ledger.pools import PendingRequest
    from fairhold.ledger.queues import Amount, Queues, QueueTerms

Number = int | float | str | None


class Asking:
    """The numbers of one inquiry, all of the cycle's own making.

    stood : how queues stood before the cycle, units under notice counted
    now   : after it: without what is under notice, with what is on its way
    used  : after it, with both: what limits look at before anything idle is given out
    """

    def __init__(self, inquiry: Inquiry) -> None:
        stood = inquiry.cycle.stood
        assert stood is not None, "an entry of fair_share tells how its queues stood"
        self.inquiry, self.stood = inquiry, stood
        self.now: Queues = count_moved(inquiry.books, stood, inquiry.reservations)
        self.used = count_all(inquiry.books, stood)
        for asked in inquiry.books.asked.values():
            self.used.add(asked, inquiry.reservations.units(asked))
        self.reclaimer = Reclaimer(inquiry.books, self.now, inquiry.reservations, [], gather(inquiry.books))
        self.order = self._serving_order()

    @property
    def has_hosts(self) -> bool:
        """Whether units can stand anywhere: else only totals are known."""
        groups = self.inquiry.plan.resource_groups
        return any(groups[name].hosts for name in self.inquiry.force.entry.resource_groups)

    @property
    def terms(self) -> QueueTerms:
        """What the entry says of every queue."""
        return self.stood.terms

    def need(self, asked: PendingRequest) -> list[int]:
        """Base units that a request takes in one go."""
        return amounts_of(asked.unit, self.reclaimer.wants(asked))

    def _serving_order(self) -> dict[str, int]:
        """Request that waits for more than is on its way → its place in the order of serving, from 1."""
        if not self.has_hosts:
            return {}
        waiting = [asked for asked in self.inquiry.books.asked.values() if self.inquiry.left(asked)]
        turns = Turns(self.now, waiting, next_units)
        found: dict[str, int] = {}
        while (asked := turns.next()) is not None:
            found[asked.model.id] = len(found) + 1
            turns.drop(asked)
        return found

    def name(self, at: int) -> str:
        """The name of a resource."""
        return self.inquiry.plan.resources[at].name

    def number(self, at: int, units: Amount) -> Number:
        """An amount in the declared unit; None = as much as there is. Of KAI's doubles the double."""
        if units >= UNLIMITED:
            return None
        if isinstance(units, int):
            return amount(self.inquiry.plan.resources[at], units)
        found = float(Fraction(units) / self.inquiry.plan.resources[at].base)
        return int(found) if found.is_integer() else found
