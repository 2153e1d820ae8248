"""What a request finds on every host at one level: of its own, in a private pool, in the public pool (R-POOL-1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.bounds import Bound, bound_of
from fairhold.kernels.vectors import add, lack, total
from fairhold.ledger.pools import OWN
from fairhold.rules.pools.alone import are_alone, has_strangers, is_awaited, is_open
from fairhold.rules.pools.content import free_of, is_lent_to, is_within, may_use
from fairhold.rules.pools.siting import will_do

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, Unit


@dataclass(frozen=True, slots=True)
class Space:
    """One host at one level.

    whole   : all that the level has there
    usable  : of it the parcels that the request may use, whole, whoever stands on them
    free    : idle of those, with what is kept for the request
    kept    : idle of those that is kept for others
    barred  : idle of parcels that a bound keeps it from
    freed   : what those have on usable parcels that may be asked to give
    granted : the same of units that nobody takes at this instant (R-SERVE-3)
    passed  : owner and bound of the parcels that it may not use
    is_open : packing lets it stand there, and the host starts something
    is_left : packing lets it stand there once those have given that may be asked
    is_closed : the host starts nothing; shut: what is idle there, and is of no use; nothing else is
    """

    host: Machine
    whole: Vector
    usable: Vector
    free: Vector
    kept: Vector
    barred: Vector
    freed: Vector
    granted: Vector
    passed: tuple[tuple[int, Bound], ...] = ()
    is_open: bool = True
    is_left: bool = True
    is_closed: bool = False
    shut: Vector = ()


Gap = tuple["Space", "Vector"]
"""A host and what is missing there."""
Lack = tuple[int, int]
"""How much of a unit is missing: the largest part of any resource, then all parts together."""


def beyond_unit(unit: Vector, spaces: Iterable[Space], room: Callable[[Space], Vector]) -> tuple[Lack, Gap] | None:
    """The host on which the smallest part of a unit is missing, and what; the first of equal ones; None = no host."""
    best: tuple[Lack, Gap] | None = None
    for space in spaces:
        key, gap = lack(unit, room(space))
        if best is None or key < best[0]:
            best = key, (space, gap)
    return best


def owned_by(inquiry: Inquiry) -> dict[int, list[tuple[int, list[list[Parcel]]]]]:
    """Owner → preference → its parcels host by host, the best preference first."""
    found: dict[int, dict[int, dict[Machine, list[Parcel]]]] = {}
    for host in inquiry.books.hosts:
        for parcel in host.parcels:
            mine = found.setdefault(parcel.owner, {})
            mine.setdefault(parcel.preference, {}).setdefault(host, []).append(parcel)
    return {
        owner: [(preference, list(mine[preference].values())) for preference in sorted(mine)]
        for owner, mine in found.items()
    }


def own_spaces(inquiry: Inquiry, asked: PendingRequest, parcels: Iterable[list[Parcel]]) -> list[Space]:
    """What a request finds on what its leaf owns; what others have borrowed of it they give."""
    found = []
    for mine in parcels:
        host = mine[0].host
        if not will_do(asked, host):
            continue
        whole = _sum(inquiry, (each.amounts for each in mine))
        able = [unit for unit in host.units if unit.pool != OWN]
        freed = _freed(inquiry, asked, able, mine)
        free, kept = _room(inquiry, asked, mine)
        space = Space(host, whole, whole, free, kept, _sum(inquiry, ()), *freed)
        found.append(_closing(inquiry, _alone(inquiry, asked, space, able, mine)))
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """What a pool has on one host, whoever asks: parcels of which something is in it, and its units."""

    host: Machine
    parcels: list[Parcel]
    users: list[Unit]
    whole: Vector


def parts_of(inquiry: Inquiry, pool: int) -> list[Part]:
    """The parts of a pool, in inventory order."""
    found = []
    for host in inquiry.books.hosts:
        users = [unit for unit in host.units if unit.pool == pool]
        used = {parcel for unit in users for parcel in unit.books}
        there = [each for each in host.parcels if is_within(inquiry.terms, each, pool) or each in used]
        if there:
            mine = (each for each in there if is_within(inquiry.terms, each, pool))
            idle = _sum(inquiry, (part for each in mine for part in _idle(each)))
            whole = add(idle, _sum(inquiry, (unit.asked.unit for unit in users)))
            found.append(Part(host, there, users, whole))
    return found


def pool_spaces(
    inquiry: Inquiry, asked: PendingRequest, pool: int, parts: Iterable[Part], givers: frozenset[int]
) -> list[Space]:
    """What a request finds in a pool.

    givers : leaves that may be asked to give a unit
    """
    return [_space(inquiry, asked, pool, part, givers) for part in parts if will_do(asked, part.host)]


def _space(inquiry: Inquiry, asked: PendingRequest, pool: int, part: Part, givers: frozenset[int]) -> Space:
    terms, host = inquiry.terms, part.host
    usable = [each for each in part.parcels if may_use(terms, each, asked.leaf, pool)]
    barred = [each for each in part.parcels if each not in usable]
    free, kept = _room(inquiry, asked, [each for each in usable if is_within(terms, each, pool)])
    gives = [unit for unit in part.users if unit.asked.leaf in givers]
    freed, granted = _freed(inquiry, asked, gives, usable)
    found = Space(
        host=host,
        whole=part.whole,
        usable=_sum(inquiry, (each.amounts for each in usable)),
        free=free,
        kept=kept,
        barred=_sum(inquiry, (each.idle for each in barred if is_within(terms, each, pool))),
        freed=freed,
        granted=granted,
        passed=tuple((each.owner, bound_of(terms, each, asked.leaf, pool)) for each in barred),
    )
    return _closing(inquiry, _alone(inquiry, asked, found, gives, usable))


def _alone(
    inquiry: Inquiry, asked: PendingRequest, space: Space, able: Iterable[Unit], parcels: Iterable[Parcel]
) -> Space:
    """The space as packing leaves it, where no two leaves share a host (R-HOSTS-3).

    able : units that may be asked to give where they stand on some parcels
    """
    if not are_alone(inquiry.books):
        return space
    among = set(parcels)
    gone = {unit for unit in able if not among.isdisjoint(unit.books)}
    is_left = not (has_strangers(asked, space.host, gone) or is_awaited(inquiry.reservations, asked, space.host))
    return replace(space, is_open=is_open(asked, space.host), is_left=is_left)


def _closing(inquiry: Inquiry, space: Space) -> Space:
    """The space as it is, but on a host that starts nothing: what is idle there is of no use, and nobody gives."""
    nothing = _sum(inquiry, ())
    if not space.host.is_closed:
        return replace(space, shut=nothing)
    return replace(
        space,
        free=nothing,
        kept=nothing,
        barred=nothing,
        freed=nothing,
        granted=nothing,
        is_open=False,
        is_closed=True,
        shut=space.free,
    )


def lent_parts(inquiry: Inquiry, pool: int) -> list[Part]:
    """What the owner of a private pool may take back of outer pools from strangers, in inventory order (R-TAKE-2)."""
    terms, found = inquiry.terms, []
    outside = set(terms.above[pool]) - {pool}
    for host in inquiry.books.hosts:
        mine = [each for each in host.parcels if any(row == pool for row, _ in each.chain) and is_lent_to(each, pool)]
        users = [unit for unit in host.units if unit.pool in outside and pool not in terms.above[unit.asked.leaf]]
        if mine and users:
            found.append(Part(host, mine, users, _sum(inquiry, (each.amounts for each in mine))))
    return found


def lent_spaces(inquiry: Inquiry, asked: PendingRequest, pool: int, parts: Iterable[Part]) -> list[Space]:
    """What a request finds on them, where somebody can give."""
    found = []
    for part in parts:
        mine = [each for each in part.parcels if may_use(inquiry.terms, each, asked.leaf, pool)]
        freed = _freed(inquiry, asked, part.users, mine)
        if any(map(any, freed)) and will_do(asked, part.host):
            free, kept = _room(inquiry, asked, mine)
            usable = _sum(inquiry, (each.amounts for each in mine))
            space = Space(part.host, part.whole, usable, free, kept, _sum(inquiry, ()), *freed)
            found.append(_closing(inquiry, _alone(inquiry, asked, space, part.users, mine)))
    return found


def whole_hosts(inquiry: Inquiry) -> list[Space]:
    """Every host that is up as if it were empty and everybody's."""
    nothing = _sum(inquiry, ())
    none = nothing, nothing, nothing, nothing
    return [Space(host, host.total, host.total, host.total, *none) for host in inquiry.books.hosts]


def _idle(parcel: Parcel) -> Iterator[Vector]:
    yield parcel.idle
    yield from parcel.kept.values()


def _room(inquiry: Inquiry, asked: PendingRequest, parcels: list[Parcel]) -> tuple[Vector, Vector]:
    """What is idle for a request, and what is kept for others."""
    free = _sum(inquiry, (each.room(asked) for each in parcels))
    kept = (amount for each in parcels for whose, amount in each.kept.items() if whose is not asked)
    return free, _sum(inquiry, kept)


def _freed(
    inquiry: Inquiry, asked: PendingRequest, units: Iterable[Unit], parcels: list[Parcel]
) -> tuple[Vector, Vector]:
    """What units of others that are not under notice have on some parcels, and those that stay for now (R-SERVE-3)."""
    among: set[Parcel] = set(parcels)
    found: tuple[list[Vector], list[Vector]] = [], []
    for unit in units:
        if unit.notice is None and unit.asked.leaf != asked.leaf:
            found[unit in inquiry.books.sure].append(free_of(unit, among, inquiry.terms.dimensions))
    return _sum(inquiry, found[0]), _sum(inquiry, found[1])


def _sum(inquiry: Inquiry, vectors: Iterable[Vector]) -> Vector:
    return total(vectors, inquiry.terms.dimensions)
