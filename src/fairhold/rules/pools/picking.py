"""On which host units are taken back, and whose (SPEC §6.6, R-TAKE-1, R-TAKE-3, R-VICTIM-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, fits, less, times, total
from fairhold.ledger.pools import OWN, Machine, Parcel, Unit, free_of
from fairhold.rules.pools.giving import givers, has_as_much, may_give
from fairhold.rules.pools.restraint import are_spared
from fairhold.rules.pools.standing import Standing
from fairhold.rules.pools.victims import Over, breaks_gang, bundle_of, giving_key, giving_order, over_use
from fairhold.rules.pools.ways import kept_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, PoolBooks
    from fairhold.rules.pools.ways import Ways


@dataclass(frozen=True, slots=True)
class Source:
    """Where a request may take.

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
    """Somebody's turn to give: units that go together, and why it was theirs.

    freed : what they have of what the taker may use on the host
    """

    __slots__ = ("breaks", "bundle", "freed", "key", "over")

    def __init__(self, bundle: list[Unit], over: tuple[int, Over], key: tuple[object, ...], *, breaks: bool) -> None:
        self.bundle, self.over, self.key, self.breaks = bundle, over, key, breaks
        self.freed: Vector = ()


class Picker:
    """Finds who gives to a request, as pools are used when all that is on its way has moved.

    standings : pool → how it is used, of those that somebody asked for
    """

    def __init__(self, books: PoolBooks, ways: Ways) -> None:
        self.books, self.ways = books, ways
        self.standings: dict[int, Standing] = {}

    def standing(self, pool: int) -> Standing:
        """How a pool is used, worked out when it is asked for first."""
        if pool not in self.standings:
            found = self.standings[pool] = Standing(self.books, pool)
            for asked in found.members:
                found.moves(asked, self.ways.units_in(asked, pool))
        return self.standings[pool]

    def best(self, asked: Asked, source: Source, hosts: list[Machine], *, is_gang: bool) -> Pick | None:
        """The host on which those give that are most over-used (R-TAKE-3)."""
        best: Pick | None = None
        leaves, alone = self._givers(asked, source)
        most: dict[tuple[int, int], tuple[int, Over]] = {}
        for host in hosts if is_gang or alone is None or alone else ():
            able = self._able(asked, source, host, leaves)
            if not is_gang and not (able if alone is None else [unit for unit in able if unit.asked in alone]):
                continue  # it needs nobody's space there, or whoever gives it would have less than it
            if best is not None and not is_gang and not self._may_be_better(able, best, most):
                continue
            pick = self._pick(asked, source, host, able)
            if pick is None or not (pick.victims or is_gang):
                continue
            if source.is_compared and not is_gang and not self._would_be_fair(asked, source, pick):
                continue
            if best is None or _is_better(pick, best):
                best = pick
        return best

    def _givers(self, asked: Asked, source: Source) -> tuple[frozenset[int] | None, frozenset[Asked] | None]:
        """Leaves that may give to a request by their quotas, and requests of which a unit may go alone; None = all.

        While it picks, none comes to them. Where units are spared for a while, all are looked at: what is spared says
        when another cycle is due.
        """
        if not source.is_compared or self.books.restraint.spares_young:
            return None, None
        return givers(self.standing(source.pool), asked)

    def _may_be_better(self, able: list[Unit], best: Pick, most: dict[tuple[int, int], tuple[int, Over]]) -> bool:
        """Whether one of some units is of somebody as over-used as the first who gives on the best host so far.

        most : how over-used those of a pool and leaf are, as far as it is known
        """
        if self.books.restraint.spares_young:
            return True
        for unit in able:
            place = unit.pool, unit.asked.leaf
            if place not in most:
                most[place] = self._over(unit)
            if most[place] <= best.over[0]:
                return True
        return False

    def _over(self, unit: Unit) -> tuple[int, Over]:
        """How over-used the holder of a unit is, of the outermost pool first."""
        terms = self.books.terms
        return len(terms.above[unit.pool]), over_use(terms, self.standing(unit.pool), unit.asked.leaf)

    def _able(self, asked: Asked, source: Source, host: Machine, leaves: frozenset[int] | None) -> list[Unit]:
        """Units of a host that may go for a request."""
        return [
            unit
            for unit in host.units
            if unit.notice is None
            and unit.asked.leaf != asked.leaf
            and (leaves is None or unit.asked.leaf in leaves)
            and source.gives(unit)
        ]

    def _pick(self, asked: Asked, source: Source, host: Machine, able: list[Unit]) -> Pick | None:
        """Whose units go on a host so that one unit of a request fits; None = it cannot."""
        parcels = source.parcels(host)
        whole = total((parcel.amounts for parcel in parcels), self.books.terms.dimensions)
        if not fits(asked.unit, whole):
            return None
        room, among = self.room(asked, source, host, is_within=source.pool == OWN), set(parcels)
        able = [unit for unit in able if not among.isdisjoint(unit.books)]
        picked: list[_Turn] = []
        gone: set[Unit] = set()
        while not fits(asked.unit, room):
            turn = self._next(asked, source, able, gone)
            if turn is None:
                self.stay(gone)
                return None
            turn.freed = total(
                (free_of(unit, among, len(room)) for unit in turn.bundle if unit.host is host), len(room)
            )
            room = add(room, turn.freed)
            picked.append(turn)
            gone.update(turn.bundle)
            for unit in turn.bundle:
                self.leaves(unit)
        self.stay(gone)
        for turn in reversed(picked[:]):  # those not needed are given back, the last picked first
            if fits(asked.unit, less(room, turn.freed)):
                room = less(room, turn.freed)
                picked.remove(turn)
        victims = [unit for turn in picked for unit in turn.bundle]
        broken = sum(turn.breaks for turn in picked)
        return Pick(host, victims, [turn.over for turn in picked], broken, [turn.key for turn in picked])

    def room(self, asked: Asked, source: Source, host: Machine, *, is_within: bool = False) -> Vector:
        """What is there already: idle, held for the request, or on its way to it and more than it needs.

        is_within : of what goes for it only that on which what is on its way will stand
        """
        room = kept_for(asked, host, self.books.terms.dimensions)
        for parcel in source.parcels(host):
            if source.is_idle(parcel):
                room = add(room, parcel.idle)
        if host in self.ways.of.get(asked, {}):
            room = add(room, (self.ways.freed_there if is_within else self.ways.freed)(asked, host))
            room = less(room, times(asked.unit, self.ways.of[asked][host].units))
        return room

    def _next(self, asked: Asked, source: Source, able: list[Unit], gone: set[Unit]) -> _Turn | None:
        """Who gives next: of the outermost pool first, there who is most over-used, then inside the leaf."""
        terms, spares_young = self.books.terms, self.books.restraint.spares_young
        best: Unit | None = None
        first: tuple[object, ...] = ()
        order: tuple[object, ...] = ()
        keys: dict[tuple[int, int], tuple[object, ...] | None] = {}
        for unit in able:
            if unit in gone or (spares_young and are_spared(self.books, bundle_of(unit, gone))):
                continue
            leaf, place = unit.asked.leaf, (unit.pool, unit.asked.leaf)
            if place not in keys:
                may = not source.is_compared or may_give(self.standing(source.pool), asked.leaf, leaf)
                depth = len(terms.above[unit.pool])
                keys[place] = (depth, giving_key(terms, self.standing(unit.pool), leaf)) if may else None
            of_leaf = keys[place]
            if of_leaf is None or (best is not None and of_leaf > first):
                continue
            mine = giving_order(terms, unit, breaks=breaks_gang(unit, gone))
            if best is None or of_leaf < first or mine < order:
                best, first, order = unit, of_leaf, mine
        if best is None:
            return None
        return _Turn(bundle_of(best, gone), self._over(best), order, breaks=breaks_gang(best, gone))

    def _would_be_fair(self, asked: Asked, source: Source, pick: Pick) -> bool:
        standing = self.standing(source.pool)
        for unit in pick.victims:
            self.leaves(unit)
        standing.moves(asked, 1)
        found = self.is_fair(asked, source, pick.victims)
        standing.moves(asked, -1)
        self.stay(pick.victims)
        return found

    def is_fair(self, asked: Asked, source: Source, victims: list[Unit]) -> bool:
        """Whether nobody who gave has less than the taker now, weighed by ratio, but for a better share priority."""
        standing = self.standing(source.pool)
        leaves = {unit.asked.leaf for unit in victims if unit.pool == source.pool} - {asked.leaf}
        return all(has_as_much(standing, asked.leaf, leaf) for leaf in leaves)

    def leaves(self, unit: Unit) -> None:
        """A unit is to go."""
        standing = self.standings.get(unit.pool)
        if standing is not None:
            standing.leaves(unit)

    def stay(self, units: Iterable[Unit]) -> None:
        """Units that were to go are not."""
        for unit in units:
            standing = self.standings.get(unit.pool)
            if standing is not None and unit.asked in standing.size:
                standing.moves(unit.asked, 1)


def _is_better(one: Pick, other: Pick) -> bool:
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
