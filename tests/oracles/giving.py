"""Who gives, and which units: all hosts tried (SPEC §6.6), slow."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tests.oracles.coming import Moving
from tests.oracles.parcels import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.oracles.parcels import Unit, Wish

ENDLESS = Fraction(10**9)


class Take(NamedTuple):
    """What a unit would take on one host, how over-used each victim was when it was picked, and gangs broken."""

    host: str
    victims: list[Unit]
    overuse: list[list[Fraction]]
    broken: int
    youths: list[tuple[str | float, ...]]


class Giving(Moving):
    """Who may give to a request, and who does."""

    def takes(self, wish: Wish, pool: str, hosts: Iterable[str]) -> list[Take]:
        return [take for take in (self.on_part(wish, pool, host) for host in hosts) if take]

    def best(self, takes: list[Take]) -> Take | None:
        best = takes[0] if takes else None
        for take in takes[1:]:
            best = take if best is None or self.is_better(take, best) else best
        return best

    def is_better(self, take: Take, other: Take) -> bool:
        for mine, theirs in zip(take.overuse, other.overuse, strict=False):
            for a, b in zip(mine, theirs, strict=False):
                if a != b:
                    return a > b
        fewest = (take.broken, len(take.victims)), (other.broken, len(other.victims))
        return fewest[0] < fewest[1] if fewest[0] != fewest[1] else take.youths > other.youths

    def on_part(self, wish: Wish, pool: str, host: str) -> Take | None:
        """Units in victim order until it fits; then those not needed are given back, the last picked first."""
        turns: list[list[Unit]] = []
        overuse: list[list[Fraction]] = []
        broken: list[bool] = []
        youths: list[tuple[str | float, ...]] = []
        noticed = {notice.unit for notice in self.notices}
        helps = set(self.usable(wish.leaf, pool, host)).intersection

        def freed_by(these: list[list[Unit]]) -> list[Unit]:
            return [unit for turn in these for unit in turn if unit.host == host]

        while self.stands_on(wish, pool, host, freed_by(turns)) is None:
            picked = [unit for turn in turns for unit in turn]
            on_host = [
                unit for unit in self.units() if unit.host == host and unit not in noticed and unit not in picked
            ]
            able = [unit for unit in on_host if helps(unit.books) and self.may_go(wish, pool, unit, picked)]
            if not able:
                return None
            unit = self.first_victim(able, picked)
            overuse.append(self.overuse(unit, picked))
            youths.append(self.youth(unit))
            broken.append(self.breaks(unit, picked))
            stays = [each for each in unit.wish.units if each not in noticed and each not in picked]
            turns.append(stays if broken[-1] else [unit])
        for turn in reversed(turns[:]):
            rest = [each for each in turns if each is not turn]
            if any(
                is_whole and turn[0].wish is each[0].wish
                for is_whole, each in zip(broken, turns, strict=True)
                if each is not turn
            ):
                continue  # all of its gang goes
            if self.stands_on(wish, pool, host, freed_by(rest)) is not None:
                at = turns.index(turn)
                del overuse[at], youths[at], broken[at]
                turns = rest
        return Take(host, [unit for turn in turns for unit in turn], overuse, sum(broken), youths)

    # What may go

    def may_go(self, wish: Wish, pool: str, unit: Unit, picked: list[Unit]) -> bool:
        """Whether a unit may be taken for a request in a pool, after some others."""
        if wish.leaf == unit.wish.leaf:
            return False
        return self.is_owed(unit, pool, wish.leaf) if not self.quota else self.is_above(wish, pool, unit, picked)

    def is_owed(self, unit: Unit, pool: str, leaf: str) -> bool:
        """A unit of an outer pool on what a leaf owns, or a private pool lent up; not one of its own descendants'."""
        owner = leaf if pool == OWN else pool
        lent = [each for each in unit.books if self.has(pool, each, leaf)]
        inner = unit.pool == OWN or self.is_below(unit.pool, owner)
        return bool(lent) and not inner and not self.is_below(unit.wish.leaf, owner)

    def is_above(self, wish: Wish, pool: str, unit: Unit, picked: list[Unit]) -> bool:
        """A unit of the pool: the taker's sibling is below its quota, those from the giver's down are above theirs."""
        if unit.pool != pool:
            return False
        taker, giver, *below = self.siblings(wish, unit)
        is_short = self.moved(taker, pool) < self.quota[taker]
        return is_short and all(self.moved(path, pool, picked) > self.quota[path] for path in (giver, *below))

    def siblings(self, wish: Wish, unit: Unit) -> list[str]:
        """Below the lowest common ancestor that of the taker, then that of the giver and all from there down."""
        mine, theirs = self.way(wish.leaf, unit.pool), self.way(unit.wish.leaf, unit.pool)
        level = next(at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1])
        return [mine[level], *theirs[level:]]

    def way(self, leaf: str, pool: str) -> list[str]:
        """From below a pool's owner down to a leaf."""
        return [path for path in reversed(self.above(leaf)) if path != pool and self.is_below(path, pool)]

    # Victim order

    def first_victim(self, able: list[Unit], picked: list[Unit]) -> Unit:
        """Of the outermost pool; lowest priority, largest usage / ratio, last in plan order; then by `victims`."""
        pool = next(each for each in reversed(self.pools()) if any(unit.pool == each for unit in able))
        able, path = [unit for unit in able if unit.pool == pool], pool
        while children := [
            each for each in self.children(path) if any(self.is_below(unit.wish.leaf, each) for unit in able)
        ]:
            path = max(children, key=lambda each: (*self.surplus(each, pool, picked), self.tree.index(each)))
        able = [unit for unit in able if unit.wish.leaf == path]
        return max(
            able,
            key=lambda unit: (
                not self.breaks(unit, picked),
                *self.youth(unit),
                list(self.wishes).index(unit.wish.id),
                unit.wish.units.index(unit),
            ),
        )

    def breaks(self, unit: Unit, picked: list[Unit]) -> bool:
        """Whether its gang falls below its minimum without a unit."""
        noticed = {notice.unit for notice in self.notices}
        stays = [each for each in unit.wish.units if each not in noticed and each not in picked]
        return len(stays) - 1 < unit.wish.least

    def surplus(self, path: str, pool: str, picked: list[Unit]) -> tuple[int, Fraction]:
        used = self.moved(path, pool, picked)
        return -self.priority(path), used / self.ratio(path) if self.ratio(path) else ENDLESS

    def overuse(self, unit: Unit, picked: list[Unit]) -> list[Fraction]:
        """The outermost pool first; then level by level the share priority and usage / ratio."""
        found = [Fraction(self.pools().index(unit.pool))]
        for path in self.way(unit.wish.leaf, unit.pool):
            found += [Fraction(each) for each in self.surplus(path, unit.pool, picked)]
        return found

    def youth(self, unit: Unit) -> tuple[str | float, ...]:
        """Larger goes first."""
        priority, submitted, _ = unit.wish.order
        young = int(submitted[14:16]), instant(unit.started or self.now)
        way = self.settings.get("victims", "youngest")
        return (-young[0], -young[1]) if way == "oldest" else young if way == "youngest" else (priority, *young)


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
