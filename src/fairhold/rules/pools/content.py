"""The content of a pool on a host: which leaves may use it, and the capacity when it is free (R-POOL-1 to R-POOL-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, less, total
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.model.vector import Owning


def within(limit: int | None) -> int:
    """A bound in microseconds; None = any."""
    return UNLIMITED if limit is None else limit


def bound_on(terms: Terms, parcel: Parcel, leaf: int, pool: int) -> int:
    """Microseconds in which a leaf's unit in a pool has to let go of a parcel, UNLIMITED = any (R-LEND-6).

    A leaf's own parcels have no bound. What an owner's children do not own is bound by its private pool's grace for its
    descendants, wherever they get it; what was lent by the smallest grace of those who lent it on.
    """
    if parcel.owner == leaf:
        return UNLIMITED
    if parcel.owner == PUBLIC:
        return within(terms.settings.public_pool_grace)
    bound = UNLIMITED
    for row, entry in parcel.chain:
        if row == pool:
            break
        bound = min(bound, within(entry.lend_grace))
    if parcel.owner in terms.above[leaf]:
        bound = min(bound, within(terms.pool_grace.get(parcel.owner)))
    return bound


def grace_of(terms: Terms, unit: Unit) -> int:
    """Microseconds from a notice to the stop: the smallest of the holder's and the bounds as they are now."""
    leaf = unit.asked.leaf
    bounds = (bound_on(terms, parcel, leaf, unit.pool) for parcel in unit.books)
    return min(terms.grace[leaf], min(bounds, default=UNLIMITED))


def deadline_of(books: PoolBooks, unit: Unit) -> int:
    """The deadline of a notice given now: after the grace, not later than that of a notice withdrawn in this cycle."""
    deadline, before = books.now + grace_of(books.terms, unit), books.told_before.get(unit)
    return deadline if before is None else min(deadline, before.deadline)


def may_use(terms: Terms, parcel: Parcel, leaf: int, pool: int) -> bool:
    """Whether the grace of a leaf is short enough for a parcel that is in a pool."""
    return parcel.owner == leaf or terms.grace[leaf] <= bound_on(terms, parcel, leaf, pool)


def booking_order(terms: Terms, parcel: Parcel, leaf: int, pool: int) -> tuple[int, ...]:
    """Place of a parcel where a unit is booked (R-POOL-2): own ones, the pool's, then lent ones.

    Of lent ones those of the worst preference of their lender, the worst rank, then plan order.
    """
    if parcel.owner == leaf:
        return 0, parcel.preference
    if parcel.owner == pool:
        return (1,)
    return 2, -parcel.preference, -terms.rank[parcel.owner], parcel.owner


def parcels_for(terms: Terms, host: Machine, leaf: int, pool: int) -> list[Parcel]:
    """Parcels of a host whose idle content is in a pool and that a leaf may use there, in booking order."""
    found = [each for each in host.parcels if is_within(terms, each, pool) and may_use(terms, each, leaf, pool)]
    if len(found) > 1:
        found.sort(key=lambda parcel: booking_order(terms, parcel, leaf, pool))
    return found


def room_in(parcels: Iterable[Parcel], asked: PendingRequest, dimensions: int) -> Vector:
    """What a request finds in parcels."""
    rooms = [parcel.room(asked) if parcel.kept else parcel.idle for parcel in parcels]
    return rooms[0] if len(rooms) == 1 else total(rooms, dimensions)


def is_lent_to(parcel: Parcel, pool: int) -> bool:
    """Whether what is idle of a parcel may go up to a pool, or is its own: nothing below is reserved (R-LEND-5)."""
    for row, entry in parcel.chain:
        if row == pool:
            return True
        if entry.reserved:
            return False
    return pool == PUBLIC


def is_within(terms: Terms, parcel: Parcel, pool: int) -> bool:
    """Whether what is idle of a parcel is in a pool: lent up from a private pool, it counts as its own (R-LEND-5).

    Of what its leaf owns only that is at a leaf's level which has not been lent up.
    """
    if parcel.level == pool:
        return True
    is_private = pool != PUBLIC and bool(terms.tree.children[pool])
    return is_private and parcel.level in terms.above[pool] and is_lent_to(parcel, pool)


def entries_of(books: PoolBooks, row: int) -> Iterable[Owning]:
    """What a row owns, with the preferences that it has on its hosts."""
    stated = books.terms.own.get(row, ())
    if all(entry.preference is not None for entry in stated):
        return stated
    chains = (parcel.chain for host in books.hosts_in(row) for parcel in host.parcels)
    return dict.fromkeys(entry for chain in chains for owner, entry in chain if owner == row)


def lend_up(parcels: Iterable[Parcel], row: int, above: int) -> None:
    """Lend what is still idle at one level to the next, except what is reserved there."""
    for parcel in parcels:
        if parcel.level == row and is_lent_to(parcel, above):
            parcel.level = above


def parts(books: PoolBooks, pool: int) -> Iterator[Vector]:
    """What a pool has on every host: what its units have there, and what is idle in it (R-POOL-3).

    What a private pool has lent up, and is idle, counts in it as long as one of its leaves waits (R-LEND-5). Of a host
    that is not up that is only what is booked there (R-UP-1).
    """
    yield from (part for _, part in parts_of_hosts(books, pool))
    yield from books.away.get(pool, {}).values()


def parts_of_hosts(books: PoolBooks, pool: int) -> Iterator[tuple[Machine, Vector]]:
    """The same of those that are not down, with the host."""
    counts, nothing = idle_counts(books, pool), (0,) * books.terms.dimensions
    for host in books.hosts_in(pool):
        if host.is_plain and not host.is_closed:  # the common case
            if pool == PUBLIC:
                yield host, host.parcels[0].amounts
            continue
        found = [unit.asked.unit for unit in host.units if unit.pool == pool]
        for parcel in () if host.is_closed else host.parcels:
            if (parcel.kept or parcel.idle != nothing) and counts(parcel):
                found += (parcel.idle, *parcel.kept.values())
        if found:
            yield host, total(found, len(nothing))


def idle_counts(books: PoolBooks, pool: int) -> Callable[[Parcel], bool]:
    """What tells whether a pool has what is idle of a parcel: of what it lent up, while one of its leaves waits.

    A gang that is told to go waits here, too: it is the same for all of a cycle, and for the next one.
    """
    terms = books.terms
    wanted = pool != PUBLIC and any(
        min(each.count, each.most) > each.held and pool in terms.above[each.leaf] for each in books.wanting
    )
    return lambda parcel: parcel.level == pool or (wanted and is_within(terms, parcel, pool))


def parts_with_lent(books: PoolBooks, pool: int) -> Iterator[Vector]:
    """What a private pool has on every host, what it lent up counted as its own (SPEC §6.2)."""
    above, nothing = books.terms.above, (0,) * books.terms.dimensions
    yield from books.away.get(pool, {}).values()
    for host in books.hosts_in(pool):
        part = nothing
        for parcel in host.parcels:
            if any(row == pool for row, _ in parcel.chain) and is_lent_to(parcel, pool):
                part = add(part, booked_on(parcel, nothing) if host.is_closed else parcel.amounts)
                for unit in host.units:
                    is_below = unit.pool == OWN or (unit.pool != pool and pool in above[unit.pool])
                    if is_below and parcel in unit.books:
                        part = less(part, unit.books[parcel])
        yield part


def booked_on(parcel: Parcel, nothing: Vector) -> Vector:
    """What units have of a parcel."""
    return total((unit.books[parcel] for unit in parcel.host.units if parcel in unit.books), len(nothing))


def free_of(unit: Unit, parcels: set[Parcel], dimensions: int) -> Vector:
    """What a unit has on some parcels."""
    return total([part for parcel, part in unit.books.items() if parcel in parcels], dimensions)


def capacities(have: Mapping[Vector, int], sizes: Iterable[Vector]) -> dict[Vector, int]:
    """Size of a unit → how many fit into a pool that is free, host by host (S0.22).

    have : part of a host → on how many the pool has it
    """
    return {size: sum(count(size, part) * hosts for part, hosts in have.items()) for size in set(sizes)}
