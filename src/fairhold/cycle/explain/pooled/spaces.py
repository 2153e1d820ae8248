"""What a request finds on every host at one level: of its own, in a private pool, in the public pool (R-POOL-1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.bounds import Bound, bound_of
from fairhold.kernels.vectors import add, beyond, fits, total
from fairhold.ledger.pools import OWN, free_of
from fairhold.rules.pools.content import is_lent_to, may_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, Machine, Parcel, Unit


@dataclass(frozen=True, slots=True)
class Space:
    """One host at one level.

    whole   : all that the level has there
    usable  : of it the parcels that the request may use, whole, whoever stands on them
    free    : idle of those, with what is kept for the request
    kept    : idle of those that is kept for others
    barred  : idle of parcels that a bound keeps it from
    freed   : what those have on usable parcels that may be asked to give
    passed  : owner and bound of the parcels that it may not use
    is_open : packing lets it stand there
    """

    host: Machine
    whole: Vector
    usable: Vector
    free: Vector
    kept: Vector
    barred: Vector
    freed: Vector
    passed: tuple[tuple[int, Bound], ...] = ()
    is_open: bool = True


Gap = tuple["Space", "Vector"]
"""A host and what is missing there."""


def nearest(unit: Vector, spaces: Iterable[Space], room: Callable[[Space], Vector]) -> Gap | None:
    """The host on which the smallest part of a unit is missing, and what; the first of equal ones; None = no host."""
    best: tuple[tuple[Fraction, Fraction], Gap] | None = None
    for space in spaces:
        gap = beyond(unit, room(space))
        parts = [Fraction(miss, need) for miss, need in zip(gap, unit, strict=True) if need]
        key = max(parts, default=Fraction(0)), sum(parts, Fraction(0))
        if best is None or key < best[0]:
            best = key, (space, gap)
    return best[1] if best else None


def own_spaces(inquiry: Inquiry, asked: Asked, preference: int) -> list[Space]:
    """What its leaf owns with one preference; what others have borrowed of it they give."""
    found = []
    for host in inquiry.books.hosts:
        mine = [each for each in host.parcels if each.owner == asked.leaf and each.preference == preference]
        if mine:
            whole = _sum(inquiry, (each.amounts for each in mine))
            freed = _freed(inquiry, asked, host, mine, lambda unit: unit.pool != OWN)
            free, kept = _room(inquiry, asked, mine)
            found.append(Space(host, whole, whole, free, kept, _sum(inquiry, ()), freed))
    return found


def pool_spaces(inquiry: Inquiry, asked: Asked, pool: int, givers: set[int]) -> list[Space]:
    """What a pool has.

    givers : leaves that may be asked to give a unit
    """
    return list(_spaces(inquiry, asked, pool, lambda unit: unit.pool == pool and unit.asked.leaf in givers))


def _spaces(inquiry: Inquiry, asked: Asked, pool: int, gives: Callable[[Unit], bool]) -> Iterator[Space]:
    terms, is_exclusive = inquiry.terms, inquiry.terms.settings.packing == "exclusive"
    for host in inquiry.books.hosts:
        users = [unit for unit in host.units if unit.pool == pool]
        used = {parcel for unit in users for parcel in unit.books}
        there = [each for each in host.parcels if each.level == pool or each in used]
        if not there:
            continue
        usable = [each for each in there if may_use(terms, each, asked.leaf, pool)]
        barred = [each for each in there if each not in usable]
        idle = [each for each in usable if each.level == pool]
        free, kept = _room(inquiry, asked, idle)
        all_idle = _sum(inquiry, (part for each in there if each.level == pool for part in _idle(each)))
        yield Space(
            host=host,
            whole=add(all_idle, _sum(inquiry, (unit.asked.unit for unit in users))),
            usable=_sum(inquiry, (each.amounts for each in usable)),
            free=free,
            kept=kept,
            barred=_sum(inquiry, (each.idle for each in barred if each.level == pool)),
            freed=_freed(inquiry, asked, host, usable, gives),
            passed=tuple((each.owner, bound_of(terms, each, asked.leaf, pool)) for each in barred),
            is_open=not is_exclusive or all(unit.asked.leaf == asked.leaf for unit in host.units),
        )


def lent_spaces(inquiry: Inquiry, asked: Asked, pool: int) -> list[Space]:
    """What the owner of a private pool has lent up to outer pools, where strangers give it back (R-TAKE-2)."""
    terms, found = inquiry.terms, []
    outside = set(terms.above[pool]) - {pool}
    for host in inquiry.books.hosts:
        mine = [
            each
            for each in host.parcels
            if any(row == pool for row, _ in each.chain)
            and is_lent_to(each, pool)
            and may_use(terms, each, asked.leaf, pool)
        ]
        freed = _freed(
            inquiry,
            asked,
            host,
            mine,
            lambda unit: unit.pool in outside and pool not in terms.above[unit.asked.leaf],
        )
        if mine and any(freed):
            whole = _sum(inquiry, (each.amounts for each in mine))
            free, kept = _room(inquiry, asked, mine)
            found.append(Space(host, whole, whole, free, kept, _sum(inquiry, ()), freed))
    return found


def whole_hosts(inquiry: Inquiry) -> list[Space]:
    """Every host that is up as if it were empty and everybody's."""
    nothing = _sum(inquiry, ())
    return [Space(host, host.total, host.total, host.total, nothing, nothing, nothing) for host in inquiry.books.hosts]


def can_take(unit: Vector, spaces: Iterable[Space]) -> bool:
    """Whether a unit fits on some host with what is idle there and what those have that may give."""
    return any(fits(unit, add(space.free, space.freed)) for space in spaces)


def _idle(parcel: Parcel) -> Iterator[Vector]:
    yield parcel.idle
    yield from parcel.kept.values()


def _room(inquiry: Inquiry, asked: Asked, parcels: list[Parcel]) -> tuple[Vector, Vector]:
    """What is idle for a request, and what is kept for others."""
    free = _sum(inquiry, (each.room(asked) for each in parcels))
    kept = (amount for each in parcels for whose, amount in each.kept.items() if whose is not asked)
    return free, _sum(inquiry, kept)


def _freed(
    inquiry: Inquiry, asked: Asked, host: Machine, parcels: list[Parcel], gives: Callable[[Unit], bool]
) -> Vector:
    among = set(parcels)
    able = [unit for unit in host.units if unit.notice is None and unit.asked.leaf != asked.leaf and gives(unit)]
    return _sum(inquiry, (free_of(unit, among, inquiry.terms.dimensions) for unit in able))


def _sum(inquiry: Inquiry, vectors: Iterable[Vector]) -> Vector:
    return total(vectors, inquiry.terms.dimensions)
