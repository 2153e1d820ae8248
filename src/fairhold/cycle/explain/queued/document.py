"""The explanation of one consumer's fair share and requests in an entry of `fair_share`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.moves import moves_of
from fairhold.cycle.explain.pooled.whatif import Search
from fairhold.cycle.explain.queued.asking import Asking
from fairhold.cycle.explain.queued.candidates import kinds
from fairhold.cycle.explain.queued.levels import levels_document
from fairhold.cycle.explain.queued.parameters import QueueParameters
from fairhold.cycle.explain.queued.requests import request_document
from fairhold.cycle.explain.queued.waiting import Why, waiting_document
from fairhold.cycle.queued.document import saturation_text
from fairhold.rules.queues.shares import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.ledger.pools import PendingRequest, Unit

ROOT = 0


def explain_queue(inquiry: Inquiry, *, what_if: bool) -> Document:
    """Explain one consumer in a cycle of one entry of `fair_share`."""
    asking = Asking(inquiry)
    why = Why(asking)
    search = Search(inquiry, QueueParameters(asking)) if what_if and asking.has_hosts else None
    new = set(inquiry.cycle.sweeps.placed)
    return {
        "consumer": inquiry.path(inquiry.row),
        "policy": inquiry.force.entry.policy.name,
        "resource_groups": list(inquiry.force.entry.resource_groups),
        "division": asking.terms.settings.division,
        "resources": [
            _resource(asking, at) for at in asking.terms.resources if asking.stood.total[at] or _is_asked(asking, at)
        ],
        "over_fair_share": list(_over(asking)),
        "requests": [_request(asking, why, search, asked, new) for asked in inquiry.asked()],
        "moves": list(moves_of(inquiry)),
    }


def queue_teller(inquiry: Inquiry) -> Callable[[PendingRequest], Document]:
    """What explains one request of a consumer after the other, without what would help it."""
    asking = Asking(inquiry)
    why, new = Why(asking), set(inquiry.cycle.sweeps.placed)
    return lambda asked: _request(asking, why, None, asked, new)


def _is_asked(asking: Asking, at: int) -> bool:
    return bool(asking.stood.requested[at][ROOT])


def _resource(asking: Asking, at: int) -> Document:
    """One resource: what the consumer is entitled to and holds, and how that was divided."""
    stood, now, row, terms = asking.stood, asking.now, asking.inquiry.row, asking.terms
    held, fair = stood.held[at][row], stood.fair[at][row]
    return {
        "resource": asking.name(at),
        "total": asking.number(at, stood.total[at]),
        "fair_share": asking.number(at, fair),
        "deserved": asking.number(at, terms.deserved[at][row]),
        "limit": asking.number(at, terms.limit[at][row]),
        "requested": asking.number(at, stood.requested[at][row]),
        "usable": asking.number(at, usable(terms, at, stood.requested[at])[row]),
        "held": asking.number(at, held),
        "as_moved": asking.number(at, now.held[at][row]),
        "saturation": saturation_text(held, fair),
        "levels": levels_document(asking, at, row),
    }


def _over(asking: Asking) -> Iterator[Document]:
    """Every queue that holds more than its fair share once all moves are done, from the top down."""
    now, children = asking.now, asking.terms.children
    rows = list(reversed(children[ROOT]))
    while rows:
        row = rows.pop()
        rows += reversed(children[row])
        for at in asking.terms.resources:
            held, fair = now.held[at][row], now.fair[at][row]
            if held > fair:
                leaving = asking.used.held[at][row] - held
                yield {
                    "consumer": asking.inquiry.path(row),
                    "resource": asking.name(at),
                    "held": asking.number(at, held),
                    "fair_share": asking.number(at, fair),
                    "deserved": asking.number(at, asking.terms.deserved[at][row]),
                    "above": asking.number(at, held - fair),
                    "under_notice": asking.number(at, leaving),
                }


def _request(asking: Asking, why: Why, search: Search | None, asked: PendingRequest, new: set[Unit]) -> Document:
    waiting = why.of(asked)
    found = request_document(asking, asked, new) | {"waits": None}
    if waiting is not None:
        found["waits"] = waiting_document(asking, waiting)
        lacks = asked.lacking > asking.inquiry.reservations.new_units(asked)
        if search is not None and lacks and asking.inquiry.is_about(asked):
            found |= search.of(asked, kinds(asking, search.parameters, asked, waiting))
    return found
