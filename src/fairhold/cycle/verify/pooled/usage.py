"""Usage, usage demand and usage quota in a pool, as fractions of its capacity (R-USAGE-1 to R-USAGE-4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import summed
from fairhold.cycle.verify.pooled.lending import capacities, parts
from fairhold.cycle.verify.pooled.siting import most_units
from fairhold.cycle.verify.pooled.terms import OWN, TOP
from fairhold.reference.filling import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from fairhold.cycle.verify.pooled.stock import Asked, Stock

By = dict[str, Fraction]
"""Path → part of the pool."""


class Pool:
    """The usage of one pool now.

    has   : total resources of the pool, read on use
    size  : request → what one unit counts, 0 where none fits
    here  : request → units in the pool
    usage : path → with what is under notice; moved: path → without it, and with what is on its way
    """

    def __init__(self, stock: Stock, path: str, *, takes_back: bool = False) -> None:
        self.stock, self.path, self.terms = stock, path, stock.terms
        self.members = [asked for leaf in self.terms.leaves if path in self.terms.up[leaf] for asked in stock.of(leaf)]
        self.has = summed(parts(stock, path), stock.terms.width)
        self.capacity = capacities(stock, path, [asked.unit for asked in self.members], takes_back=takes_back)
        self.size = {
            asked.id: Fraction(1, fit) if (fit := self.capacity[asked.unit]) else Fraction(0) for asked in self.members
        }
        self.here: Counter[str] = Counter()
        self.usage: By = defaultdict(Fraction)
        self.moved: By = defaultdict(Fraction)
        self.demand: By = {}
        self.quota: By = {}
        for asked in self.members:
            mine = [unit for unit in asked.units if unit.pool == path]
            self.here[asked.id] = len(mine) + asked.away[path]
            self.count(self.usage, asked, self.here[asked.id])
            self.count(self.moved, asked, asked.away[path] + sum(unit.notice is None for unit in mine))

    def count(self, column: By, asked: Asked, units: int) -> None:
        """Add units of a request to the usage of its leaf and of all ancestors below the pool; may be negative."""
        if asked.id in self.size and units:
            for path in [*self.terms.down(self.path, asked.leaf), self.path]:
                column[path] += self.size[asked.id] * units

    def came(self, asked: Asked) -> None:
        """Count a unit that was placed in the pool."""
        self.here[asked.id] += 1
        self.count(self.usage, asked, 1)
        self.count(self.moved, asked, 1)

    def divide(self, waiting: Callable[[Asked], int]) -> None:
        """Work out demands and quotas.

        waiting : units of a request that are on their way to it here, or that it waits for
        """
        room = {
            asked: max(0, most_units(self.stock, self.path, asked) - self.here[asked.id])
            for asked in self.members
            if any(asked.model.siting)
        }
        counted = {asked: min(waiting(asked), room.get(asked, waiting(asked))) for asked in self.members}
        self.demand = {}
        self._want(self.path, counted.__getitem__)
        self.quota = {self.path: self.usage[self.path]}
        self._share(self.path)

    def _want(self, path: str, waiting: Callable[[Asked], int]) -> Fraction:
        terms, children = self.terms, self.terms.children[path]
        if children:
            wants = {child: self._want(child, waiting) for child in children}
            want = sum((each for child, each in wants.items() if terms.ratio[child]), Fraction(0))
            if path in terms.limit:
                want = min(want, self._counted(path, (), waiting))
        else:
            mine = [asked for asked in self.stock.of(path) if self.size[asked.id]]
            want = sum((self._wanted(asked, waiting(asked)) for asked in mine), Fraction(0))
            want = min(want, self._counted(path, terms.up[path], waiting))
        self.demand[path] = want
        return want

    def _wanted(self, asked: Asked, waiting: int) -> Fraction:
        usage = self.here[asked.id] * self.size[asked.id]
        return max(usage, min(Fraction(1), usage + waiting * self.size[asked.id]))

    def _counted(self, path: str, above: Collection[str], waiting: Callable[[Asked], int]) -> Fraction:
        """The demand of a consumer that fits under the limits inside it and under given limits above it (R-LIMIT-2).

        First its units in other share pools count, then units held here, then units it waits for. Consumers of ratio 0
        below it do not count, and their waiting units take no room.
        """
        terms, room = self.terms, {name: dict(most) for name, most in self.terms.limit.items()}
        mine = [asked for asked in self.members if path in terms.up[asked.leaf]]
        inside = {asked.leaf: terms.down(path, asked.leaf) for asked in mine}
        counts = {leaf for leaf, names in inside.items() if all(terms.ratio[name] for name in names)}

        def take(asked: Asked, wanted: int, *, is_all: bool = False) -> int:
            limits = [room[name] for name in {path, *inside[asked.leaf], *above} if name in room]
            fit = [max(0, each[at]) // asked.unit[at] for each in limits for at in each if asked.unit[at]]
            units = wanted if is_all else min([wanted, *fit])
            for each in limits:
                for at in each:
                    each[at] -= units * asked.unit[at]
            return units

        for asked in mine:
            elsewhere = sum(unit.pool not in {OWN, self.path} for unit in asked.units)
            elsewhere += sum(units for pool, units in asked.away.items() if pool not in {OWN, self.path})
            take(asked, elsewhere, is_all=True)
        mine = [asked for asked in mine if self.size[asked.id]]
        mine.sort(key=lambda each: (terms.order[each.leaf], each.turn))
        able = [asked for asked in mine if asked.leaf in counts]
        here = {asked.id: take(asked, self.here[asked.id]) for asked in mine}
        more = {asked.id: take(asked, waiting(asked)) for asked in able}
        parts = (min(Fraction(1), (here[each.id] + more[each.id]) * self.size[each.id]) for each in able)
        return sum(parts, Fraction(0))

    def _share(self, path: str) -> None:
        """Divide a quota among children: the highest share priority first, within one by ratio, up to the demands."""
        left, terms = self.quota[path], self.terms
        for priority in sorted({terms.priority[child] for child in terms.children[path]}, reverse=True):
            band = [child for child in terms.children[path] if terms.priority[child] == priority]
            rows = {
                child: (terms.ratio[child], Fraction(0), self.demand[child] if terms.ratio[child] else Fraction(0))
                for child in band
            }
            self.quota |= fill(left, *({name: row[at] for name, row in rows.items()} for at in range(3)))
            left -= sum((self.quota[child] for child in band), Fraction(0))
        for child in terms.children[path]:
            self._share(child)

    def planned(self, top: Collection[str]) -> dict[str, tuple[Fraction, ...]]:
        """Path → its part by share ratios alone, at most the share limits on its way (R-USAGE-4).

        top : first-level consumers that take part
        """
        has = tuple(Fraction(each) for each in self.has)
        found: dict[str, tuple[Fraction, ...]] = {}

        def give(path: str, part: Fraction, most: Iterable[Fraction]) -> None:
            limit = self.terms.limit.get(path, {})
            mine = [min(part * each, cap) for each, cap in zip(has, most, strict=True)]
            found[path] = tuple(min(each, Fraction(limit.get(at, each))) for at, each in enumerate(mine))
            below = [child for child in self.terms.children[path] if path != TOP or child in top]
            ratios = sum(self.terms.ratio[child] for child in below)
            for child in below:
                give(child, part * self.terms.ratio[child] / ratios if ratios else Fraction(0), found[path])

        give(self.path, Fraction(1), has)
        return found
