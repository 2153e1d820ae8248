"""Grants idle resources unit by unit: a leaf's own, and those of a pool (SPEC §6.5, R-TURN-1, R-TAKE-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.lending import usable
from fairhold.cycle.verify.pooled.seeking import Seeking
from fairhold.cycle.verify.pooled.siting import able_hosts, leaves_on, packs, will_do
from fairhold.cycle.verify.pooled.stock import fits_in, gone, kept_before, put
from fairhold.cycle.verify.pooled.terms import OWN
from fairhold.cycle.verify.pooled.turns import Turns
from fairhold.cycle.verify.pooled.usage import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.limits import Used
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit

    Waits = Callable[[Asked], int]


class Filling:
    """Places units on idle resources at one level.

    level      : a pool, or a leaf for what it owns
    preference : of own parcels, None = any
    """

    def __init__(self, stock: Stock, level: str, used: Used, preference: int | None = None) -> None:
        self.stock, self.level, self.used, self.preference = stock, level, used, preference
        hosts = stock.owned.get(level, []) if preference is not None else stock.hosts.values()
        self.seeking = Seeking(stock, level, (host for host in hosts if not host.is_closed), preference)

    def _parcels(self, host: Host, asked: Asked) -> list[Parcel]:
        found = usable(self.stock.terms, host, asked.leaf, self.level)
        return [each for each in found if self.preference in {None, each.preference}]

    def _host(self, asked: Asked, only: Host | None) -> Host | None:
        """The host for one more unit (R-PLACE-1, R-PLACE-2, R-HOSTS-1)."""
        if only is None:
            return self.seeking.first(asked)
        return only if self.seeking.has_room(asked, only) else None

    def _is_own(self, asked: Asked, host: Host) -> bool:
        """Whether a unit will be on parcels of its own leaf (R-TAKE-4)."""
        return fits_in(asked, [each for each in self._parcels(host, asked) if each.owner == asked.leaf])

    def _host_of_own(self, asked: Asked, only: Host | None) -> Host | None:
        """The first host on which a gang's own remaining parcels suffice for a unit in a pool."""
        if not asked.model.min_count or self.level == asked.leaf:
            return None
        mine = (host for host in self.stock.owned.get(asked.leaf, ()) if only in {None, host} and not host.is_closed)
        able = (host for host in mine if will_do(asked, host) and self._is_own(asked, host))
        if self.stock.terms.settings.packing == "exclusive":
            able = (host for host in able if leaves_on(self.stock, host) <= {asked.leaf})
        return min(able, key=lambda host: self.seeking.key(asked, host), default=None)

    def put(self, asked: Asked, units: int) -> list[Unit]:
        """Place a number of units, or none."""
        self.seeking.line(asked)  # as it is before a unit is placed, which may be taken away again
        tries: Iterable[Host | None] = [None]
        if packs(asked):
            hosts = sorted(able_hosts(asked, self.seeking.hosts), key=lambda host: self.seeking.key(asked, host))
            has = [host for host in hosts if any(asked.id in parcel.kept for parcel in host.parcels)]
            tries = [*has, *(host for host in hosts if host not in has)]
        return next((placed for only in tries if (placed := self._put_on(asked, units, only))), [])

    def _put_on(self, asked: Asked, units: int, only: Host | None) -> list[Unit]:
        placed: list[Unit] = []
        before: list[tuple[Parcel, Amounts, dict[str, Amounts]]] = []
        is_sure = False
        for _ in range(units):
            host = self._host_of_own(asked, only) or self._host(asked, only)
            is_right = host is not None and (self.used.allow_beside_others(asked) or self._is_own(asked, host))
            if host is None or not is_right:
                if placed:
                    self._undo(placed, before)
                return []
            before += [(parcel, parcel.idle, dict(parcel.kept)) for parcel in host.parcels]
            kept = kept_before(self.stock, asked, host)
            unit = put(self.stock, asked, host, self.level, self._parcels(host, asked))
            is_sure |= kept_before(self.stock, asked, host) != kept
            if {parcel.owner for parcel in unit.books} == {asked.leaf}:
                unit.pool = OWN
            else:
                self.used.add(asked)
            placed.append(unit)
            self.seeking.changed(asked, [host])
        self.stock.sure.update(placed if is_sure else ())
        return placed

    def _undo(self, placed: list[Unit], before: list[tuple[Parcel, Amounts, dict[str, Amounts]]]) -> None:
        """Remove the placed units of a gang; hold again the space that was held for it."""
        for unit in placed:
            if unit.pool != OWN:
                self.used.add(unit.asked, -1)
            gone(unit)
        for parcel, idle, kept in reversed(before):
            parcel.idle, parcel.kept = idle, kept
        self.seeking.changed(placed[0].asked, dict.fromkeys(unit.host for unit in placed), is_back=True)

    def one(self, line: list[Asked], waits: Waits) -> list[Unit]:
        """Place the next unit of a line, or a gang's missing ones; requests that do not fit are left out later."""
        while line:
            asked = line[0]
            units = asked.missing or 1
            placed = self.put(asked, units) if units <= waits(asked) else []
            if placed:
                return placed
            line.pop(0)
        return []


def fill_own(stock: Stock, leaf: str, preference: int, used: Used, waits: Waits) -> list[Unit]:
    """Grant a leaf its own idle parcels of one preference (R-SWEEP-1)."""
    line = [asked for asked in stock.of(leaf) if waits(asked)]
    filling = Filling(stock, leaf, used, preference)
    placed: list[Unit] = []
    while new := filling.one(line, waits):
        placed += new
    return placed


def fill_pool(stock: Stock, path: str, used: Used, waits: Waits) -> list[Unit]:
    """Grant the idle resources of a pool; returns units in the order of placing."""
    pool, filling, terms = Pool(stock, path), Filling(stock, path, used), stock.terms
    lines = {
        leaf: [asked for asked in stock.of(leaf) if waits(asked) and pool.size[asked.id]]
        for leaf in terms.leaves
        if path in terms.up[leaf]
    }
    turns = Turns(terms, path, [leaf for leaf, line in lines.items() if line], pool.usage)
    placed: list[Unit] = []
    while (leaf := turns.next()) is not None:
        new = filling.one(lines[leaf], waits)
        for unit in new:
            placed.append(unit)
            if unit.pool == path:
                pool.came(unit.asked)
        if lines[leaf]:
            turns.moved(leaf)
        else:
            turns.drop(leaf)
    return placed
