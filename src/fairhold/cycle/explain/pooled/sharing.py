"""What a pool has and how its usage is divided, level by level from its owner down to one consumer (R-USAGE-1 to 4)."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.dividing import level_of, sums_of, wanting_in
from fairhold.cycle.explain.pooled.limiting import on_the_way
from fairhold.cycle.pooled.shares import in_units, total_of
from fairhold.kernels.vectors import add, less, total
from fairhold.ledger.pools import PUBLIC
from fairhold.model.vector import amount
from fairhold.rules.pools.content import booked_on, idle_counts
from fairhold.rules.pools.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.rules.pools.pool_usage import Standing


def pool_document(inquiry: Inquiry, standing: Standing) -> Document:
    """One pool that a consumer shares, with the consumer's numbers in it."""
    row, pool = inquiry.row, standing.pool
    line = inquiry.terms.above[row]
    line = line[: line.index(pool) + 1]
    wanting = wanting_in(inquiry, standing)
    return {
        "pool": inquiry.pool(pool),
        **_content(inquiry, pool),
        "capacity": _capacities(inquiry, standing),
        **inquiry.cycle.pools[inquiry.pool(pool)]["consumers"][inquiry.path(row)],
        "usage_as_moved": str(Fraction(standing.moved.get(row, 0), standing.whole)),
        "levels": [level_of(inquiry, standing, parent, wanting) for parent in reversed(line[1:])],
        "requests": [
            {"request": asked.model.id, "consumer": inquiry.path(asked.leaf), **sums_of(standing, asked)}
            for asked in inquiry.asked()
            if asked in standing.size
        ],
    }


def _content(inquiry: Inquiry, pool: int) -> Document:
    """What a pool has: what its owner has, or nobody owns; what is lent to it; less what is lent out of it."""
    terms, resources = inquiry.terms, inquiry.plan.resources
    nothing = (0,) * terms.dimensions
    unowned, lent_out = total(inquiry.books.away.get(pool, {}).values(), terms.dimensions), nothing
    lent_in: dict[int, Vector] = defaultdict(lambda: nothing)
    has_idle = idle_counts(inquiry.books, pool)
    for host in inquiry.books.hosts:
        for parcel in host.parcels:
            is_here = has_idle(parcel) and not host.is_closed
            there = total((parcel.idle, *parcel.kept.values()), terms.dimensions) if is_here else nothing
            for unit in host.units:
                if unit.pool == pool and parcel in unit.books:
                    there = add(there, unit.books[parcel])
            if parcel.owner == pool:
                has = booked_on(parcel, nothing) if host.is_closed else parcel.amounts
                unowned, lent_out = add(unowned, has), add(lent_out, less(has, there))
            elif any(there):
                lent_in[parcel.owner] = add(lent_in[parcel.owner], there)
    lenders = sorted(lent_in, key=lambda row: terms.position[row])
    return {
        "amounts": in_units(resources, total_of(inquiry.books, pool)),
        "unowned": in_units(resources, unowned),
        "lent_in": {inquiry.owner(row) or "/": in_units(resources, lent_in[row]) for row in lenders},
        "lent_out": in_units(resources, lent_out),
    }


def _capacities(inquiry: Inquiry, standing: Standing) -> list[Document]:
    """How many units of each size that the consumer asks for would fit into the pool if it were free (S0.22, S0.23)."""
    sizes = dict.fromkeys(asked.unit for asked in inquiry.asked() if asked in standing.size)
    return [{"unit": inquiry.amounts(size), "units": standing.capacity[size]} for size in sizes]


def limits_of(inquiry: Inquiry) -> Iterator[Document]:
    """The share limits that hold for a consumer: its own and those above it, the nearest first (R-LIMIT-1)."""
    books, terms = inquiry.books, inquiry.terms
    held = Limits(books, books.units())
    stays = Limits(books, (unit for unit in books.units() if unit.notice is None))
    coming = on_the_way(inquiry)
    for row in terms.above[inquiry.row]:
        for at, most in terms.limit.get(row, ()) if row != PUBLIC else ():
            resource, used, soon = inquiry.plan.resources[at], held.used[row][at], coming.used[row][at]
            yield {
                "consumer": inquiry.path(row),
                "resource": resource.name,
                "limit": amount(resource, most),
                "used": amount(resource, used),
                "under_notice": amount(resource, used - stays.used[row][at]),
                "on_the_way": amount(resource, soon),
                "left": amount(resource, max(0, most - used - soon)),
                "rule": "R-LIMIT-1",
            }
