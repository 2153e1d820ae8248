"""Controls that keep a request from what it would take back: found by a cycle without them (R-CONTROL-6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import RULE_OF_CONTROL
from fairhold.cycle.pooled.decide import decide
from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.cycle.pooled.decide import Decided
    from fairhold.ledger.pools import PendingRequest
    from fairhold.rules.pools.reservations import Reservations


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A control that keeps a request from units.

    name  : its key in the plan
    units : that the request would have, or that would be on their way to it, without any control
    until : instant from which the control holds back no more of them, None = not known
    """

    name: str
    units: int
    until: int | None = None

    def document(self) -> Document:
        """The control as data."""
        return {
            "control": self.name,
            "rule": RULE_OF_CONTROL[self.name],
            "units": self.units,
            "until": None if self.until is None else format_instant(self.until),
        }


def without_controls(inquiry: Inquiry) -> Decided | None:
    """The cycle as it would be if nothing held it back; None where the entry states no control."""
    entry, force = inquiry.force.entry, inquiry.force
    settings = replace(entry.settings, max_reclaims=None, dead_zone=0, await_ends=0, observe_only=False)
    consumers = {row: replace(each, min_runtime=None) for row, each in entry.consumers.items()}
    if settings == entry.settings and consumers == dict(entry.consumers):
        return None
    free = replace(entry, settings=settings, consumers=consumers)
    return decide(inquiry.plan, free, force.part_of(inquiry.plan, inquiry.state), force.members)


def held_back(inquiry: Inquiry, asked: PendingRequest, free: Decided | None) -> HeldBack | None:
    """The control that keeps a request from more; None where it would have no more without.

    free : the cycle without controls
    """
    if free is None:
        return None
    other = free.books.asked[asked.model.id]
    mine, theirs = (
        _has(each, reservations)
        for each, reservations in ((asked, inquiry.reservations), (other, free.sweeps.reservations))
    )
    return replace(_control(inquiry, asked), units=theirs - mine) if theirs > mine else None


def _has(asked: PendingRequest, reservations: Reservations) -> int:
    """Units that a request holds or that are on their way to it."""
    return asked.held + reservations.new_units(asked)


def _control(inquiry: Inquiry, asked: PendingRequest) -> HeldBack:
    settings, restraint = inquiry.force.entry.settings, inquiry.books.restraint
    if settings.observe_only:
        return HeldBack("observe_only", 0)
    if restraint.takers is not None and asked.leaf not in restraint.takers:
        since = next((short.since for short in inquiry.cycle.shortages if short.consumer == asked.leaf), None)
        ripe = None if since is None else since + settings.await_ends
        if ripe is not None and ripe > inquiry.books.now:
            return HeldBack("await_ends", 0, ripe)
        return HeldBack("dead_zone", 0)
    if restraint.is_full or restraint.most == 0 or not restraint.spares_young:
        return HeldBack("max_reclaims", 0)
    return HeldBack("min_runtime", 0, restraint.due)
