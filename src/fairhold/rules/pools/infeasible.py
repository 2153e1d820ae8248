"""Requests that could not start even if all hosts that are up were empty, and why (R-POOL-3, R-GANG-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, fits, lack
from fairhold.ledger.infeasible import Never
from fairhold.ledger.pools import OWN
from fairhold.model.siting import words_of
from fairhold.rules.pools.content import is_lent_to, may_use
from fairhold.rules.pools.siting import packs_whole, will_do
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks

    Kinds = list[tuple[Machine, int]]
    """A host, and how many there are like it."""
    Level = Iterable[tuple[list[Parcel], int]]
    """The parcels of a host that may be used, and of how many hosts like it."""

MOST_KINDS = 256
"""Kinds of gangs of which it is known whether they find room; beyond, all are forgotten, and looked at again."""


class GangRooms:
    """Units of a gang that find room at once, were every host empty, as long as hosts are divided as they are."""

    def __init__(self, hosts: list[Machine]) -> None:
        self.kinds = _kinds(hosts)
        self._known: dict[object, tuple[int, int]] = {}
        """What gangs have in common → how many were looked for, and found; of fewer than that there are no more."""

    def most(self, books: PoolBooks, asked: PendingRequest) -> int:
        """How many of what a gang misses find room; where all of that does, maybe more."""
        limits, units = _allowance(books, asked), _short(asked)
        if asked.held:  # it may be bound to where it stands
            return _room(books, asked, self.kinds, limits)
        alike = asked.leaf, asked.unit, asked.siting, limits
        sought, room = self._known.get(alike, (0, 0))
        if sought <= room < units:
            if len(self._known) >= MOST_KINDS:
                self._known.clear()
            room = _room(books, asked, self.kinds, limits)
            self._known[alike] = units, room
        return room


def find_never(books: PoolBooks, rooms: GangRooms | None) -> GangRooms | None:
    """Allow gangs that can never start no more units than they hold, so that they do not count as demand (R-GANG-2).

    rooms : what is known, None = nothing; returns what is known then
    """
    for asked in books.wanting:
        if not (asked.min_count and _short(asked)):
            continue
        if rooms is None:
            rooms = GangRooms(books.hosts)
        room = rooms.most(books, asked)
        if room >= _short(asked) and not _is_beyond_user(books, asked):
            continue
        asked.never = _because(books, asked, rooms.kinds, room)
        asked.most = asked.held
        books.bounded.append(asked)
    return rooms


def _short(asked: PendingRequest) -> int:
    """Units of a gang without which it does not run, also while all of it is told to go: it could not start again."""
    return max(0, asked.min_count - asked.held)


def _kinds(hosts: list[Machine]) -> Kinds:
    """Hosts that are alike in labels and parcels, by the first of them: on a large cluster there are few kinds."""
    found: dict[object, tuple[Machine, int]] = {}
    for host in hosts:
        parcels = tuple([(each.amounts, *((row, id(entry)) for row, entry in each.chain)) for each in host.parcels])
        first, number = found.get((host.labels, parcels), (host, 0))
        found[host.labels, parcels] = first, number + 1
    return list(found.values())


def _is_beyond_user(books: PoolBooks, asked: PendingRequest) -> bool:
    """Whether its user may never hold its minimum in the leaf (R-USER-2)."""
    return bool(asked.model.user) and asked.model.min_count > books.terms.user_limit[asked.leaf]


def _because(books: PoolBooks, asked: PendingRequest, kinds: Kinds, room: int) -> Never:
    """Why a gang cannot start: the first of hosts, limits and reach that is too small for it."""
    units = _short(asked)
    on_hosts = _on_hosts(asked, _that_will_do(asked, kinds))
    if on_hosts < units:
        down = [(host, 1) for host in books.hosts_down]
        is_down = _on_hosts(asked, _that_will_do(asked, [*kinds, *down])) >= units
        return Never("down" if is_down else "hosts", units, on_hosts)
    if _is_beyond_user(books, asked):
        return Never("user limit", units, max(0, books.terms.user_limit[asked.leaf] - asked.held))
    without = _room(books, asked, kinds, UNLIMITED)
    return Never("share limit" if without >= units else "reach", units, room)


def _that_will_do(asked: PendingRequest, kinds: Kinds) -> Kinds:
    """Hosts that will do; a gang that packs on one stays where it stands."""
    if packs_whole(asked) and asked.held:
        kinds = [(host, 1) for host in {unit.host for unit in asked.units} if not asked.away]
    return [each for each in kinds if will_do(asked, each[0])]


def _on_hosts(asked: PendingRequest, kinds: Kinds) -> int:
    """Units of a gang that some hosts have room for at once, were all of them its own."""
    rooms = [(count(asked.unit, host.total), number) for host, number in kinds]
    return max((room for room, _ in rooms), default=0) if packs_whole(asked) else sum(a * b for a, b in rooms)


def _allowance(books: PoolBooks, asked: PendingRequest) -> int:
    """Units that share limits allow in pools beside what the request holds there, nobody else having any."""
    shared = sum(unit.pool != OWN for unit in asked.units) + asked.away_shared
    rooms = [
        max(0, most - shared * asked.unit[at]) // asked.unit[at]
        for row in books.terms.above[asked.leaf]
        for at, most in books.terms.limit.get(row, ())
        if asked.unit[at]
    ]
    return min(rooms, default=UNLIMITED)


def _room(books: PoolBooks, asked: PendingRequest, kinds: Kinds, limits: int) -> int:
    """Units that find room at once at one of the levels that a request looks at, were everything empty.

    Where a level has enough for what it misses, no more is counted.

    limits : units that may stand on what its leaf does not own
    """
    best = 0
    for level in _levels(books, asked, _that_will_do(asked, kinds)):
        own = others = 0
        for parcels, number in level:
            mine = _units(books, asked, [each for each in parcels if each.owner == asked.leaf])
            more = _units(books, asked, parcels) - mine
            own, others = (mine, more) if packs_whole(asked) else (own + mine * number, others + more * number)
            best = max(best, own + min(others, limits))
            if best >= _short(asked):
                return best
    return best


def _units(books: PoolBooks, asked: PendingRequest, parcels: list[Parcel]) -> int:
    """Units that fit on parcels of one host that are empty."""
    whole: Vector = (0,) * books.terms.dimensions
    for parcel in parcels:
        whole = add(whole, parcel.amounts)
    return count(asked.unit, whole)


def _levels(books: PoolBooks, asked: PendingRequest, kinds: Kinds) -> Iterator[Level]:
    """What a request may use of each host, level by level, the outermost pool first (R-SWEEP-1).

    What is its leaf's own is a level for each preference.
    """
    terms, above = books.terms, books.terms.above[asked.leaf]
    for at in range(len(above) - 1, 0, -1):
        if all(terms.ratio[row] for row in above[:at]):  # a ratio of 0 takes no part (R-SHARE-2)
            yield ((_of_pool(books, asked, host, above[at]), number) for host, number in kinds)
    if asked.leaf not in terms.own:
        return
    mine = [([each for each in host.parcels if each.owner == asked.leaf], number) for host, number in kinds]
    for preference in sorted({each.preference for parcels, _ in mine for each in parcels}):
        yield [([each for each in parcels if each.preference == preference], number) for parcels, number in mine]


def _of_pool(books: PoolBooks, asked: PendingRequest, host: Machine, pool: int) -> list[Parcel]:
    """What of a host a request may use in a pool, once all of it is idle there."""
    lent = (each for each in host.parcels if is_lent_to(each, pool))
    return [each for each in lent if may_use(books.terms, each, asked.leaf, pool)]


def why_unplaceable(books: PoolBooks, asked: PendingRequest) -> str:
    """Why no host that is up could take a unit of a request.

    `down`: all that could are down; `labels`: those that are large enough have other labels; `size`: none is.
    """
    every = [*books.hosts, *books.hosts_down]
    large = [host for host in every if fits(asked.unit, host.total)]
    if any(will_do(asked, host) for host in large):
        return "down"
    return "labels" if large else "size"


def labels_asked(asked: PendingRequest, because: str) -> str:
    """Which hosts will do, where that is why none could take a unit; else empty."""
    return words_of(asked.siting) if because == "labels" and asked.siting is not None else ""


def nearest_host(asked: PendingRequest, hosts: Iterable[Machine]) -> tuple[Machine, Vector] | None:
    """The host that will do on which the least of a unit is missing, were it empty, and what; None = no host."""
    found = [(lack(asked.unit, host.total), host) for host in hosts if will_do(asked, host)]
    if not found:
        return None
    (_, missing), nearest = min(found, key=lambda each: each[0][0])
    return nearest, missing
