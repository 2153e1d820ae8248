"""What cannot start on the hosts that are up, though all of them were empty, and why (R-POOL-3, R-GANG-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, fits
from fairhold.ledger.pools import OWN, Never
from fairhold.rules.pools.content import is_lent_to, may_use
from fairhold.rules.pools.siting import packs_whole, will_do
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, Machine, Parcel, PoolBooks

    Level = Iterable[list[Parcel]]
    """Host by host the parcels that may be used."""


def find_never(books: PoolBooks) -> None:
    """Give every gang that can never start no room beside what it holds, so that it counts for nothing (R-GANG-2)."""
    known: dict[object, int] = {}
    for asked in books.asked.values():
        if not asked.missing:
            continue
        limits = _allowance(books, asked)
        alike = asked.leaf, asked.unit, asked.siting, limits, asked if asked.held else None
        room = known.get(alike, UNLIMITED)
        if asked.missing <= room:
            room = _room(books, asked, limits, asked.missing)
        if room < asked.missing:
            known[alike] = room
        elif not _is_beyond_user(books, asked):
            continue
        asked.never = _because(books, asked, room)
        asked.most = asked.held


def _is_beyond_user(books: PoolBooks, asked: Asked) -> bool:
    """Whether its user may never hold its minimum in the leaf (R-USER-2)."""
    return bool(asked.model.user) and asked.model.min_count > books.terms.user_limit[asked.leaf]


def _because(books: PoolBooks, asked: Asked, room: int) -> Never:
    """What keeps a gang from starting: the first of hosts, limits and what it may use that is too little for it."""
    units = asked.missing
    on_hosts = _on_hosts(asked, _hosts(asked, books.hosts))
    if on_hosts < units:
        is_down = _on_hosts(asked, _hosts(asked, [*books.hosts, *books.hosts_down])) >= units
        return Never("down" if is_down else "hosts", units, on_hosts)
    if _is_beyond_user(books, asked):
        return Never("user limit", units, max(0, books.terms.user_limit[asked.leaf] - asked.held))
    without = _room(books, asked, UNLIMITED, units)
    return Never("share limit" if without >= units else "reach", units, room)


def _hosts(asked: Asked, hosts: Iterable[Machine]) -> Iterator[Machine]:
    """Hosts that will do; a gang that packs on one stays where it stands."""
    stays = packs_whole(asked) and asked.held > 0
    there = {unit.host for unit in asked.units} if stays and not asked.away else set()
    return (host for host in hosts if will_do(asked, host) and (not stays or host in there))


def _on_hosts(asked: Asked, hosts: Iterable[Machine]) -> int:
    """Units of a gang that some hosts have room for at once, were all of them its own."""
    rooms = [count(asked.unit, host.total) for host in hosts]
    return max(rooms, default=0) if packs_whole(asked) else sum(rooms)


def _allowance(books: PoolBooks, asked: Asked) -> int:
    """Units that share limits allow in pools beside what the request holds there, nobody else having any."""
    shared = sum(unit.pool != OWN for unit in asked.units)
    rooms = [
        max(0, most - shared * asked.unit[at]) // asked.unit[at]
        for row in books.terms.above[asked.leaf]
        for at, most in books.terms.limit.get(row, ())
        if asked.unit[at]
    ]
    return min(rooms, default=UNLIMITED)


def _room(books: PoolBooks, asked: Asked, limits: int, enough: int) -> int:
    """Units that find room at once at one of the levels that a request looks at, were everything empty.

    limits : units that may stand on what its leaf does not own
    enough : once a level has so many, no more is counted
    """
    best = 0
    for level in _levels(books, asked):
        own = others = 0
        for parcels in level:
            mine = _units(books, asked, [each for each in parcels if each.owner == asked.leaf])
            more = _units(books, asked, parcels) - mine
            own, others = (mine, more) if packs_whole(asked) else (own + mine, others + more)
            best = max(best, own + min(others, limits))
            if best >= enough:
                return best
    return best


def _units(books: PoolBooks, asked: Asked, parcels: list[Parcel]) -> int:
    """Units that fit on parcels of one host that are empty."""
    whole: Vector = (0,) * books.terms.dimensions
    for parcel in parcels:
        whole = add(whole, parcel.amounts)
    return count(asked.unit, whole)


def _levels(books: PoolBooks, asked: Asked) -> Iterator[Level]:
    """What a request may use of each host that will do, level by level, the outermost pool first (R-SWEEP-1).

    What is its leaf's own is a level for each preference.
    """
    terms, above = books.terms, books.terms.above[asked.leaf]
    for at in range(len(above) - 1, 0, -1):
        if all(terms.ratio[row] for row in above[:at]):  # a ratio of 0 takes no part (R-SHARE-2)
            yield (_of_pool(books, asked, host, above[at]) for host in _hosts(asked, books.hosts_in(above[at])))
    hosts = _hosts(asked, books.hosts_of.get(asked.leaf, ()))
    mine = [[each for each in host.parcels if each.owner == asked.leaf] for host in hosts]
    for preference in sorted({each.preference for parcels in mine for each in parcels}):
        yield [[each for each in parcels if each.preference == preference] for parcels in mine]


def _of_pool(books: PoolBooks, asked: Asked, host: Machine, pool: int) -> list[Parcel]:
    """What of a host a request may use in a pool, once all of it is idle there."""
    lent = (each for each in host.parcels if is_lent_to(each, pool))
    return [each for each in lent if may_use(books.terms, each, asked.leaf, pool)]


def why_unplaceable(books: PoolBooks, asked: Asked) -> str:
    """Why no host that is up could take a unit of a request.

    `down`: all that could are down; `labels`: those that are large enough have other labels; `size`: none is.
    """
    every = [*books.hosts, *books.hosts_down]
    large = [host for host in every if fits(asked.unit, host.total)]
    if any(will_do(asked, host) for host in large):
        return "down"
    return "labels" if large else "size"
