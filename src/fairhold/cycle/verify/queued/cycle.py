"""One cycle of queues, recomputed: idle resource, then what is taken back (R-SERVE-1 to R-CONTEST-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import scaled
from fairhold.cycle.verify.pooled.coming import Coming
from fairhold.cycle.verify.pooled.filling import Filling
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.terms import TOP
from fairhold.cycle.verify.queued.gates import Gates
from fairhold.cycle.verify.queued.held import hand_out
from fairhold.cycle.verify.queued.order import part
from fairhold.cycle.verify.queued.spared import Spared
from fairhold.cycle.verify.queued.taking import Taking

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cycle.verify.pooled.controls import Restraint
    from fairhold.cycle.verify.pooled.stock import Asked, Stock, Unit
    from fairhold.cycle.verify.queued.order import Pair
    from fairhold.cycle.verify.queued.table import Table


MOST_ROUNDS = 20


class Queued:
    """The decision of a cycle."""

    def __init__(self, stock: Stock, table: Table, restraint: Restraint) -> None:
        self.stock, self.table, self.restraint = stock, table, restraint
        self.placed: list[Unit] = []
        self.noticed: list[Unit] = []
        self.withdrawn: list[Unit] = []
        self.pairs: dict[Unit, Pair] = {}
        self.coming = Coming(stock, self._may_stay if stock.terms.limit else None, is_exact=True)
        self.gates = Gates(stock, table)
        self._stay([unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is None])
        self._keep_places()
        self.is_over = False
        self.gates.count_coming(self.coming.beside_moves())
        self.placed += hand_out(stock, self.coming, self.gates)
        stock.sure.update(self.placed)
        for _ in range(MOST_ROUNDS):
            is_idle = True
            self.gates.count_coming(self.coming.beside_moves())
            while is_idle:
                self._count()
                self._serve()
                is_any, is_idle = self._withdraw()
                is_idle |= is_any and any(asked.model.min_count and asked.waiting for asked in stock.asked.values())
                is_idle |= self.gates.count_coming(self.coming.beside_moves())
            self._count()
            self._take_back()
            is_lost = self._lost_some()
            is_open = any([*self._withdraw(), self._keep_places(), is_lost])
            spared = Spared(stock, table, self.coming, self.noticed, self.pairs)
            self.is_over = not is_open and not spared.spare(self._stay)
            if self.is_over:
                break
        self.restraint.gone -= self.stock.keep_told(self.noticed, self.withdrawn)

    def _count(self) -> None:
        self.table.clear()
        for asked in self.stock.asked.values():
            stays = sum(unit.notice is None for unit in asked.units)
            self.table.came(asked, stays + asked.away.total() + self.coming.units(asked))

    # --- what is idle

    def _serve(self) -> None:
        filling = Filling(self.stock, TOP, self.gates)
        left = {asked: max(0, self.coming.units(asked) - asked.moving) for asked in self.stock.asked.values()}
        waiting = {asked for asked in self.stock.asked.values() if asked.waiting}
        while waiting:
            asked = self._next(waiting, lambda each: each.missing or 1)
            units = asked.missing or 1
            new = filling.put(asked, units) if units <= asked.waiting else []
            known = min(left[asked], len(new))
            left[asked] -= known
            self.table.came(asked, len(new) - known)
            self.placed += new
            if not new or not asked.waiting:
                waiting.discard(asked)

    def _next(self, waiting: set[Asked], units: Callable[[Asked], int]) -> Asked:
        """The queue that is served next, found from the top down (R-SERVE-1)."""
        first: dict[str, tuple[tuple[object, ...], Asked]] = {}
        for asked in sorted(waiting, key=lambda each: each.place, reverse=True):
            mine = (-asked.model.priority, not asked.missing, asked.model.submitted, asked.id)
            if asked.leaf not in first or mine < first[asked.leaf][0]:
                first[asked.leaf] = mine, asked

        def best(path: str) -> Asked | None:
            if not self.table.queues[path].children:
                return first[path][1] if path in first else None
            able = [(child, each) for child in self.table.queues[path].children if (each := best(child))]
            return min(able, key=lambda each: self._turn(each[0], each[1], units(each[1])))[1] if able else None

        found = best(TOP)
        assert found is not None
        return found

    def _turn(self, path: str, asked: Asked, units: int) -> tuple[object, ...]:
        table, need = self.table, scaled(asked.unit, units)
        wanted = [at for at in table.width if need[at]]
        return (
            any(table.held[at][path] > table.fair[at][path] for at in wanted),
            any(table.held[at][path] + need[at] > table.deserves(path, at) for at in wanted),
            -table.queues[path].priority,
            max(part(table.held[at][path] + need[at], table.threshold(path, at)) for at in table.width),
            max(part(table.held[at][path], table.threshold(path, at)) for at in table.width),
            table.queues[path].place,
        )

    # --- what nobody needs

    def _withdraw(self) -> tuple[bool, bool]:
        found, is_idle = self.coming.withdraw()
        self._stay(found)
        new = {unit.asked for unit in self.placed}
        in_order = [each for each in self.coming.to if each in new]
        order = in_order[::-1] + [each for each in self.coming.to if each not in new][::-1]
        for asked in order if self.stock.terms.limit else ():
            while self.coming.shared()[asked] and not self._as_moved().allow(asked, 0):
                more, is_more_idle = self.coming.lower_shared(asked)
                self._stay(more)
                found, is_idle = found + more, is_idle or is_more_idle
        return bool(found), is_idle

    def _lost_some(self) -> bool:
        """Remove grants that were taken back in the same cycle; returns whether there were any (R-SWEEP-3)."""
        stay = [unit for unit in self.placed if unit in unit.asked.units]
        for unit in self.placed:
            if unit not in unit.asked.units:
                self.gates.add(unit.asked, -1)
        is_any = len(stay) < len(self.placed)
        self.placed[:] = stay
        return is_any

    def _as_moved(self) -> Used:
        used = Used(self.stock, (unit for unit in self.stock.units() if unit.notice is None))
        used.count_coming(self.coming.shared())
        return used

    def _may_stay(self, units: list[Unit]) -> bool:
        """Whether units under notice are not needed to keep a limit that holds without them."""
        used = self._as_moved()
        if not all(used.allow(unit.asked, 0) for unit in units):
            return True
        for unit in units:
            used.add(unit.asked)
        return all(used.allow(unit.asked, 0) for unit in units)

    def _keep_places(self) -> bool:
        found = self.coming.keep_places()
        self._stay(found)
        return bool(found)

    def _stay(self, units: list[Unit]) -> None:
        self.withdrawn += self.stock.told_before(units)
        stay = [unit for unit in self.noticed if unit not in units]
        self.restraint.gone -= len(self.noticed) - len(stay)
        self.noticed[:] = stay
        for unit in units:
            unit.notice = None

    # --- what is taken back

    def _take_back(self) -> None:
        """Take between queues, then inside them, until no request takes any more (R-CONTEST-4, R-CONTEST-5)."""
        taking = Taking(self.stock, self.table, self.restraint, self.coming, self.noticed, self.pairs)
        before = -1
        while len(self.noticed) != before:
            before = len(self.noticed)
            for is_inside in (False, True):
                waiting = {asked for asked in self.stock.asked.values() if taking.wants(asked)}
                while waiting:
                    asked = self._next(waiting, taking.wants)
                    # A gang that is told to go whole meanwhile wants nothing any more.
                    is_open = (
                        taking.wants(asked) > 0 and self.restraint.allows(asked.leaf) and not self._is_early(asked)
                    )
                    if not (is_open and taking.take(asked, is_inside=is_inside) and taking.wants(asked)):
                        waiting.discard(asked)

    def _is_early(self, asked: Asked) -> bool:
        since = asked.model.submitted if asked.model.since is None else asked.model.since
        delay = self.table.queues[asked.leaf].delay
        return bool(delay) and since + delay > self.stock.now
