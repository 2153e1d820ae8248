"""Units are taken back: which host's, whose, and when they may be (SPEC §6.6, R-TAKE-1 to R-TAKE-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, fits, less, times, total
from fairhold.ledger.pools import OWN, PUBLIC, Machine, Notice, Parcel, Unit, free_of
from fairhold.rules.pools.content import grace_of
from fairhold.rules.pools.giving import givers, has_as_much, may_give
from fairhold.rules.pools.restraint import are_spared, go_now, may_take
from fairhold.rules.pools.siting import hosts_for, packs_whole
from fairhold.rules.pools.standing import Standing
from fairhold.rules.pools.unplacing import placed_now, unplace_for
from fairhold.rules.pools.victims import Over, breaks_gang, bundle_of, giving_key, giving_order, over_use
from fairhold.rules.pools.ways import Way, Ways, hold_beyond, kept_for, limits_as_moved, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Asked, PoolBooks


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


@dataclass(slots=True)
class _Done:
    """What was noticed for one unit, and how to undo it.

    pool   : of the way before; before: what was idle of the host's parcels, and held
    """

    pick: Pick
    pool: int
    before: dict[Parcel, tuple[Vector, dict[Asked, Vector]]]


class _Turn:
    """Somebody's turn to give: units that go together, and why it was theirs.

    freed : what they have of what the taker may use on the host
    """

    __slots__ = ("breaks", "bundle", "freed", "key", "over")

    def __init__(self, bundle: list[Unit], over: tuple[int, Over], key: tuple[object, ...], *, breaks: bool) -> None:
        self.bundle, self.over, self.key, self.breaks = bundle, over, key, breaks
        self.freed: Vector = ()


class Taker:
    """Gives notices for requests, and keeps everything that follows of them up to date."""

    def __init__(self, books: PoolBooks, ways: Ways, notices: list[Unit]) -> None:
        self.books, self.ways, self.notices = books, ways, notices
        self.standings: dict[int, Standing] = {}
        self.limits = limits_as_moved(books, ways)

    def standing(self, pool: int) -> Standing:
        """How a pool is used, worked out when it is asked for first."""
        if pool not in self.standings:
            found = self.standings[pool] = Standing(self.books, pool)
            for asked in found.members:
                found.moves(asked, self.ways.units_in(asked, pool))
        return self.standings[pool]

    def wants(self, asked: Asked) -> int:
        """Units to be taken for a request in one go: one, or all that a gang misses of its minimum."""
        way = self.ways.units(asked)
        if asked.missing:
            return max(0, asked.missing - way)
        return min(1, max(0, asked.waiting - way))

    def take(self, asked: Asked, source: Source, hosts: Iterable[Machine]) -> bool:
        """Take for one unit or a whole gang; all or nothing."""
        units = self.wants(asked)
        if not units or not may_take(self.books, asked.leaf):
            return False
        hosts = hosts_for(asked, hosts, self.ways.of.get(asked))
        if packs_whole(asked):
            return any(self._take(asked, source, [host], units) for host in hosts)
        return self._take(asked, source, hosts, units)

    def _take(self, asked: Asked, source: Source, hosts: list[Machine], units: int) -> bool:
        """The same, on some hosts; where one unit would be too much for the best of them, on the others.

        So it is where what was on its way to that host counted in a pool inside this one (R-HELD-1).
        """
        gone: list[_Done] = []
        is_fair = True
        for _ in range(units):
            pick = self._best(asked, source, hosts, is_gang=units > 1)
            if pick is None:
                break
            gone.append(self._notice(asked, source, pick))
        else:
            victims = [unit for done in gone for unit in done.pick.victims]
            is_fair = not source.is_compared or self._is_fair(asked, source, victims)
            new = placed_now(self.books, victims)
            told = [unit for unit in victims if unit not in new]
            if is_fair and self.limits.allow(asked, 0) and go_now(self.books, told):
                self.notices += told
                self._bring_more(asked, source, {done.pick.host: None for done in gone})
                self._bring_elsewhere(asked, gone)
                self._unplace(asked, new)
                return True
        for done in reversed(gone):
            self._undo(asked, done)
        if units == 1 and not is_fair:
            return self._take(asked, source, [host for host in hosts if host is not gone[0].pick.host], units)
        return False

    def _unplace(self, asked: Asked, new: list[Unit]) -> None:
        """Units of this cycle are not placed, and their space is held at once (R-SWEEP-3)."""
        ways = [self.ways.of[asked][host] for host in {unit.host: None for unit in new}]
        for way in ways:
            self._count(asked, way, -1)
        unplace_for(self.ways, asked, new)
        for way in ways:
            self._count(asked, way, 1)

    def _bring_elsewhere(self, asked: Asked, gone: list[_Done]) -> None:
        """What a gang that is stopped whole frees on other hosts brings units, too."""
        others = [(unit, unit.host) for done in gone for unit in done.pick.victims if unit.host is not done.pick.host]
        for unit, host in others:
            self.ways.way(asked, host, PUBLIC).victims.append(unit)
        for host in dict.fromkeys(host for _, host in others):
            way = self.ways.of[asked][host]
            self._count(asked, way, -1)
            more = max(0, wanted(asked) - self.ways.units(asked))
            self.ways.fill(asked, host, way.units + more, self.limits)
            self._count(asked, way, 1)

    def _best(self, asked: Asked, source: Source, hosts: list[Machine], *, is_gang: bool) -> Pick | None:
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
        room, among = self._room(asked, source, host, is_within=source.pool == OWN), set(parcels)
        able = [unit for unit in able if not among.isdisjoint(unit.books)]
        picked: list[_Turn] = []
        gone: set[Unit] = set()
        while not fits(asked.unit, room):
            turn = self._next(asked, source, able, gone)
            if turn is None:
                self._restore(gone)
                return None
            turn.freed = total(
                (free_of(unit, among, len(room)) for unit in turn.bundle if unit.host is host), len(room)
            )
            room = add(room, turn.freed)
            picked.append(turn)
            gone.update(turn.bundle)
            for unit in turn.bundle:
                self._leave(unit)
        self._restore(gone)
        for turn in reversed(picked[:]):  # those not needed are given back, the last picked first
            if fits(asked.unit, less(room, turn.freed)):
                room = less(room, turn.freed)
                picked.remove(turn)
        victims = [unit for turn in picked for unit in turn.bundle]
        broken = sum(turn.breaks for turn in picked)
        return Pick(host, victims, [turn.over for turn in picked], broken, [turn.key for turn in picked])

    def _room(self, asked: Asked, source: Source, host: Machine, *, is_within: bool = False) -> Vector:
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
            self._leave(unit)
        standing.moves(asked, 1)
        found = self._is_fair(asked, source, pick.victims)
        standing.moves(asked, -1)
        self._restore(pick.victims)
        return found

    def _is_fair(self, asked: Asked, source: Source, victims: list[Unit]) -> bool:
        """Whether nobody who gave has less than the taker now, weighed by ratio, but for a better share priority."""
        standing = self.standing(source.pool)
        leaves = {unit.asked.leaf for unit in victims if unit.pool == source.pool} - {asked.leaf}
        return all(has_as_much(standing, asked.leaf, leaf) for leaf in leaves)

    def _leave(self, unit: Unit) -> None:
        standing = self.standings.get(unit.pool)
        if standing is not None:
            standing.leaves(unit)

    def _restore(self, units: Iterable[Unit]) -> None:
        for unit in units:
            standing = self.standings.get(unit.pool)
            if standing is not None and unit.asked in standing.size:
                standing.moves(unit.asked, 1)

    def _notice(self, asked: Asked, source: Source, pick: Pick) -> _Done:
        """Tell the victims, and hold what is idle beside them."""
        way = self.ways.way(asked, pick.host, source.pool)
        done = _Done(pick, way.pool, {parcel: (parcel.idle, dict(parcel.kept)) for parcel in pick.host.parcels})
        for unit in pick.victims:
            self.give(unit, asked, "quota")
        way.victims += [unit for unit in pick.victims if unit.host is pick.host]
        self._count(asked, way, -1)
        way.units += 1
        self._hold(asked, source, pick.host)
        way.pool = self.ways.pool_of(asked, pick.host)
        self._count(asked, way, 1)
        return done

    def _count(self, asked: Asked, way: Way, sign: int) -> None:
        """Count a way where its units will stand, or no longer."""
        if way.pool in self.standings:
            self.standings[way.pool].moves(asked, sign * way.units)
        if way.pool >= 0:
            self.limits.add(asked, sign * way.units)

    def _bring_more(self, asked: Asked, source: Source, hosts: Iterable[Machine]) -> None:
        """What the victims free beyond one unit, with what is idle beside them, brings more units (SPEC §6.6)."""
        for host in hosts:
            while asked.held >= asked.model.min_count and asked.waiting > self.ways.units(asked):
                if not fits(asked.unit, self._room(asked, source, host)):
                    break
                done = self._notice(asked, source, Pick(host, [], [], 0, []))
                if not self.limits.allow(asked, 0):
                    self._undo(asked, done)
                    break

    def _hold(self, asked: Asked, source: Source, host: Machine) -> None:
        parcels = [each for each in source.parcels(host) if source.is_idle(each)]
        need = times(asked.unit, self.ways.of[asked][host].units)
        hold_beyond(asked, host, parcels, beyond(need, self.ways.freed_there(asked, host)))

    def give(self, unit: Unit, asked: Asked | None, reason: str) -> None:
        """Tell a unit to go."""
        self._leave(unit)
        deadline = self.books.now + grace_of(self.books.terms, unit)
        unit.notice = Notice(asked, deadline, reason, self.books.next_serial(), is_new=True)
        if unit.pool >= 0:
            self.limits.add(unit.asked, -1)

    def spare(self, units: Collection[Unit]) -> None:
        """Units that were told to go may stay."""
        for unit in units:
            unit.notice = None
            if unit.pool >= 0:
                self.limits.add(unit.asked, 1)
        self._restore(units)

    def _undo(self, asked: Asked, done: _Done) -> None:
        victims = done.pick.victims
        self.spare(victims)
        way = self.ways.of[asked][done.pick.host]
        self._count(asked, way, -1)
        way.victims = [unit for unit in way.victims if unit not in set(victims)]
        way.units, way.pool = way.units - 1, done.pool
        self._count(asked, way, 1)
        for parcel, (idle, kept) in done.before.items():
            parcel.idle, parcel.kept = idle, kept


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
