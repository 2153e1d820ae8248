"""Finds victims for a gang, unit by unit (R-TAKE-3, R-TAKE-4): like `picking`, with partial results kept.

With every unit, leaves that gave move back in the order of givers. The victims of a leaf on a host, and what they free,
stay the same until a unit there gets notice, or a unit of a gang that has units there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.vectors import add, fits, total
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.content import free_of
from fairhold.rules.pools.giving import may_give
from fairhold.rules.pools.picking import Pick, Search, is_better
from fairhold.rules.pools.victims import breaks_gang, bundle_of, giving_order

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, Unit
    from fairhold.rules.pools.picking import Picker, Source
    from fairhold.rules.pools.victims import Over


class First:
    """The first of a leaf's units in a pool that would go on a host.

    order  : its place in the leaf; breaks: whether its gang stops whole
    bundle : what goes with it, None = it is not asked yet; freed: what they have of what the taker may use there
    """

    __slots__ = ("breaks", "bundle", "freed", "order", "unit")

    def __init__(self, unit: Unit, order: tuple[object, ...], *, breaks: bool) -> None:
        self.unit, self.order, self.breaks = unit, order, breaks
        self.bundle: list[Unit] | None = None
        self.freed: Vector = ()


class There(NamedTuple):
    """What a host has for a gang.

    room   : what is there already; firsts: (pool, leaf) → who of it would go first
    among  : parcels that the gang may use
    is_any : whether a unit of the gang could stand there at all
    """

    room: Vector
    firsts: dict[tuple[int, int], First]
    among: set[Parcel]
    is_any: bool


def can_gather(picker: Picker, units: int) -> bool:
    """Whether only quotas and usages say who goes for several units: nobody is spared, no host is for one leaf."""
    return units > 1 and not picker.books.restraint.spares_young and not are_alone(picker.books)


class Gathering:
    """The victims for a gang, unit by unit."""

    def __init__(self, picker: Picker, asked: PendingRequest, source: Source, hosts: list[Machine]) -> None:
        self._picker, self._asked, self._source, self._hosts = picker, asked, source, hosts
        self._at = {host: at for at, host in enumerate(hosts)}
        self._there: dict[Machine, There] = {}
        self._open: set[int] = set()
        """Places of hosts on which a unit fits with nobody going."""
        self._hosts_of: dict[tuple[int, int], set[int]] = {}
        """(pool, leaf) → places of hosts on which a unit of it could go."""
        for host in hosts:
            self._take_in(host)

    def best(self) -> Pick | None:
        """The host for the next unit: one with room, else where those give that are most over-used (R-TAKE-3).

        Who is more over-used than all others gives first wherever it has units. So hosts are looked at by who gives
        first there, until one of them will do.
        """
        if self._open:
            return Pick(self._hosts[min(self._open)], [], [], 0, [])
        search = Search(self._picker, self._asked, self._source, self._leaves(), None)
        places = [(key, place) for place in self._hosts_of if (key := search.key(place)) is not None]
        places.sort()
        seen: set[int] = set()
        first_of: dict[tuple[int, Over], dict[int, tuple[int, int]]] = {}
        for _, place in places:
            if mine := self._hosts_of[place] - seen:
                first_of.setdefault(search.most_of(place), {}).update(dict.fromkeys(mine, place))
                seen |= mine
        for over in sorted(first_of):
            best: Pick | None = None
            for at, place in sorted(first_of[over].items()):
                pick = self._pick(search, self._hosts[at], place)
                if pick is not None and (best is None or is_better(pick, best)):
                    best = pick
            if best is not None:
                return best
        return None

    def _take_in(self, host: Machine) -> None:
        """Note what a host has."""
        there, at = self._look(host), self._at[host]
        self._there[host] = there
        if there.is_any and fits(self._asked.unit, there.room):
            self._open.add(at)
        for place in there.firsts:
            self._hosts_of.setdefault(place, set()).add(at)

    def went(self, pick: Pick) -> None:
        """Those who were picked are told to go."""
        hosts = {pick.host}
        for unit in pick.victims:
            hosts.add(unit.host)
            if unit.asked.min_count:
                hosts.update(each.host for each in unit.asked.units)
        for host in hosts:
            there, at = self._there.get(host), self._at.get(host)
            if there is not None and at is not None:
                self._open.discard(at)
                for place in there.firsts:
                    self._hosts_of[place].discard(at)
                self._take_in(host)

    def _leaves(self) -> frozenset[int] | None:
        """Leaves that may give now; None = all."""
        if not self._source.is_compared:
            return None
        standing, mine = self._picker.standing(self._source.pool), self._asked.leaf
        return frozenset(leaf for leaf in standing.holders if leaf != mine and may_give(standing, mine, leaf))

    def _look(self, host: Machine) -> There:
        asked, source, terms = self._asked, self._source, self._picker.books.terms
        parcels = source.parcels(host)
        among = set(parcels)
        whole = parcels[0].amounts if len(parcels) == 1 else total((each.amounts for each in parcels), terms.dimensions)
        if not fits(asked.unit, whole):
            return There((), {}, among, is_any=False)
        room = self._picker.room(asked, source, host, is_within=not source.is_compared)
        firsts: dict[tuple[int, int], First] = {}
        for unit in host.units if not fits(asked.unit, room) else ():
            if unit.notice is None and unit.asked.leaf != asked.leaf and source.gives(unit):
                if not (host.is_plain or not among.isdisjoint(unit.books)):
                    continue
                place, breaks = (unit.pool, unit.asked.leaf), breaks_gang(unit, ())
                order = giving_order(terms, unit, breaks=breaks)
                if place not in firsts or order < firsts[place].order:
                    firsts[place] = First(unit, order, breaks=breaks)
        return There(room, firsts, among, is_any=True)

    def _pick(self, search: Search, host: Machine, place: tuple[int, int]) -> Pick | None:
        """Whose units go on a host so that one unit fits; where one is not enough all are looked at again.

        place : (pool, leaf) of those that give first there
        """
        unit, there = self._asked.unit, self._there[host]
        found = there.firsts[place]
        if found.bundle is None:
            found.bundle = bundle_of(found.unit, ())
            parts = [free_of(each, there.among, len(unit)) for each in found.bundle if each.host is host]
            found.freed = parts[0] if len(parts) == 1 else total(parts, len(unit))
        if not fits(unit, add(there.room, found.freed)):
            return search.pick(host, search.able(host))
        return Pick(host, found.bundle, [search.most_of(place)], int(found.breaks), [found.order])
