"""Where the units of a request of a queue stand, who takes them and by which strategy, and what comes to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.requests import numbers_of, ways_to
from fairhold.ledger.queues import is_preemptible
from fairhold.rules.pools.notice_reason import rule_of_queue
from fairhold.rules.queues.contest import sides
from fairhold.units import format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.ledger.pools import Notice, PendingRequest, Unit


def request_document(asking: Asking, asked: PendingRequest, new: Collection[Unit]) -> Document:
    """A request with its place in the serving order, what it holds and what comes to it.

    new : units that the cycle has placed
    """
    inquiry = asking.inquiry
    place = asking.order.get(asked.model.id)
    return (
        numbers_of(inquiry, asked, inquiry.reservations.new_units(asked))
        | {
            "preemptible": is_preemptible(asked),
            "serving": None if place is None else {"place": place, "of": len(asking.order), "rule": "R-SERVE-1"},
            "stands": list(_stands(asking, asked, new)),
        }
        | ways_to(inquiry, asked)
    )


def _stands(asking: Asking, asked: PendingRequest, new: Collection[Unit]) -> Iterator[Document]:
    """Units that stand alike: on one host, under the same notice."""
    found: dict[tuple[object, ...], list[Unit]] = {}
    for unit in asked.units:
        notice = unit.notice
        told = (notice.taker, notice.deadline, notice.reason, notice.is_new, notice.strategy) if notice else ()
        found.setdefault((unit.host, told, unit in new), []).append(unit)
    for units in found.values():
        notice = units[0].notice
        yield {
            "host": units[0].host.name,
            "units": len(units),
            "is_new": units[0] in new,
            "grace": format_duration(asking.inquiry.terms.grace[asked.leaf]),
            "notice": None if notice is None else _notice(asking, units[0], notice),
        }


def _notice(asking: Asking, unit: Unit, notice: Notice) -> Document:
    """For whom units go, until when, by which strategy, and how both sides stood and stand."""
    taker, asked = notice.taker, unit.asked
    found: Document = {
        "for": taker.model.id if taker else None,
        "consumer": asking.inquiry.path(taker.leaf) if taker else None,
        "deadline": format_instant(notice.deadline),
        "reason": notice.reason,
        "is_new": notice.is_new,
        "rule": rule_of_queue(unit),
    }
    if taker is None or notice.is_move:
        return found
    if taker.leaf == asked.leaf:
        return found | {"priority": taker.model.priority}
    mine, theirs = sides(asking.terms, taker.leaf, asked.leaf)
    return found | {
        "strategy": notice.strategy or None,
        "resources": {
            asking.name(at): {"taker": _side(asking, at, mine), "holder": _side(asking, at, theirs)}
            for at, need in enumerate(taker.unit)
            if need and asked.unit[at]
        },
    }


def _side(asking: Asking, at: int, row: int) -> Document:
    """How a side stood before the cycle, and stands once all moves are done."""
    return {
        "consumer": asking.inquiry.path(row),
        "fair_share": asking.number(at, asking.now.fair[at][row]),
        "deserved": asking.number(at, asking.terms.deserved[at][row]),
        "held": asking.number(at, asking.stood.held[at][row]),
        "as_moved": asking.number(at, asking.now.held[at][row]),
    }
