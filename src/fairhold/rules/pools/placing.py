"""Chooses the host of a unit; gangs are placed whole or not at all (SPEC §6.5, R-POOL-2, R-PLACE-2)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, fits, less, times, total
from fairhold.ledger.pools import OWN, PUBLIC, Machine, Parcel, PoolBooks, place, remove
from fairhold.rules.pools.alone import are_alone, is_open
from fairhold.rules.pools.content import is_within, parcels_for, room_in
from fairhold.rules.pools.loads import Loads, workload
from fairhold.rules.pools.reach import kept_for
from fairhold.rules.pools.siting import choice, hosts_for, is_choosy, packs_whole, will_do
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest, Unit
    from fairhold.rules.pools.limits import Limits


class _Kind:
    """Requests that fit on the same hosts, and how far the search through these hosts is.

    at         : place of the next host to try, among the hosts that could have room
    host, parcels : where the last unit was placed, None = nowhere yet
    parcels_of : place of a host → its parcels that may be used, for hosts looked at
    too_many   : number of units that found no room together; it stays so, as idle space only shrinks
    """

    __slots__ = ("at", "host", "parcels", "parcels_of", "too_many")

    def __init__(self) -> None:
        self.at, self.too_many = 0, UNLIMITED
        self.host: Machine | None = None
        self.parcels: list[Parcel] = []
        self.parcels_of: dict[int, list[Parcel]] = {}


class Placing:
    """Places units on what is idle in one pool, or of one leaf's own of one preference; idle space only shrinks.

    pool       : level whose idle content is used: a pool, or the leaf itself
    hosts      : on which there may be some, in inventory order
    preference : of own parcels that are used, None = of all
    """

    def __init__(
        self, books: PoolBooks, pool: int, limits: Limits, hosts: list[Machine], preference: int | None = None
    ) -> None:
        self.books, self.pool, self.limits, self.preference = books, pool, limits, preference
        self._free = books.free if pool == PUBLIC else None
        if self._free is not None:
            self.hosts = self._free.hosts
        else:
            able = [host for host in hosts if not host.is_closed]
            self.hosts = [host for host in able if any(self._is_here(parcel) for parcel in host.parcels)]
        here = self.hosts if books.holding else ()
        holding = [host for host in books.holding if host in here]
        self._keeps = {asked for host in holding for parcel in host.parcels for asked in parcel.kept}
        self._kinds: dict[PendingRequest, _Kind] = {}
        self._alike: dict[object, _Kind] = {}
        self._failed: set[tuple[int, Vector]] = set()
        self._idle: Vector | None = None
        """All that is idle at this level, maybe with what is held; None = it is to be added up."""
        self._hosts_of: dict[int, list[Machine]] = {}
        """Leaf → hosts on which it has some of its own."""
        self._rooms: dict[Vector, int] = {}
        """Size of a unit → how many there is room for, see `has_room`."""
        self._able_for: dict[Vector, list[int]] = {}
        """Size of a unit → places of hosts on which one would have room if all were for it, see `_able`."""
        self._is_exclusive = are_alone(books)
        is_balanced = books.terms.settings.packing == "balanced"
        self._loads = Loads(self.hosts) if is_balanced and self.hosts else None

    def _is_here(self, parcel: Parcel) -> bool:
        """Whether what is idle of a parcel can be used at this level."""
        return is_within(self.books.terms, parcel, self.pool)

    def _parcels(self, host: Machine, asked: PendingRequest) -> list[Parcel]:
        if not will_do(asked, host):
            return []
        found = parcels_for(self.books.terms, host, asked.leaf, self.pool)
        if self.preference is not None:
            found = [each for each in found if each.preference == self.preference]
        return found

    def _fits(self, host: Machine, asked: PendingRequest, parcels: list[Parcel]) -> bool:
        if len(parcels) == 1:  # the common case
            (parcel,) = parcels
            room = parcel.room(asked) if parcel.kept else parcel.idle
        elif parcels:
            room = room_in(parcels, asked, self.books.terms.dimensions)
        else:
            return False
        # Where each host goes to one leaf (`exclusive`), it must not be another's.
        return fits(asked.unit, room) and (not self._is_exclusive or is_open(asked, host))

    def _kind(self, asked: PendingRequest) -> _Kind:
        """What requests have in common that fit on the same hosts."""
        kind = self._kinds.get(asked)
        if kind is None:
            alike = self._alike_of(asked)
            kind = self._alike.get(alike)
            if kind is None:
                kind = self._alike[alike] = _Kind()
            self._kinds[asked] = kind
        return kind

    def _alike_of(self, asked: PendingRequest) -> object:
        terms, leaf = self.books.terms, asked.leaf
        if asked in self._keeps or asked.siting is not None:
            return asked
        if leaf in terms.own or self._is_exclusive:
            return asked.unit, leaf
        bounds = tuple(row for row in terms.above[leaf] if row in terms.pool_grace) if terms.pool_grace else ()
        return asked.unit, terms.grace[leaf], bounds

    def _chosen(self, asked: PendingRequest, hosts: list[Machine]) -> tuple[Machine, list[Parcel]] | None:
        """The host that a request would have first, of some; then the packing decides (R-SITE-1, R-SITE-3)."""
        every = ((host, self._parcels(host, asked)) for host in hosts)
        able = [each for each in every if self._fits(each[0], asked, each[1])]

        def order(each: tuple[Machine, list[Parcel]]) -> tuple[object, ...]:
            return choice(asked, each[0]), workload(each[0]) if self._loads is not None else 0, each[0].place

        return min(able, key=order, default=None)

    def has_failed(self, asked: PendingRequest) -> bool:
        """Whether it is known that one more unit finds no place: none like it did, and idle space only shrinks."""
        return bool(self._failed) and (asked.leaf, asked.unit) in self._failed and self._is_like_others(asked)

    def fails(self, asked: PendingRequest) -> None:
        """One more unit of a request found no place."""
        if self._is_like_others(asked):
            self._failed.add((asked.leaf, asked.unit))

    def _is_like_others(self, asked: PendingRequest) -> bool:
        """Whether nothing but its leaf and its size says where a request may stand."""
        is_plain = asked.siting is None and not asked.min_count
        return is_plain and asked not in self._keeps and asked not in self.limits.coming

    def host_for(self, asked: PendingRequest) -> tuple[Machine, list[Parcel]] | None:
        """The host for the next unit, with its parcels in booking order; None = it fits nowhere."""
        if asked.siting is not None and is_choosy(asked):
            return self._chosen(asked, self.hosts)
        kind = self._kinds.get(asked) or self._kind(asked)
        if self._loads is not None:
            return self._least_loaded(self._loads, kind, asked)
        if kind.host is not None and self._fits(kind.host, asked, kind.parcels):  # where the one before it went
            return kind.host, kind.parcels
        able = self._able(asked.unit)
        for at in range(kind.at, len(able)):
            host = self.hosts[able[at]]
            parcels = self._parcels(host, asked)
            if self._fits(host, asked, parcels):
                kind.at, kind.host, kind.parcels = at, host, parcels
                return host, parcels
        kind.at, kind.host = len(able), None
        return None

    def _able(self, unit: Vector) -> list[int]:
        """Places of hosts on which one unit would have room if all that is idle or held there were for it.

        They stay the same, as what is placed here only shrinks that, or gives back what it took.
        """
        if self._free is not None:
            return self._free.able(unit)
        found = self._able_for.get(unit)
        if found is None:
            found = self._able_for[unit] = [at for at, most in enumerate(self._most) if fits(unit, most)]
        return found

    def _least_loaded(self, loads: Loads, kind: _Kind, asked: PendingRequest) -> tuple[Machine, list[Parcel]] | None:
        parcels_of = kind.parcels_of
        while (at := loads.first(kind)) is not None:
            host = self.hosts[at]
            parcels = parcels_of.get(at)
            if parcels is None:
                parcels = parcels_of[at] = self._parcels(host, asked)
            if self._fits(host, asked, parcels):
                return host, parcels
            loads.pass_over(kind)
        return None

    def _begin_again(self, kind: _Kind, at: int) -> None:
        """Restart the search of a kind at an earlier place, after its later placements were undone."""
        kind.at, kind.host = at, None
        if self._loads is not None:
            self._loads.forget(kind)

    def has_room(self, asked: PendingRequest, units: int) -> bool:
        """Whether this many units could fit in all that was idle or held at first; if not, they never will."""
        room = self._rooms.get(asked.unit)
        if room is None:
            free = self._free
            rooms = self._most if free is None else [free.rooms[at] for at in free.able(asked.unit)]
            room = self._rooms[asked.unit] = sum([count(asked.unit, most) for most in rooms])
        return units <= room

    def put(self, asked: PendingRequest, units: int) -> list[Unit]:
        """Place this many units, or none; units on parcels of their own leaf are not part of the pool."""
        if units == 1 and not asked.min_count and asked not in self._keeps:  # the common case
            found = self.host_for(asked)
            if found is None or (self.limits.is_bound and not self._is_within(asked, found[1])):
                return []
            return [self._put_on(asked, *found)]
        if packs_whole(asked):
            hosts = hosts_for(asked, self.hosts)
            if self._loads is not None:
                hosts.sort(key=lambda host: (choice(asked, host), workload(host)))
            if asked in self._keeps:  # what goes or has gone for it there goes for nothing if it stands elsewhere
                hosts.sort(key=lambda host: all(asked not in parcel.kept for parcel in host.parcels))
            tries = (self._put_among(asked, units, [host]) for host in hosts)
            return next((placed for placed in tries if placed), [])
        return self._put_among(asked, units, None)

    def _put_among(self, asked: PendingRequest, units: int, some: list[Machine] | None) -> list[Unit]:
        """The same, on some hosts alone; None = on all."""
        placed: list[Unit] = []
        kind = self._kind(asked)
        if some is None and (units >= kind.too_many or not self._may_fit(asked, units)):
            return []
        begin, kept = kind.at, self._kept_for(asked)
        for _ in range(units):
            found = self._host_of_own(asked, some) or self._host_among(asked, some)
            if found is None or not self._is_within(asked, found[1]):
                if found is None and some is None:
                    kind.too_many = units
                for unit in reversed(placed):
                    self.take_back(unit)
                for parcel, amount in kept:
                    parcel.unkeep(asked)
                    parcel.keep(asked, amount)
                if placed:
                    self._begin_again(kind, begin)
                return []
            placed.append(self._put_on(asked, *found))
        if not self.books.sure.isdisjoint(placed):
            self.books.sure.update(placed)
        return placed

    def _may_fit(self, asked: PendingRequest, units: int) -> bool:
        """Whether all that is idle would be enough for so many units, were it on one host."""
        if asked in self._keeps:
            return True
        if self._idle is None and self._free is not None:
            self._idle = self._free.room
        if self._idle is None:
            idle = (each.idle for host in self.hosts for each in host.parcels if self._is_here(each))
            self._idle = total(idle, self.books.terms.dimensions)
        return fits(times(asked.unit, units), self._idle)

    def _host_among(self, asked: PendingRequest, some: list[Machine] | None) -> tuple[Machine, list[Parcel]] | None:
        return self.host_for(asked) if some is None else self._chosen(asked, some)

    def _host_of_own(self, asked: PendingRequest, some: list[Machine] | None) -> tuple[Machine, list[Parcel]] | None:
        """For a gang, the first host on which its leaf's own leftovers are enough for a unit (R-TAKE-4, R-PLACE-2).

        Of a host on which nothing of its leaf's own is at this level nothing else is asked: there are no leftovers.
        """
        pool, leaf = self.pool, asked.leaf
        if not asked.min_count or pool == leaf or leaf not in self.books.terms.own:
            return None
        mine = self._hosts_of.get(leaf) if some is None else None
        if mine is None:
            hosts = self.hosts if some is None else some
            mine = [host for host in hosts if any(each.owner == leaf and self._is_here(each) for each in host.parcels)]
            if some is None:
                self._hosts_of[leaf] = mine
        return self._chosen(asked, [host for host in mine if self._is_own(asked, self._parcels(host, asked))])

    def _is_own(self, asked: PendingRequest, parcels: list[Parcel]) -> bool:
        """Whether a unit will stand on what its own leaf owns, which comes first."""
        own = [each for each in parcels if each.owner == asked.leaf]
        return bool(own) and fits(asked.unit, room_in(own, asked, self.books.terms.dimensions))

    def _is_within(self, asked: PendingRequest, parcels: list[Parcel]) -> bool:
        """Whether share limits allow a unit; what stands on its leaf's own does not count (R-LIMIT-1)."""
        return not self.limits.is_bound or self.limits.allow_idle(asked) or self._is_own(asked, parcels)

    def _kept_for(self, asked: PendingRequest) -> list[tuple[Parcel, Vector]]:
        """What is set aside for a request, and stays so where its gang does not fit (R-HELD-1)."""
        if asked not in self._keeps:
            return []
        parcels = (parcel for host in self.hosts for parcel in host.parcels)
        return [(parcel, parcel.kept[asked]) for parcel in parcels if asked in parcel.kept]

    @cached_property
    def _most(self) -> list[Vector]:
        """Host by host all that is idle or held at this level before anything is placed."""
        some = ([each for each in host.parcels if any(each.idle) or each.kept] for host in self.hosts)
        here = ([each for each in parcels if self._is_here(each)] for parcels in some)
        rooms = ([part for each in parcels for part in (each.idle, *each.kept.values())] for parcels in here)
        return [total(parts, self.books.terms.dimensions) for parts in rooms]

    def _put_on(self, asked: PendingRequest, host: Machine, parcels: list[Parcel]) -> Unit:
        if self._free is None:
            _ = self._most  # as it is before
        if asked in self._keeps:
            unit = self._put_on_kept(asked, host, parcels)
        else:
            unit = place(self.books, asked, host, self.pool, parcels)
            if self._idle is not None:
                self._idle = less(self._idle, asked.unit)
        if self._loads is not None:
            self._loads.change(host, asked.unit, 1)
        if asked.leaf in self.books.terms.own and all(parcel.owner == asked.leaf for parcel in unit.books):
            unit.pool = OWN
        elif self.limits.is_bound:
            self.limits.add(asked, 1)
        return unit

    def _put_on_kept(self, asked: PendingRequest, host: Machine, parcels: list[Parcel]) -> Unit:
        """Place a unit of a request for which something is held; on what is held here it is sure (R-SERVE-3)."""
        held = kept_for(asked, host, len(asked.unit)) if (asked, host) in self.books.keeps else ()
        is_held = any(asked in parcel.kept for parcel in parcels)
        unit = place(self.books, asked, host, self.pool, parcels)
        if self._idle is not None:
            self._idle = None if is_held else less(self._idle, asked.unit)
        if held and held != kept_for(asked, host, len(asked.unit)):
            self.books.sure.add(unit)
        return unit

    def take_back(self, unit: Unit) -> None:
        """Undo the placement of a unit of a gang that does not fit."""
        if unit.pool != OWN:
            self.limits.add(unit.asked, -1)
        if self._loads is not None:
            self._loads.change(unit.host, unit.asked.unit, -1)
        remove(unit)
        self.books.sure.discard(unit)
        if self._idle is not None:
            self._idle = add(self._idle, unit.asked.unit)
