"""What a consumer owns of hosts, who stands on it, and whose it has borrowed (R-POOL-1, R-LEND-5, R-LEND-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.bounds import bound_of
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.kernels.vectors import add, times
from fairhold.ledger.pools import OWN
from fairhold.rules.pools.content import within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Parcel, PendingRequest


def owned(inquiry: Inquiry) -> Iterator[Document]:
    """The parcels of a consumer and of all below it, in inventory order."""
    for host in inquiry.books.hosts:
        for parcel in host.parcels:
            if any(row == inquiry.row for row, _ in parcel.chain):
                yield _parcel(inquiry, parcel)


def _parcel(inquiry: Inquiry, parcel: Parcel) -> Document:
    entry = parcel.chain[0][1]
    is_own = parcel.level == parcel.owner and inquiry.terms.tree.is_leaf(parcel.owner)
    return {
        "host": parcel.host.name,
        "resource_group": parcel.host.group,
        "owner": inquiry.path(parcel.owner),
        "amounts": inquiry.amounts(parcel.amounts),
        "preference": parcel.preference,
        "reserved": entry.reserved,
        "lend_grace": duration(within(entry.lend_grace)),
        "reclaim_before_next_level": entry.reclaim_before_next_level,
        "idle": inquiry.amounts(parcel.idle),
        "idle_in": inquiry.pool(OWN if is_own else parcel.level),
        "kept": [
            {"request": asked.model.id, "amounts": inquiry.amounts(amounts)} for asked, amounts in parcel.kept.items()
        ],
        "used_by": list(_users(inquiry, parcel)),
    }


def _users(inquiry: Inquiry, parcel: Parcel) -> Iterator[Document]:
    """Who stands on a parcel, in which pool, how much of it it has, and within what it would have to let go."""
    found: dict[tuple[PendingRequest, int], tuple[int, Vector]] = {}
    for unit in parcel.host.units:
        if parcel in unit.books:
            units, amounts = found.get((unit.asked, unit.pool), (0, times(unit.asked.unit, 0)))
            found[unit.asked, unit.pool] = units + 1, add(amounts, unit.books[parcel])
    for (asked, pool), (units, amounts) in found.items():
        yield {
            "request": asked.model.id,
            "consumer": inquiry.path(asked.leaf),
            "units": units,
            "pool": inquiry.pool(pool),
            "amounts": inquiry.amounts(amounts),
            "bound": bound_of(inquiry.terms, parcel, asked.leaf, pool).document(inquiry),
        }


def lent(inquiry: Inquiry) -> Document:
    """Borrower → units that stand on what the consumer, or one below it, owns; those below it apart."""
    return _counted(inquiry, lends=True)


def borrowed(inquiry: Inquiry) -> Document:
    """Lender → units of the consumer, and of all below it, that stand on what it owns; those below it apart."""
    return _counted(inquiry, lends=False)


def _counted(inquiry: Inquiry, *, lends: bool) -> Document:
    terms = inquiry.terms
    found: dict[int, int] = {}
    for unit in inquiry.books.units():
        borrower = unit.asked.leaf
        for lender in unit.lenders(terms):
            mine, other = (lender, borrower) if lends else (borrower, lender)
            if inquiry.row in terms.above[mine] and inquiry.row not in terms.above[other]:
                found[other] = found.get(other, 0) + 1
    return {inquiry.path(row): found[row] for row in sorted(found, key=lambda row: terms.position[row])}
