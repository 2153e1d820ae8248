"""Where the units of a request stand, within what they have to let go, and what is on its way to it (R-HELD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.bounds import grace_from
from fairhold.cycle.pooled.close import lenders_of
from fairhold.ledger.pools import OWN, Parcel
from fairhold.rules.pools.notice_reason import rule_of
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest, Unit


def request_document(inquiry: Inquiry, asked: PendingRequest, new: Collection[Unit]) -> Document:
    """A request with what it holds and what comes to it.

    new : units that the cycle has placed
    """
    numbers = numbers_of(inquiry, asked, inquiry.reservations.units(asked))
    return numbers | {"stands": list(_stands(inquiry, asked, new))} | ways_to(inquiry, asked)


def numbers_of(inquiry: Inquiry, asked: PendingRequest, on_the_way: int) -> Document:
    """What a request wants, has and waits for."""
    return {
        "request": asked.model.id,
        "consumer": inquiry.path(asked.leaf),
        "unit": inquiry.amounts(asked.unit),
        "count": asked.model.count,
        "min_count": asked.model.min_count,
        "priority": asked.model.priority,
        "held": asked.held,
        "on_hosts_down": asked.away,
        "waiting": asked.lacking,
        "on_the_way": on_the_way,
    }


def ways_to(inquiry: Inquiry, asked: PendingRequest) -> Document:
    """What is on its way to a request, and what is kept for it where nobody has to go any more."""
    return {
        "coming": list(_coming(inquiry, asked)),
        "kept": [
            {"host": host.name, "units": reservation.units}
            for host, reservation in inquiry.reservations.of.get(asked, {}).items()
            if reservation.units and not reservation.victims
        ],
    }


def _stands(inquiry: Inquiry, asked: PendingRequest, new: Collection[Unit]) -> Iterator[Document]:
    """Units that stand alike: on one host, in one pool, on the same parcels, under the same notice."""
    found: dict[tuple[object, ...], list[Unit]] = {}
    for unit in asked.units:
        notice = unit.notice
        told = (notice.taker, notice.deadline, notice.reason, notice.is_new) if notice else ()
        found.setdefault((unit.host, unit.pool, tuple(unit.books.items()), told, unit in new), []).append(unit)
    for units in found.values():
        unit = units[0]
        grace = grace_from(inquiry.terms, unit)
        yield {
            "host": unit.host.name,
            "pool": inquiry.pool(unit.pool),
            "units": len(units),
            "is_new": unit in new,
            "parcels": [_part(inquiry, parcel, amounts) for parcel, amounts in unit.books.items()],
            "lenders": {inquiry.path(row): number for row, number in lenders_of(inquiry.terms, units)},
            "grace": grace.document(inquiry) | {"rule": "R-LEND-6"},
            "notice": notice_document(inquiry, unit),
        }


def _part(inquiry: Inquiry, parcel: Parcel, amounts: Vector) -> Document:
    return {"owner": inquiry.owner(parcel.owner), "amounts": inquiry.amounts(amounts)}


def notice_document(inquiry: Inquiry, unit: Unit) -> Document | None:
    """For whom a unit is under notice, by which rule and until when; None where it is not."""
    notice = unit.notice
    if notice is None:
        return None
    return {
        "for": notice.taker.model.id if notice.taker else None,
        "consumer": inquiry.path(notice.taker.leaf) if notice.taker else None,
        "deadline": format_instant(notice.deadline),
        "reason": notice.reason,
        "is_new": notice.is_new,
        "rule": rule_of(inquiry.books, inquiry.reservations, unit),
    }


def _coming(inquiry: Inquiry, asked: PendingRequest) -> Iterator[Document]:
    """Units of the request that are on their way to each host, and what they wait for there."""
    for host, reservation in inquiry.reservations.of.get(asked, {}).items():
        if not reservation.units or not reservation.victims:
            continue
        gone: dict[tuple[PendingRequest, int], int] = {}
        for unit in reservation.victims:
            if unit.notice is not None:
                gone[unit.asked, unit.notice.deadline] = gone.get((unit.asked, unit.notice.deadline), 0) + 1
        yield {
            "host": host.name,
            "pool": inquiry.pool(OWN if reservation.pool == asked.leaf else reservation.pool),
            "units": reservation.units,
            "rule": "R-HELD-1",
            "from": [
                {
                    "request": victim.model.id,
                    "consumer": inquiry.path(victim.leaf),
                    "units": units,
                    "deadline": format_instant(deadline),
                }
                for (victim, deadline), units in gone.items()
            ],
        }
