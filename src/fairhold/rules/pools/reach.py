"""Parcels of a host that a request can use, their pools, and the amounts held for it (R-HELD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond, common, less, total
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.content import booking_order, is_lent_to, may_use

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks


def reachable(books: PoolBooks, asked: PendingRequest, host: Machine) -> list[Parcel]:
    """Parcels of a host that a request could be booked on in any pool above its leaf, in booking order.

    Its own, and those of pools in which no share ratio of 0 keeps it out (R-SHARE-2): of others nothing is held for it.
    """
    terms, leaf = books.terms, asked.leaf
    found: list[tuple[int, tuple[int, ...], Parcel]] = []
    for parcel in host.parcels:
        for depth, pool in enumerate(terms.above[leaf]):
            if depth and not terms.ratio[terms.above[leaf][depth - 1]]:
                break
            if is_in(parcel, leaf, pool) and may_use(terms, parcel, leaf, pool):
                found.append((depth, booking_order(terms, parcel, leaf, pool), parcel))
                break
    found.sort(key=lambda each: each[:2])
    return [each[2] for each in found]


class Reach:
    """The same, remembered for a cycle: nothing that it rests on changes while one is decided."""

    def __init__(self, books: PoolBooks) -> None:
        self._books = books
        self._found: dict[tuple[int, Machine, int], list[Parcel]] = {}

    def __call__(self, asked: PendingRequest, host: Machine, pool: int = PUBLIC) -> list[Parcel]:
        """Parcels of a host that a request can reach, of those in a pool, or of its own where that is OWN.

        They are not to be changed.
        """
        place = asked.leaf, host, pool
        found = self._found.get(place)
        if found is None:
            every = reachable(self._books, asked, host) if pool == PUBLIC else self(asked, host)
            found = self._found[place] = those_in(every, asked.leaf, pool)
        return found


def those_in(parcels: list[Parcel], leaf: int, pool: int) -> list[Parcel]:
    """Of parcels that a leaf may use those in a pool, or its own where that is OWN."""
    return parcels if pool == PUBLIC else [each for each in parcels if is_in(each, leaf, leaf if pool == OWN else pool)]


def is_in(parcel: Parcel, leaf: int, pool: int) -> bool:
    """Whether a parcel is what a leaf owns, where the pool is the leaf, or is lent to the pool."""
    return parcel.owner == leaf if pool == leaf else is_lent_to(parcel, pool)


def kept_for(asked: PendingRequest, host: Machine, dimensions: int) -> Vector:
    """What is held of a host for a request."""
    return total([parcel.kept[asked] for parcel in host.parcels if asked in parcel.kept], dimensions)


def hold_beyond(asked: PendingRequest, host: Machine, parcels: list[Parcel], need: Vector) -> None:
    """Hold so much of what is idle in parcels of a host for a request, as far as it is not held there already."""
    need = beyond(need, kept_for(asked, host, len(need)))
    for parcel in parcels:
        part = common(need, parcel.idle)
        if any(part):
            parcel.keep(asked, part)
            need = less(need, part)
