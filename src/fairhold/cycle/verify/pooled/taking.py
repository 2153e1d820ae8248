"""Victims of a taker, and on which host (SPEC §6.6, R-TAKE-1 to R-TAKE-4, R-VICTIM-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import Amounts, excess, fits, minus, plus, scaled, summed
from fairhold.cycle.verify.pooled.choices import Choice
from fairhold.cycle.verify.pooled.coming import wanted
from fairhold.cycle.verify.pooled.givers import hosts_of, may_give, might_give, stays_fair
from fairhold.cycle.verify.pooled.lending import deadline_of, reachable
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.siting import able_hosts, packs
from fairhold.cycle.verify.pooled.stock import Notice, gone, keep, kept_on
from fairhold.cycle.verify.pooled.terms import OWN
from fairhold.cycle.verify.pooled.usage import Pool
from fairhold.cycle.verify.pooled.victims import age, breaks_gang, bundle_of, is_young

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.cycle.verify.pooled.choices import Order
    from fairhold.cycle.verify.pooled.coming import Coming, Way
    from fairhold.cycle.verify.pooled.controls import Restraint
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit


@dataclass(frozen=True)
class Ground:
    """A level at which a leaf may take.

    pool     : in which it will stand, or OWN
    parcels  : of a host, in booking order; idle: those whose idle content is there, too
    gives    : whether a unit may be taken there
    is_fair  : whether usages and quotas decide
    hosts    : on which there is anything of it, None = on any
    """

    pool: str
    parcels: Callable[[Host], list[Parcel]]
    idle: Callable[[Parcel], bool]
    gives: Callable[[Unit], bool]
    is_fair: bool = False
    hosts: list[Host] | None = None


Undo = tuple[str, dict["Parcel", tuple[Amounts, dict[str, Amounts]]], list["Host"]]
"""The pool of a way before, what was idle and kept of the parcels of its host, and hosts to which there was no way."""


class Taking:
    """Gives notices.

    noticed : units that got notice, in order
    pools   : as they are used, kept up to date as moved
    """

    def __init__(self, stock: Stock, coming: Coming, noticed: list[Unit], restraint: Restraint) -> None:
        self.stock, self.coming, self.noticed, self.terms = stock, coming, noticed, stock.terms
        self.restraint = restraint
        self.pools: dict[str, Pool] = {}
        self.used = Used(stock, (unit for unit in stock.units() if unit.notice is None))
        for asked, ways in coming.to.items():
            self.used.add(asked, sum(way.units for way in ways.values() if way.pool != OWN))

    def pool(self, path: str) -> Pool:
        """One pool; what is on its way is there."""
        if path not in self.pools:
            self.pools[path] = self.as_moved(Pool(self.stock, path))
        return self.pools[path]

    def as_moved(self, pool: Pool) -> Pool:
        """The same pool; what is on its way to it counts as there."""
        for asked in pool.members:
            pool.count(pool.moved, asked, self.coming.units(asked, pool.path))
        return pool

    def _move(self, path: str, asked: Asked, units: int) -> None:
        if path in self.pools:
            self.pools[path].count(self.pools[path].moved, asked, units)

    def wants(self, asked: Asked) -> int:
        """Units to take in one go."""
        coming, missing = self.coming.units(asked), asked.missing
        return max(0, missing - coming) if missing else min(1, max(0, asked.waiting - coming))

    def take(self, asked: Asked, ground: Ground) -> bool:
        """Take for one unit, or for all units that a gang misses; or take nothing."""
        units = self.wants(asked)
        if not units or not self.restraint.allows(asked.leaf):
            return False
        if ground.is_fair and not asked.missing and not might_give(self.pool(ground.pool), asked.leaf):
            return False
        coming = (host for host, way in self.coming.to.get(asked, {}).items() if way.units)
        hosts = able_hosts(asked, self.stock.hosts.values() if ground.hosts is None else ground.hosts, coming)
        tries = [[host] for host in hosts] if packs(asked) else [hosts]
        return any(self._take(asked, ground, some, units) for some in tries)

    def _take(self, asked: Asked, ground: Ground, hosts: list[Host], units: int) -> bool:
        """The same, on some hosts."""
        chosen, undos = list[Choice](), list[Undo]()
        while len(chosen) < units:
            choice = self._choose(asked, ground, hosts, is_alone=units == 1)
            if choice is None:
                break
            undos.append(self._tell(asked, ground, choice))
            chosen.append(choice)
        gone = [unit for choice in chosen for unit in choice.units]
        is_fair = not ground.is_fair or stays_fair(self.pool(ground.pool), asked, gone)
        fresh = self.fresh(gone)
        is_whole = len(chosen) == units and is_fair and not self.restraint.spares(gone, self.stock.sure)
        if is_whole and self.used.allow(asked, 0) and self.restraint.go(len(gone) - len(fresh)):
            self.noticed += [unit for unit in gone if unit not in fresh]
            self._bring_more(asked, ground, chosen)
            self._bring_elsewhere(asked, gone, {choice.host for choice in chosen})
            self._never_placed(asked, fresh)
            return True
        for choice, undo in reversed(list(zip(chosen, undos, strict=True))):
            self._take_back(asked, choice, undo)
        if units == 1 and not is_fair:  # with all that is on its way there, which counted in another pool before
            return self._take(asked, ground, [host for host in hosts if host is not chosen[0].host], units)
        return False

    def fresh(self, units: Iterable[Unit]) -> list[Unit]:
        """Those that this cycle has placed, and takes away again."""
        return [unit for unit in units if unit.is_new] if not self.restraint.is_trial else []

    def remove(self, fresh: Iterable[Unit]) -> None:
        """Remove units that were placed in this cycle."""
        for unit in fresh:
            unit.notice = None
            self.stock.lost[unit.asked] += 1
            gone(unit)

    def _never_placed(self, asked: Asked, fresh: list[Unit]) -> None:
        """Nor were these; what the taker needs of their space is kept for it (R-SWEEP-3)."""
        self.remove(fresh)
        for host in {unit.host: None for unit in fresh}:
            way = self.coming.to[asked][host]
            self._count(asked, way, -1)
            way.goes = [unit for unit in way.goes if unit not in fresh]
            need = excess(scaled(asked.unit, way.units), self.coming.freed_for_it(asked, host))
            stood = {parcel for unit in fresh if unit.host is host for parcel in unit.books}
            keep(asked.id, host, [each for each in reachable(self.terms, asked.leaf, host) if each in stood], need)
            way.pool = self.coming.pool_on(asked, host)
            self._count(asked, way, 1)

    def _choose(self, asked: Asked, ground: Ground, hosts: list[Host], *, is_alone: bool) -> Choice | None:
        """The best of all hosts; of equal ones the first in inventory order (R-TAKE-3).

        is_alone : whether it is one unit that is taken: a host where it would break a share limit is passed over
        """

        def may_be(choice: Choice) -> bool:
            return not is_alone or self._keeps_limits(asked, ground, choice)

        if asked.missing:  # where nobody has to go is better than anywhere else
            for host in hosts:
                if self._has_room(asked, ground, host) and may_be(Choice(host)):
                    return Choice(host)
        if ground.is_fair:
            choices = self._of_most_over_used(asked, ground, hosts, may_be)
        else:
            choices = [choice for host in hosts if (choice := self._on(asked, ground, host)) and may_be(choice)]
        best: Choice | None = None
        for choice in choices:
            if best is None or choice.rank(best):
                best = choice
        return best

    def _keeps_limits(self, asked: Asked, ground: Ground, choice: Choice) -> bool:
        """Whether one more unit is within all share limits after its victims have gone."""
        if not any(path in self.terms.limit for path in self.terms.up[asked.leaf]):
            return True
        undo = self._tell(asked, ground, choice)
        is_within = self.used.allow(asked, 0)
        self._take_back(asked, choice, undo)
        return is_within

    def _of_most_over_used(
        self, asked: Asked, ground: Ground, hosts: list[Host], may_be: Callable[[Choice], bool]
    ) -> list[Choice]:
        """Choices on hosts where those give first that are most over-used: no other host is better.

        Who gives is less over-used afterwards. So nobody who goes on a host is more over-used than the first leaf, in
        the order of over-use, that stands there; once a choice is better than that, the leaves that follow are not
        looked at.
        """
        place = {host: at for at, host in enumerate(hosts)}
        found: dict[Host, Choice] = {}
        first: Order | None = None
        seen: set[Host] = set()
        leaves = [(self._order(ground.pool, leaf), leaf) for leaf in might_give(self.pool(ground.pool), asked.leaf)]
        for order, leaf in sorted(leaves):
            if first is not None and first < order:
                break
            for host in hosts_of(self.stock, ground.pool, leaf):
                if host in place and host not in seen:
                    seen.add(host)
                    choice = self._on(asked, ground, host)
                    is_fair = choice is not None and (asked.missing > 0 or self._is_fair(asked, ground, choice.units))
                    if choice is not None and is_fair and may_be(choice):
                        found[host] = choice
                        first = choice.over_use if first is None else min(first, choice.over_use)
        return [found[host] for host in sorted(found, key=place.__getitem__) if found[host].over_use == first]

    def _order(self, pool: str, leaf: str) -> Order:
        """The over-use of a leaf, without its place in the plan."""
        return tuple(level[:2] for level in self.over_use(pool, leaf))

    def _is_fair(self, asked: Asked, ground: Ground, gone: list[Unit]) -> bool:
        """Whether a take of one unit would stay fair."""
        self._go(gone, -1)
        self._move(ground.pool, asked, 1)
        is_fair = stays_fair(self.pool(ground.pool), asked, gone)
        self._move(ground.pool, asked, -1)
        self._go(gone, 1)
        return is_fair

    def _go(self, units: Iterable[Unit], sign: int) -> None:
        for unit in units:
            self._move(unit.pool, unit.asked, sign)

    def _on(self, asked: Asked, ground: Ground, host: Host) -> Choice | None:
        """The victims on a host for one unit; None where it cannot fit, or needs no victims."""
        parcels, width = ground.parcels(host), self.terms.width
        if not fits(asked.unit, summed((parcel.amounts for parcel in parcels), width)):
            return None
        room, choice = self._room(asked, ground, host, is_inside=not ground.is_fair), Choice(host)
        others = self._others(asked, host, ())
        if fits(asked.unit, room) and not others:
            return None
        able = [unit for unit in host.units if unit.notice is None and unit.asked.leaf != asked.leaf]
        able = [unit for unit in able if ground.gives(unit) and any(parcel in unit.books for parcel in parcels)]
        if ground.is_fair:
            givers = set(might_give(self.pool(ground.pool), asked.leaf))
            able = [unit for unit in able if unit.asked.leaf in givers]
        freed: list[Amounts] = []
        while not fits(asked.unit, room) or others:
            gone = choice.units
            keys = self._keys(asked, ground, [unit for unit in able if unit not in gone], gone)
            if not keys:
                self._go(gone, 1)
                return None
            unit = min(keys, key=keys.__getitem__)
            depth, over, (breaks, *age) = keys[unit]
            bundle = bundle_of(unit, gone)
            order = tuple(level[:2] for level in over)
            choice.bundles.append((bundle, (depth, order), (breaks, *age[:-2]), breaks))
            freed.append(summed((each.on(parcels, width) for each in bundle if each.host is host), width))
            room = plus(room, freed[-1])
            self._go(bundle, -1)
            others = self._others(asked, host, choice.units)
        self._go(choice.units, 1)
        for at in reversed(range(0 if self.coming.is_exclusive else len(freed))):
            mine, _, _, breaks = choice.bundles[at]
            others_of_it = (each for each in choice.bundles if each[3] and each[0][0].asked is mine[0].asked)
            if not breaks and any(others_of_it):
                continue  # its gang goes whole
            if fits(asked.unit, minus(room, freed[at])):
                room = minus(room, freed[at])
                del choice.bundles[at], freed[at]
        return choice

    def _others(self, asked: Asked, host: Host, gone: list[Unit] | tuple[()]) -> set[str]:
        """Other leaves that would share a host, where hosts are not shared (R-HOSTS-3)."""
        return self.coming.others(asked, host, gone) if self.coming.is_exclusive else set()

    def _room(self, asked: Asked, ground: Ground, host: Host, *, is_inside: bool = False) -> Amounts:
        """Amounts for one more unit without victims; is_inside: only those of the pool itself."""
        coming, way = self.coming, self.coming.to.get(asked, {}).get(host)
        kept = coming.kept_in(asked, host, ground.pool) if is_inside else kept_on(asked.id, host, self.terms.width)
        room = plus(kept, *(parcel.idle for parcel in ground.parcels(host) if ground.idle(parcel)))
        if way is not None:
            freed = coming.freed_in(asked, host, ground.pool) if is_inside else coming.freed(asked, host)
            need = scaled(asked.unit, way.units)
            if is_inside and way.pool != ground.pool:  # what comes stands elsewhere, as far as it can
                every = plus(coming.freed(asked, host), kept_on(asked.id, host, self.terms.width))
                need = excess(need, minus(every, plus(freed, kept)))
            room = minus(plus(room, freed), need)
        return room

    def _has_room(self, asked: Asked, ground: Ground, host: Host) -> bool:
        """Whether one more unit fits on a host without victims."""
        whole = summed((parcel.amounts for parcel in ground.parcels(host)), self.terms.width)
        room = self._room(asked, ground, host, is_inside=not ground.is_fair)
        return fits(asked.unit, whole) and fits(asked.unit, room) and not self._others(asked, host, ())

    def _keys(self, asked: Asked, ground: Ground, units: list[Unit], gone: list[Unit]) -> dict[Unit, tuple[Any, ...]]:
        """Units that may go, with keys, smallest first: outermost pool, most over-used, then inside the leaf."""
        places = dict.fromkeys((unit.pool, unit.asked.leaf) for unit in units)
        over = {
            (pool, leaf): (len(self.terms.up[pool]), self.over_use(pool, leaf))
            for pool, leaf in places
            if not ground.is_fair or may_give(self.pool(ground.pool), asked.leaf, leaf)
        }
        return {
            unit: (*over[unit.pool, unit.asked.leaf], self.age(unit, gone))
            for unit in units
            if (unit.pool, unit.asked.leaf) in over and not (self.restraint.spares_young and self.is_young(unit, gone))
        }

    def is_young(self, unit: Unit, gone: Iterable[Unit]) -> bool:
        """Whether a unit, or one that goes with it, has not run long enough (R-CONTROL-5)."""
        return any(is_young(self.terms, each, self.stock.now) for each in bundle_of(unit, gone))

    def over_use(self, pool: str, leaf: str) -> tuple[tuple[Any, ...], ...]:
        """Level by level: the lowest share priority, the largest usage / ratio as moved, the last in plan order."""
        found: list[tuple[Any, ...]] = []
        for path in self.terms.down(pool, leaf):
            usage, ratio = self.pool(pool).moved[path], self.terms.ratio[path]
            used = (0, -usage / ratio) if ratio else (-1 if usage else 0, 0)
            found.append((self.terms.priority[path], used, -self.terms.place[path]))
        return tuple(found)

    def age(self, unit: Unit, gone: Iterable[Unit]) -> tuple[Any, ...]:
        """The smallest gives first inside a leaf: no gang broken, by `victims`, the request listed last."""
        return breaks_gang(unit, gone), *age(self.terms, unit)

    def give(self, unit: Unit, taker: Asked | None, reason: str) -> None:
        """Give notice to a unit."""
        self._go([unit], -1)
        unit.notice = Notice(taker, deadline_of(self.stock, unit), reason, self.stock.next(), is_new=True)
        if unit.pool != OWN:
            self.used.add(unit.asked, -1)

    def _tell(self, asked: Asked, ground: Ground, choice: Choice) -> Undo:
        """Give notice to all units of a choice, and put a unit on its way; returns how to undo it."""
        touched = dict.fromkeys([choice.host, *(unit.host for unit in choice.units)])
        there = self.coming.to.get(asked, {})
        new = [each for each in touched if each not in there]
        host, way = choice.host, self.coming.way(asked, choice.host, ground.pool)
        undo = way.pool, {parcel: (parcel.idle, dict(parcel.kept)) for parcel in host.parcels}, new
        for unit in choice.units:
            self.give(unit, asked, "quota")
            self.coming.way(asked, unit.host).goes.append(unit)
        self._count(asked, way, -1)
        way.units += 1
        need = excess(scaled(asked.unit, way.units), self.coming.freed_for_it(asked, host))
        mine = [parcel for parcel in ground.parcels(host) if ground.idle(parcel)]
        keep(asked.id, host, [parcel for parcel in reachable(self.terms, asked.leaf, host) if parcel in mine], need)
        way.pool = self.coming.pool_on(asked, host)
        self._count(asked, way, 1)
        return undo

    def _count(self, asked: Asked, way: Way, sign: int) -> None:
        """Count units on their way in the pool where they will be, or stop counting them."""
        self._move(way.pool, asked, sign * way.units)
        if way.pool != OWN:
            self.used.add(asked, sign * way.units)

    def _bring_elsewhere(self, asked: Asked, gone: list[Unit], hosts: set[Host]) -> None:
        """Let units come also to other hosts that a gang frees when it stops whole."""
        for host in dict.fromkeys(unit.host for unit in gone if unit.host not in hosts):
            way = self.coming.to[asked][host]
            self._count(asked, way, -1)
            more = max(0, wanted(asked) - self.coming.units(asked))
            self.coming.bring(asked, host, way.units + more, self.used)
            self._count(asked, way, 1)

    def _bring_more(self, asked: Asked, ground: Ground, chosen: list[Choice]) -> None:
        """Let more units come where the freed and idle space suffices."""
        for host in dict.fromkeys(choice.host for choice in chosen):
            while (
                asked.held >= asked.model.min_count
                and asked.waiting > self.coming.units(asked)
                and fits(asked.unit, self._room(asked, ground, host))
            ):
                choice = Choice(host)
                undo = self._tell(asked, ground, choice)
                if not self.used.allow(asked, 0):
                    self._take_back(asked, choice, undo)
                    break

    def spare(self, units: Iterable[Unit]) -> None:
        """Withdraw notices that were given."""
        for unit in units:
            unit.notice = None
            self._move(unit.pool, unit.asked, 1)
            if unit.pool != OWN:
                self.used.add(unit.asked)

    def _take_back(self, asked: Asked, choice: Choice, undo: Undo) -> None:
        """Undo the notices for a gang that does not get all its units."""
        self.spare(choice.units)
        way = self.coming.to[asked][choice.host]
        self._count(asked, way, -1)
        for host in {unit.host for unit in choice.units}:
            there = self.coming.to[asked][host]
            there.goes = [unit for unit in there.goes if unit not in choice.units]
        way.units -= 1
        way.pool, before, new = undo
        self._count(asked, way, 1)
        for parcel, (idle, kept) in before.items():
            parcel.idle, parcel.kept = idle, kept
        for host in new:
            del self.coming.to[asked][host]
        if not self.coming.to[asked]:
            del self.coming.to[asked]
