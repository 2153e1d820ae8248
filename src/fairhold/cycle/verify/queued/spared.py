"""Notices of a cycle that are not needed in the end, recomputed (R-CONTEST-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import excess, fits, plus, scaled, summed
from fairhold.cycle.verify.pooled.coming import is_stopping
from fairhold.cycle.verify.pooled.stock import keep, kept_on
from fairhold.cycle.verify.queued.order import ends_in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit
    from fairhold.cycle.verify.queued.order import Pair
    from fairhold.cycle.verify.queued.table import Table


class Spared:
    """Units that got notice in this cycle, checked from the last to the first.

    pairs : unit told for another queue → the two sides, and what has to hold of them
    """

    def __init__(
        self, stock: Stock, table: Table, coming: Coming, noticed: list[Unit], pairs: dict[Unit, Pair]
    ) -> None:
        self.stock, self.table, self.coming, self.noticed, self.pairs = stock, table, coming, noticed, pairs

    def spare(self, stay: Callable[[list[Unit]], None]) -> bool:
        """Withdraw the notices that are not needed; returns whether there were any."""
        is_any = False
        told = {unit: unit.notice.at for unit in self.noticed if unit.notice is not None}
        for unit in sorted(told, key=lambda each: -told[each]):
            whole = _whole(unit)
            last = max(each.notice.at if each.notice is not None else 0 for each in whole)
            if last == told[unit] and set(whole) <= set(self.noticed) and self._is_needless(whole):
                self._do_without(whole)
                stay(whole)
                is_any = True
        return is_any

    def _is_needless(self, units: list[Unit]) -> bool:
        coming = self.coming
        if coming.is_exclusive and any(coming.comers(unit.host) - {unit.asked.leaf} for unit in units):
            return False
        if coming.may_stay is not None and not coming.may_stay(units):
            return False
        for host in {unit.host for unit in units}:
            takers = {unit.notice.taker for unit in units if unit.host is host and unit.notice is not None}
            lacks = [self._lacks(taker, host, units) for taker in takers if taker is not None]
            idle = summed((parcel.idle for parcel in host.parcels), self.stock.terms.width)
            if not fits(summed(lacks, self.stock.terms.width), idle):
                return False
        return self._stay_in_order(units)

    def _lacks(self, taker: Asked, host: Host, without: Collection[Unit]) -> Amounts:
        """Idle resources that units on their way would need if some victims stayed."""
        way = self.coming.to[taker][host]
        width = self.stock.terms.width
        freed = summed((unit.asked.unit for unit in way.goes if unit not in without), width)
        return excess(scaled(taker.unit, way.units), plus(freed, kept_on(taker.id, host, width)))

    def _stay_in_order(self, units: list[Unit]) -> bool:
        """Whether nothing that holds of a take between queues is lost when these count again (R-CONTEST-1, -2)."""
        table, leaf = self.table, units[0].asked.leaf
        others = [unit for unit in self.noticed if unit in self.pairs and unit not in units]
        before = self._unkept(others, leaf)
        for unit in units:
            table.came(unit.asked, 1)
        after = self._unkept(others, leaf)
        for unit in units:
            table.came(unit.asked, -1)
        return after <= before

    def _unkept(self, units: list[Unit], leaf: str) -> set[object]:
        """What is not kept as all stand: of takers of a leaf its fair share, and what their sides have to keep."""
        table = self.table
        found: set[object] = set()
        for unit in units:
            taker = unit.notice.taker if unit.notice is not None else None
            if taker is not None and taker.leaf == leaf:
                asked = [at for at in table.width if taker.unit[at]]
                found |= {(taker.leaf, at) for at in asked if table.held[at][leaf] > table.fair[at][leaf]}
        pairs = {self.pairs[unit] for unit in units}
        return found | {(pair, at) for pair in pairs for at in pair.short if not ends_in_order(table, pair, at)}

    def _do_without(self, units: list[Unit]) -> None:
        for unit in units:
            taker = unit.notice.taker if unit.notice is not None else None
            assert taker is not None
            self.coming.to[taker][unit.host].goes.remove(unit)
            self.table.came(unit.asked, 1)
        for taker, host in {(unit.notice.taker, unit.host) for unit in units if unit.notice is not None}:
            assert taker is not None
            need = scaled(taker.unit, self.coming.to[taker][host].units)
            keep(taker.id, host, host.parcels, excess(need, self.coming.freed(taker, host)))


def _whole(unit: Unit) -> list[Unit]:
    """The units that go or stay with a unit: all units of a gang that stops or moves."""
    gang = unit.asked
    if gang.model.min_count < 2:
        return [unit]
    if is_stopping(gang):
        return list(gang.units)
    moves = [each for each in gang.units if each.notice is not None and each.notice.reason == "consolidation"]
    return moves if unit in moves else [unit]
