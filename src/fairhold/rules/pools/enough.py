"""Whether a gang could get all missing units if all possible victims went (R-TAKE-4): if not, no search is made.

It is an upper bound, used only to skip a search that must fail. Units on a host use what is idle there for the taker
and what its victims free, so no more fit than into both together. Victims are units that may go for it, and the rest of
their gangs. In a pool no leaf has to give before all idle amounts are used up. So victims belong to leaves that could
give then, and each of these keeps at least as much as the taker has in the end.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.vectors import add, common, count, fits, times, total
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.content import free_of
from fairhold.rules.pools.giving import most_given
from fairhold.rules.pools.reach import is_in
from fairhold.rules.pools.victims import breaks_gang

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks
    from fairhold.rules.pools.picking import Picker, Source
    from fairhold.rules.pools.pool_usage import Standing


class Uses(NamedTuple):
    """The least use of a pool by the leaf of a gang, in common parts.

    first, later : when another leaf has to give for the first time, and from then on
    last         : when all units of the gang are found
    """

    first: int
    later: int
    last: int


def least_use(
    picker: Picker, asked: PendingRequest, source: Source, hosts: Iterable[Machine], units: int
) -> int | None:
    """What the leaf of a gang uses at least of a pool when so many units are found; None = they are not on these hosts.

    0 where that is not known: where something is on its way to it already, or units are spared for a while, so that
    the search itself says when another cycle is due.
    """
    books = picker.books
    if asked in picker.reservations.of or books.restraint.spares_young:
        return 0
    unit, dimensions = asked.unit, books.terms.dimensions
    rooms: dict[Machine, Vector] = {}
    for host in hosts:
        parcels = source.parcels(host)
        if parcels and fits(unit, total([parcel.amounts for parcel in parcels], dimensions)):
            rooms[host] = total([parcel.idle for parcel in parcels if source.is_idle(parcel)], dimensions)
    idle = {host: count(unit, room) for host, room in rooms.items()}
    if sum(idle.values()) >= units:
        return 0
    going, last = None, 0
    if source.is_compared:
        uses = _uses(picker, asked, source.pool, idle, units)
        last, (going, freed) = uses.last, _givers(picker.standing(source.pool), asked, uses)
        if not going or count(unit, add(total(rooms.values(), dimensions), freed)) < units:
            return None
    elif source.pool != OWN:
        going = _of_hosts(asked, source, rooms)
    for host, room in rooms.items():
        units -= count(unit, add(room, _freed(books, asked, host, going)))
        if units <= 0:
            return last
    return None


def _freed(books: PoolBooks, asked: PendingRequest, host: Machine, going: Collection[PendingRequest] | None) -> Vector:
    """What units of some requests have on a host; None = those of other leaves, of what is a request's leaf's own."""
    if going is None:
        return _of_others(books, asked, host, {parcel for parcel in host.parcels if parcel.owner == asked.leaf})
    gone = [each.asked.unit for each in host.units if each.notice is None and each.asked in going]
    return total(gone, books.terms.dimensions)


def _of_others(books: PoolBooks, asked: PendingRequest, host: Machine, parcels: set[Parcel]) -> Vector:
    """What units of other leaves, not under notice, have of some parcels of a host."""
    dimensions, leaf = books.terms.dimensions, asked.leaf
    others = [each for each in host.units if each.notice is None and each.asked.leaf != leaf]
    return total([free_of(each, parcels, dimensions) for each in others], dimensions)


def _uses(picker: Picker, asked: PendingRequest, pool: int, idle: dict[Machine, int], units: int) -> Uses:
    """What the leaf of a gang uses at least of a pool if it finds so many units.

    All of them count in the public pool but those that may stand on its leaf's own or in a private pool: at first
    those on hosts where what is idle of that is enough for all that come there, later others.
    """
    books, standing, leaf = picker.books, picker.standing(pool), asked.leaf
    have, size, rows = standing.moved.get(leaf, 0), standing.size[asked], books.terms.above[leaf][:-1]
    if pool != PUBLIC:
        return Uses(have, have, have)
    at_first = most = 0
    for host in books.hosts_in(rows[-1]):
        if host in idle:
            nearer = {parcel for parcel in host.parcels if any(is_in(parcel, leaf, row) for row in rows)}
            room = total([parcel.idle for parcel in nearer], len(asked.unit))
            at_first += idle[host] if fits(times(asked.unit, idle[host]), room) else 0
            most += count(asked.unit, add(room, _of_others(books, asked, host, nearer)))
    come = 0 if are_alone(books) else sum(idle.values())  # what is idle may be on hosts of others
    return Uses(
        have + size * max(0, come - at_first), have + size * max(0, come - most), have + size * max(0, units - most)
    )


def _givers(standing: Standing, asked: PendingRequest, uses: Uses) -> tuple[set[PendingRequest], Vector]:
    """Requests that could give to a gang in a pool (R-TAKE-1), with what they free; none if no leaf could at first."""
    going: set[PendingRequest] = set()
    parts: list[Vector] = []
    is_any = False
    for leaf, line in standing.holders.items():
        most = most_given(standing, asked.leaf, leaf, uses.later, uses.last) if leaf != asked.leaf else 0
        able = [each for each in line if _least_gone(standing, each) <= most] if most else []
        if able:
            going.update(able)
            parts.append(_most_freed(standing, able, most))
            is_any = is_any or most_given(standing, asked.leaf, leaf, uses.first, uses.last) > 0
    return going if is_any else set(), total(parts, len(asked.unit))


def _least_gone(standing: Standing, asked: PendingRequest) -> int:
    """Common parts that go at least where a unit of a request does: those of its gang if that stops whole."""
    mine = [unit for unit in asked.units if unit.notice is None and unit.pool == standing.pool]
    is_whole = bool(mine) and breaks_gang(mine[0], ())
    return standing.size[asked] * (len(mine) if is_whole else 1)


def _most_freed(standing: Standing, able: list[PendingRequest], most: int) -> Vector:
    """What requests of a leaf could free if so many common parts may go; of gangs what is not in the pool as well."""
    pool, sizes, dimensions = standing.pool, standing.size, standing.books.terms.dimensions
    inside = {each: sum([unit.pool == pool and unit.notice is None for unit in each.units]) for each in able}
    freed = total([times(each.unit, units) for each, units in inside.items()], dimensions)
    if parts := gcd(*[sizes[each] for each in able]):
        most -= most % parts
    if all(sizes[each] for each in able):
        best = [max([most * each.unit[at] // sizes[each] for each in able]) for at in range(dimensions)]
        freed = common(freed, tuple(best))
    gangs = [(each, len(each.units) - inside[each]) for each in able if each.min_count]
    return total([freed, *[times(each.unit, units) for each, units in gangs]], dimensions)


def _of_hosts(asked: PendingRequest, source: Source, hosts: Iterable[Machine]) -> set[PendingRequest]:
    """Requests of which a unit may go on some hosts, where no quotas decide."""
    found: set[PendingRequest] = set()
    for host in hosts:
        among = set(source.parcels(host))
        for unit in host.units:
            may_go = unit.notice is None and unit.asked.leaf != asked.leaf and source.gives(unit)
            if may_go and (host.is_plain or not among.isdisjoint(unit.books)):
                found.add(unit.asked)
    return found
