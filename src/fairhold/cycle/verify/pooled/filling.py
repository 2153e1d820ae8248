"""Idle resource goes out unit by unit: of a leaf's own, and of a pool (SPEC §6.5, R-TURN-1, R-TAKE-4)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.lending import usable
from fairhold.cycle.verify.pooled.owners import workload
from fairhold.cycle.verify.pooled.siting import able_hosts, packs, will_do, wish
from fairhold.cycle.verify.pooled.stock import fits_in, gone, put
from fairhold.cycle.verify.pooled.terms import OWN
from fairhold.cycle.verify.pooled.usage import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.limits import Used
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit
    from fairhold.cycle.verify.pooled.terms import Terms
    from fairhold.cycle.verify.pooled.usage import By

    Waits = Callable[[Asked], int]


def next_leaf(terms: Terms, pool: str, leaves: Collection[str], usage: By) -> str | None:
    """Whose turn it is: the best share priority, the smallest usage / ratio, plan order; None = nobody is left."""
    path = pool
    able = {above for leaf in leaves if terms.takes_part(pool, leaf) for above in terms.up[leaf]}
    while terms.children[path]:
        members = [child for child in terms.children[path] if child in able]
        if not members:
            return None
        weighed = {each: Fraction(usage.get(each, 0)) / terms.ratio[each] for each in members}
        path = min(members, key=lambda each: (-terms.priority[each], weighed[each], terms.place[each]))
    return path


class Filling:
    """Places units on what is idle at one level.

    level      : a pool, or a leaf for what it owns
    preference : of own parcels, None = any
    """

    def __init__(self, stock: Stock, level: str, used: Used, preference: int | None = None) -> None:
        self.stock, self.level, self.used, self.preference = stock, level, used, preference

    def _parcels(self, host: Host, asked: Asked) -> list[Parcel]:
        found = usable(self.stock.terms, host, asked.leaf, self.level)
        return [each for each in found if self.preference in {None, each.preference}]

    def _host(self, asked: Asked, hosts: Iterable[Host]) -> Host | None:
        """The host for one more unit (R-PLACE-1, R-PLACE-2, R-HOSTS-1)."""
        able: Iterator[Host] = (host for host in able_hosts(asked, hosts) if fits_in(asked, self._parcels(host, asked)))
        packing = self.stock.terms.settings.packing
        if packing == "exclusive":
            able = (host for host in able if all(unit.asked.leaf == asked.leaf for unit in host.units))
        if packing == "balanced":
            return min(able, key=lambda host: (wish(asked, host), workload(host), host.place), default=None)
        return next(able, None)

    def _is_own(self, asked: Asked, host: Host) -> bool:
        """Whether a unit will stand on what its own leaf owns (R-TAKE-4)."""
        return fits_in(asked, [each for each in self._parcels(host, asked) if each.owner == asked.leaf])

    def _host_of_own(self, asked: Asked, hosts: Iterable[Host]) -> Host | None:
        """For a gang in a pool, the first host on which leftovers of its own are enough."""
        if not asked.model.min_count or self.level == asked.leaf:
            return None
        able = (host for host in hosts if will_do(asked, host) and self._is_own(asked, host))
        if self.stock.terms.settings.packing == "exclusive":
            able = (host for host in able if all(unit.asked.leaf == asked.leaf for unit in host.units))
        return next(able, None)

    def put(self, asked: Asked, units: int) -> list[Unit]:
        """Place all of so many units, or none."""
        hosts = list(self.stock.hosts.values())
        tries = [[host] for host in able_hosts(asked, hosts)] if packs(asked) else [hosts]
        return next((placed for some in tries if (placed := self._put_on(asked, units, some))), [])

    def _put_on(self, asked: Asked, units: int, hosts: list[Host]) -> list[Unit]:
        placed: list[Unit] = []
        before: list[tuple[Parcel, Amounts, dict[str, Amounts]]] = []
        for _ in range(units):
            host = self._host_of_own(asked, hosts) or self._host(asked, hosts)
            is_right = host is not None and (self.used.allow_beside_others(asked) or self._is_own(asked, host))
            if host is None or not is_right:
                self._undo(placed, before)
                return []
            before += [(parcel, parcel.idle, dict(parcel.kept)) for parcel in host.parcels]
            unit = put(self.stock, asked, host, self.level, self._parcels(host, asked))
            if {parcel.owner for parcel in unit.books} == {asked.leaf}:
                unit.pool = OWN
            else:
                self.used.add(asked)
            placed.append(unit)
        return placed

    def _undo(self, placed: list[Unit], before: list[tuple[Parcel, Amounts, dict[str, Amounts]]]) -> None:
        """Take the units of a gang away again; what was kept for it is kept again."""
        for unit in placed:
            if unit.pool != OWN:
                self.used.add(unit.asked, -1)
            gone(unit)
        for parcel, idle, kept in reversed(before):
            parcel.idle, parcel.kept = idle, kept

    def one(self, line: list[Asked], waits: Waits) -> list[Unit]:
        """Place the next unit of a line, or a gang's missing ones; who cannot is left out from now on."""
        while line:
            asked = line[0]
            units = asked.missing or 1
            placed = self.put(asked, units) if units <= waits(asked) else []
            if placed:
                return placed
            line.pop(0)
        return []


def fill_own(stock: Stock, leaf: str, preference: int, used: Used, waits: Waits) -> list[Unit]:
    """A leaf fills what it owns of one preference (R-SWEEP-1)."""
    filling = Filling(stock, leaf, used, preference)
    line = [asked for asked in stock.of(leaf) if waits(asked)]
    placed: list[Unit] = []
    while new := filling.one(line, waits):
        placed += new
    return placed


def fill_pool(stock: Stock, path: str, used: Used, waits: Waits) -> list[Unit]:
    """What is idle in a pool goes out; units in the order of placing."""
    pool, filling, terms = Pool(stock, path), Filling(stock, path, used), stock.terms
    lines = {
        leaf: [asked for asked in stock.of(leaf) if waits(asked) and pool.size[asked.id]]
        for leaf in terms.leaves
        if path in terms.up[leaf]
    }
    placed: list[Unit] = []
    while (leaf := next_leaf(terms, path, [each for each, line in lines.items() if line], pool.usage)) is not None:
        for unit in filling.one(lines[leaf], waits):
            placed.append(unit)
            if unit.pool == path:
                pool.came(unit.asked)
    return placed
