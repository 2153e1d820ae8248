"""Chooses the host and the units to reclaim for a request (SPEC §6.6, R-TAKE-1, R-TAKE-3, R-VICTIM-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, fits, less, times, total
from fairhold.ledger.pools import PUBLIC, Machine, Parcel, Unit
from fairhold.rules.pools.alone import are_alone, has_strangers, is_awaited
from fairhold.rules.pools.content import free_of
from fairhold.rules.pools.giving import givers, has_as_much, keeps_as_much, may_give
from fairhold.rules.pools.pool_usage import Standing
from fairhold.rules.pools.restraint import are_spared
from fairhold.rules.pools.victims import Over, breaks_gang, bundle_of, giving_key, giving_order, over_use

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.rules.pools.reservations import Reservations


@dataclass(frozen=True, slots=True)
class Source:
    """Where a request may reclaim.

    pool     : in which it will stand, or OWN
    parcels  : of a host that it may use, in booking order
    is_idle  : whether what is idle of a parcel is there for it
    gives    : whether a unit may be taken there
    is_compared : whether usages and quotas of the pool decide
    """

    pool: int
    parcels: Callable[[Machine], list[Parcel]]
    is_idle: Callable[[Parcel], bool]
    gives: Callable[[Unit], bool]
    is_compared: bool = False


@dataclass(slots=True)
class Pick:
    """What would go on one host for one unit.

    over : how over-used those were that give, in the order in which they were picked
    """

    host: Machine
    victims: list[Unit]
    over: list[tuple[int, Over]]
    broken: int
    keys: list[tuple[object, ...]]


class _Turn:
    """The next units to give: they go together; and why it was their turn.

    freed : what they have of what the taker may use on the host
    """

    __slots__ = ("breaks", "bundle", "freed", "key", "over")

    def __init__(self, bundle: list[Unit], over: tuple[int, Over], key: tuple[object, ...], *, breaks: bool) -> None:
        self.bundle, self.over, self.key, self.breaks = bundle, over, key, breaks
        self.freed: Vector = ()


class Picker:
    """Finds victims for a request, with usages of pools after all units on their way have moved.

    standings : pool → its usages, for pools that were asked for
    """

    def __init__(self, books: PoolBooks, reservations: Reservations) -> None:
        self.books, self.reservations = books, reservations
        self.standings: dict[int, Standing] = {}

    def standing(self, pool: int) -> Standing:
        """How a pool is used, worked out when it is asked for first."""
        if pool not in self.standings:
            found = self.standings[pool] = Standing(self.books, pool)
            for asked in self.reservations.of:
                if asked in found.size:
                    found.moves(asked, self.reservations.units_in(asked, pool))
        return self.standings[pool]

    def best(
        self,
        asked: PendingRequest,
        source: Source,
        hosts: list[Machine],
        *,
        is_gang: bool,
        full: Collection[int] = (),
        allows: Callable[[Pick], bool] | None = None,
    ) -> Pick | None:
        """The host whose victims belong to the most over-used leaves (R-TAKE-3).

        is_gang : whether the host may need no victims, because idle space is enough for one unit of a gang
        full    : rows that one unit more would bring above a share limit: a leaf below each has to give
        allows  : whether share limits allow the victims, where there are limits; None = they do
        """
        leaves, alone = self._givers(asked, source)
        if not is_gang and alone is not None and not alone:
            return None
        search = Search(self, asked, source, leaves, alone)
        best: Pick | None = None
        for host in hosts:
            able = search.able(host)
            if not is_gang and not (able if alone is None else [unit for unit in able if unit.asked in alone]):
                continue  # it needs nobody's space there, or whoever gives it would have less than it
            if full and not self._may_relieve(asked, host, able, full):
                continue
            if best is not None and not is_gang and not search.may_be_better(able, best):
                continue
            if not able and not self._may_have_room(asked, host):
                continue  # nobody gives anything there
            pick = search.pick(host, able)
            if pick is None or not (pick.victims or is_gang):
                continue
            if source.is_compared and not is_gang and not search.would_be_fair(pick):
                continue
            if (best is None or is_better(pick, best)) and (allows is None or allows(pick)):
                best = pick
        return best

    def _may_have_room(self, asked: PendingRequest, host: Machine) -> bool:
        """Whether there may be room for a unit without victims: on its way, held for it, or idle at any level."""
        if host in self.reservations.of.get(asked, ()) or any(asked in parcel.kept for parcel in host.parcels):
            return True
        return fits(asked.unit, total((parcel.idle for parcel in host.parcels), len(asked.unit)))

    def _may_relieve(self, asked: PendingRequest, host: Machine, able: list[Unit], full: Collection[int]) -> bool:
        """Whether a unit on a host may keep to share limits: others below them give, or it stands on its own."""
        if any(parcel.owner == asked.leaf for parcel in host.parcels):
            return True
        above = self.books.terms.above
        return all(any(row in above[unit.asked.leaf] for unit in able) for row in full)

    def _givers(
        self, asked: PendingRequest, source: Source
    ) -> tuple[frozenset[int] | None, frozenset[PendingRequest] | None]:
        """Leaves that may give to a request by their quotas, and requests of which a unit may go alone; None = all.

        It is as before the take: what one gives lets no other give. Where units are spared for a while, all of those
        leaves are looked at: what is spared says when another cycle is due.
        """
        if not source.is_compared:
            return None, None
        leaves, alone = givers(self.standing(source.pool), asked)
        return leaves, None if self.books.restraint.spares_young else alone

    def room(self, asked: PendingRequest, source: Source, host: Machine, *, is_within: bool = False) -> Vector:
        """What is there already: idle, held for the request, or on its way to it and more than it needs.

        is_within : only what is at the level of the source, as where nothing is compared
        """
        parcels = [parcel for parcel in source.parcels(host) if source.is_idle(parcel)]
        pool = source.pool if is_within else PUBLIC
        if len(parcels) == 1 and len(host.parcels) == 1:  # the common case
            room = parcels[0].room(asked)
        else:
            room = self.reservations.kept_in(asked, host, pool)
            for parcel in parcels:
                room = add(room, parcel.idle)
        reservations = self.reservations.of.get(asked)
        if reservations and host in reservations:
            room = add(room, self.reservations.freed_in(asked, host, pool))
            need = times(asked.unit, reservations[host].units)
            if is_within and reservations[host].pool != pool:  # those that come stand elsewhere, as far as they can
                need = beyond(need, self.reservations.outside(asked, host, pool))
            room = less(room, need)
        return room

    def is_fair(self, asked: PendingRequest, source: Source, victims: list[Unit]) -> bool:
        """Whether no giver has less than the taker now, weighed by ratio, except givers of worse share priority."""
        standing = self.standing(source.pool)
        leaves = {unit.asked.leaf for unit in victims if unit.pool == source.pool} - {asked.leaf}
        return all(has_as_much(standing, asked.leaf, leaf) for leaf in leaves)

    def may_be_fair(self, asked: PendingRequest, source: Source, victims: list[Unit], least: int) -> bool:
        """Whether it may still be so when all of a gang are found, of which the leaf uses so much at least then."""
        if not source.is_compared:
            return True
        standing = self.standing(source.pool)
        leaves = {unit.asked.leaf for unit in victims if unit.pool == source.pool}
        return all(keeps_as_much(standing, asked.leaf, leaf, least) for leaf in leaves)

    def leaves(self, unit: Unit) -> None:
        """A unit got notice."""
        standing = self.standings.get(unit.pool)
        if standing is not None:
            standing.leaves(unit)

    def stay(self, units: Iterable[Unit]) -> None:
        """Notices of units were undone."""
        for unit in units:
            standing = self.standings.get(unit.pool)
            if standing is not None and unit.asked in standing.size:
                standing.moves(unit.asked, 1)


class Search:
    """A search for victims for one request; while it runs, nothing moves except what it picks.

    leaves, alone : leaves that may give to it, and requests of which a unit may go alone; None = all
    """

    def __init__(
        self,
        picker: Picker,
        asked: PendingRequest,
        source: Source,
        leaves: frozenset[int] | None,
        alone: frozenset[PendingRequest] | None,
    ) -> None:
        self.picker, self.books, self.asked, self.source = picker, picker.books, asked, source
        self.leaves, self.alone = leaves, alone
        self._spares_young = self.books.restraint.spares_young
        self._is_alone = are_alone(self.books)
        self._most: dict[tuple[int, int], tuple[int, Over]] = {}
        """(pool, leaf) → how over-used it is before anything is picked; keys: → its place among those that give."""
        self._keys: dict[tuple[int, int], tuple[object, ...] | None] = {}

    def able(self, host: Machine) -> list[Unit]:
        """Units of a host that may go for the request."""
        leaves, gives, mine = self.leaves, self.source.gives, self.asked.leaf
        if leaves is not None:  # its own is none of them
            return [each for each in host.units if each.asked.leaf in leaves and each.notice is None and gives(each)]
        return [each for each in host.units if each.notice is None and each.asked.leaf != mine and gives(each)]

    def may_be_better(self, able: list[Unit], best: Pick) -> bool:
        """Whether one of some units is of somebody as over-used as the first who gives on the best host so far."""
        if self._spares_young:
            return True
        first = best.over[0]
        return any(self.most_of((unit.pool, unit.asked.leaf)) <= first for unit in able)

    def most_of(self, place: tuple[int, int]) -> tuple[int, Over]:
        """How over-used a leaf is in a pool before anything is picked."""
        found = self._most.get(place)
        if found is None:
            found = self._most[place] = self._over(*place)
        return found

    def key(self, place: tuple[int, int]) -> tuple[object, ...] | None:
        """Place of a leaf's units of a pool among those that give, nothing being picked; None = they may not go."""
        keys = self._keys
        if place not in keys:
            is_able = self.leaves is None or place[1] in self.leaves
            keys[place] = self._key(*place) if is_able else None
        return keys[place]

    def _over(self, pool: int, leaf: int) -> tuple[int, Over]:
        """How over-used a leaf is in a pool, of the outermost pool first."""
        terms = self.books.terms
        return len(terms.above[pool]), over_use(terms, self.picker.standing(pool), leaf)

    def pick(self, host: Machine, able: list[Unit]) -> Pick | None:
        """The victims on a host that make room for one unit of the request; None = there is no such choice."""
        asked, source, dimensions = self.asked, self.source, self.books.terms.dimensions
        parcels = source.parcels(host)
        whole = parcels[0].amounts if len(parcels) == 1 else total((each.amounts for each in parcels), dimensions)
        if not fits(asked.unit, whole) or (self._is_alone and is_awaited(self.picker.reservations, asked, host)):
            return None
        room, among = self.picker.room(asked, source, host, is_within=not source.is_compared), set(parcels)
        if not host.is_plain:
            able = [unit for unit in able if not among.isdisjoint(unit.books)]
        picked: list[_Turn] = []
        gone: set[Unit] = set()
        while not fits(asked.unit, room) or (self._is_alone and has_strangers(asked, host, gone)):
            turn = self._next(able, gone)
            if turn is None:
                self.picker.stay(gone)
                return None
            freed = [free_of(unit, among, dimensions) for unit in turn.bundle if unit.host is host]
            turn.freed = freed[0] if len(freed) == 1 else total(freed, dimensions)
            room = add(room, turn.freed)
            picked.append(turn)
            gone.update(turn.bundle)
            for unit in turn.bundle:
                self.picker.leaves(unit)
        self.picker.stay(gone)
        is_spare = len(picked) > 1 and not self._is_alone
        for turn in reversed(picked[:]) if is_spare else ():  # those not needed are given back, the last first
            if fits(asked.unit, less(room, turn.freed)) and not _goes_with_gang(turn, picked):
                room = less(room, turn.freed)
                picked.remove(turn)
        victims = [unit for turn in picked for unit in turn.bundle]
        broken = sum([turn.breaks for turn in picked])
        return Pick(host, victims, [turn.over for turn in picked], broken, [turn.key for turn in picked])

    def _next(self, able: list[Unit], gone: set[Unit]) -> _Turn | None:
        """The next victims: the outermost pool first, in it the most over-used leaf, then by order inside the leaf."""
        terms = self.books.terms
        best: Unit | None = None
        first: tuple[object, ...] = ()
        order: tuple[object, ...] = ()
        keys = {} if gone else self._keys
        for unit in able:
            if unit in gone or (self._spares_young and are_spared(self.books, bundle_of(unit, gone))):
                continue
            place = unit.pool, unit.asked.leaf
            if place not in keys:
                keys[place] = self._key(*place)
            of_leaf = keys[place]
            if of_leaf is None or (best is not None and of_leaf > first):
                continue
            mine = giving_order(terms, unit, breaks=breaks_gang(unit, gone))
            if best is None or of_leaf < first or mine < order:
                best, first, order = unit, of_leaf, mine
        if best is None:
            return None
        place = best.pool, best.asked.leaf
        over = self._over(*place) if gone else self.most_of(place)
        return _Turn(bundle_of(best, gone), over, order, breaks=breaks_gang(best, gone))

    def _key(self, pool: int, leaf: int) -> tuple[object, ...] | None:
        """Place of a leaf's units of a pool among those that give; None = they may not go."""
        terms, source, picker = self.books.terms, self.source, self.picker
        if source.is_compared and not may_give(picker.standing(source.pool), self.asked.leaf, leaf):
            return None
        return len(terms.above[pool]), giving_key(terms, picker.standing(pool), leaf)

    def would_be_fair(self, pick: Pick) -> bool:
        """Whether no giver would have less than the taker."""
        picker, victims = self.picker, pick.victims
        if self.alone is not None and len(victims) == 1:
            return victims[0].asked in self.alone
        standing = picker.standing(self.source.pool)
        for unit in victims:
            picker.leaves(unit)
        standing.moves(self.asked, 1)
        found = picker.is_fair(self.asked, self.source, victims)
        standing.moves(self.asked, -1)
        picker.stay(victims)
        return found


def _goes_with_gang(turn: _Turn, picked: list[_Turn]) -> bool:
    """Whether a gang stops whole of which units went one by one before: they do not stay alone."""
    asked = turn.bundle[0].asked
    return not turn.breaks and any(each.breaks and each.bundle[0].asked is asked for each in picked)


def is_better(one: Pick, other: Pick) -> bool:
    """Most over-used victims, fewest gangs broken, fewest units, then by `victims`; else the first host stays."""
    for mine, theirs in zip(one.over, other.over, strict=False):
        if mine != theirs:
            return mine < theirs
    if (one.broken, len(one.victims)) != (other.broken, len(other.victims)):
        return (one.broken, len(one.victims)) < (other.broken, len(other.victims))
    for a, b in zip(one.keys, other.keys, strict=False):
        if a[:-2] != b[:-2]:
            return a[:-2] < b[:-2]
    return False
