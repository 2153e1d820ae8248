"""The second sweep: who takes from whom, and which units go (R-CONTEST-1 to R-CONTEST-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.state import CONSOLIDATION
from fairhold.reference.queues.cluster import Told, pieces_of
from fairhold.reference.queues.contest import (
    FAIR,
    QUOTA,
    Quest,
    is_within_share,
    keeps_order,
    may_give,
    pair_of,
    pairs,
)
from fairhold.reference.queues.moving import Moves
from fairhold.reference.queues.trimming import count_as_moved
from fairhold.reference.vectors import times, total_of, units_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairhold.model.vector import Vector
    from fairhold.reference.queues.cluster import Ask, Cluster, Piece, Unit
    from fairhold.reference.queues.contest import Pair
    from fairhold.reference.queues.restraint import Restraint
    from fairhold.reference.queues.serving import Serving
    from fairhold.reference.queues.siting import Siting
    from fairhold.reference.queues.table import Table


class Taking:
    """Takes for one request after the other.

    asked_for : unit that this cycle takes from another queue → for what, and the sides that were compared
    """

    def __init__(  # noqa: PLR0917 - what it works with
        self, cluster: Cluster, table: Table, siting: Siting, serving: Serving, restraint: Restraint, earliest: int
    ) -> None:
        """Of a cycle. earliest : before it no grace ends (R-WINDOW-3)."""
        self.restraint, self.earliest = restraint, earliest
        self.cluster, self.table, self.siting, self.serving = cluster, table, siting, serving
        self.asked_for: dict[Unit, tuple[Quest, Pair]] = {}

    # What is asked for

    def wants(self, ask: Ask) -> int:
        """Units that are taken for at once: all that a gang misses, else one."""
        cluster = self.cluster
        if self.cluster.moving(ask) or not self.restraint.lets(ask.leaf):
            return 0
        way, missing = cluster.on_way(ask), cluster.missing(ask)
        if not cluster.waiting(ask):
            return 0
        return max(0, missing - way) if missing else min(1, max(0, cluster.waiting(ask) - way))

    def count(self) -> None:
        """What everybody holds, as moved."""
        count_as_moved(self.cluster, self.table)

    def hosts(self, ask: Ask) -> list[str]:
        """Hosts on which it may stand, best first; a gang that packs stays where it is and where some come."""
        found = self.cluster.suitable(ask)
        coming = [host for host, units in self.cluster.coming.get(ask, {}).items() if units]
        if ask.packs and coming:
            found = [host for host in found if host in coming]
        return self.siting.order(ask, found, packed=False)

    def is_barred(self, ask: Ask, need: Vector) -> bool:
        """R-SERVE-2: what is not preemptible only within what is deserved, what is on its way counted; R-CONTEST-4."""
        delay = self.table.nearest(ask.leaf, "preemption_delay") or 0
        if ask.request.submitted + delay > self.cluster.now:
            return True
        if ask.gives:
            return False
        fixed = [each for each in self.table.asks if not each.gives]
        for path in self.table.up(ask.leaf):
            mine = [each for each in fixed if path in self.table.up(each.leaf)]
            holds = total_of(
                (times(each.unit, self.cluster.held(each) + self.cluster.on_way(each)) for each in mine),
                self.table.width,
            )
            if any(holds[at] + need[at] > self.table.deserved(path, at) for at in ask.asked):
                return True
        return False

    def breaks_limit(self, ask: Ask, need: Vector) -> bool:
        """Whether it would break a limit on the way up."""
        table = self.table
        return any(
            table.holds[path][at] + need[at] > table.limit(path, at) for path in table.up(ask.leaf) for at in ask.asked
        )

    # Takes

    def take(self, ask: Ask, *, is_inside: bool) -> bool:
        """For one unit, or all that a gang misses; returns whether they are on their way now."""
        units = self.wants(ask)
        need = times(ask.unit, units)
        if not units or self.is_barred(ask, need):
            return False
        if self._from_freed(ask, units, is_inside=is_inside):
            return True
        if is_inside:
            return self._from_own(ask, units)
        return self._by_moves(ask, units) or self._from_others(ask, units)

    def _from_freed(self, ask: Ask, units: int, *, is_inside: bool) -> bool:
        """R-CONTEST-4: what goes for it leaves room for more of its units."""
        if self.breaks_limit(ask, times(ask.unit, units)):
            return False
        hosts = [host for host in self.hosts(ask) if self.cluster.going(ask, host)]
        if not is_within_share(self.table, ask, times(ask.unit, units)):
            hosts = [host for host in hosts if is_inside and self._is_of_own(ask, host)]
        rooms = {host: self.room(ask, host, ()) for host in hosts}
        if (max if ask.packs else sum)([0, *rooms.values()]) < units:
            return False
        goes = [unit for unit in self.cluster.units if unit.told is not None and unit.told.taker is ask]
        self._bring(ask, units, rooms, sorted(goes, key=lambda each: each.told.serial if each.told else 0))
        return True

    def _is_of_own(self, ask: Ask, host: str) -> bool:
        """R-CONTEST-5: whether all units that go for it on a host are of its queue."""
        return {unit.ask.leaf for unit in self.cluster.going(ask, host)} == {ask.leaf}

    def _by_moves(self, ask: Ask, units: int) -> bool:
        """R-CONTEST-6: others move to hosts where places are held for them, if that is switched on and enough."""
        if not self.table.settings.consolidation or self.breaks_limit(ask, times(ask.unit, units)):
            return False
        steps = Moves(self.cluster, self.siting, ask, units, self._may_move).find(self.hosts(ask))
        if steps is None or not steps.places or not self.restraint.count(len(steps.places)):
            return False
        rooms = steps.rooms(self.hosts(ask))
        for unit in steps.places:
            self.tell(unit, ask, CONSOLIDATION)
        for unit, place in steps.places.items():
            self.cluster.bring(unit.ask, place, 1)
        self._bring(ask, units, rooms, list(steps.places))
        return True

    def _may_move(self, taker: Ask, unit: Unit) -> bool:
        """Whether it is preemptible and has run long enough."""
        if unit.ask.leaf == taker.leaf:
            least = self.table.nearest(taker.leaf, "preempt_min_runtime")
            return not self._is_young((unit,), least, longer=False)
        side = pair_of(self.table, taker.leaf, unit.ask.leaf)[1]
        return not self._is_young((unit,), self.table.nearest(side, "reclaim_min_runtime"), longer=True)

    def _from_others(self, ask: Ask, units: int) -> bool:
        table, need = self.table, times(ask.unit, units)
        if not is_within_share(table, ask, need):
            return False
        hosts = self.hosts(ask)
        idle = total_of((self.cluster.idle(host) for host in hosts), table.width)
        short = [at for at in ask.asked if idle[at] < need[at]] or ask.asked
        for test in (FAIR, QUOTA):
            quest = Quest(ask, need, short, test, dict(table.holds))
            able = [pair for pair in pairs(table, ask) if may_give(table, quest, pair)]
            if able and self._search(quest, able, units, None):
                return True
            if able and (units == 1 or ask.packs or self.cluster.is_exclusive):
                for host in hosts:
                    if self._search(quest, able, units, host):
                        return True
        return False

    def _search(self, quest: Quest, able: list[Pair], units: int, only: str | None) -> bool:
        """R-CONTEST-4: piece by piece what keeps the order, until the request fits; on one host where it is named."""
        table, _cluster = self.table, self.cluster
        gone: list[Piece] = []
        tried: set[Piece] = set()
        while (found := self._next(able, quest.short, tried, only)) is not None:
            pair, first = found
            tried.add(first)
            piece = first + self._broken(first[0].ask, [*gone, first])
            if self._is_young(piece, table.nearest(pair[1], "reclaim_min_runtime"), longer=True):
                continue
            if not may_give(table, quest, pair):
                continue
            self._leave(piece, -1)
            if not keeps_order(table, quest, pair, {unit.ask.leaf for unit in piece}):
                self._leave(piece, 1)
                continue
            gone.append(piece)
            if self._fits(quest.ask, units, gone):
                return self._finish(quest.ask, units, gone, lambda left: self._ends_well(quest, left), quest)
        for piece in gone:
            self._leave(piece, 1)
        return False

    def _from_own(self, ask: Ask, units: int) -> bool:
        """R-CONTEST-5."""
        gone: list[Piece] = []
        least = self.table.nearest(ask.leaf, "preempt_min_runtime")
        for first in list(self._pieces(ask.leaf, set(), None, below=ask.request.priority)):
            piece = first + self._broken(first[0].ask, [*gone, first])
            if self._is_young(piece, least, longer=False):
                continue
            self._leave(piece, -1)
            gone.append(piece)
            if self._fits(ask, units, gone):
                return self._finish(ask, units, gone, lambda _: True)
        for piece in gone:
            self._leave(piece, 1)
        return False

    def _is_young(self, piece: Piece, least: int | None, *, longer: bool) -> bool:
        """Whether some have not run for a time, or not longer than that."""
        if least is None:
            return False
        return any(self.cluster.now - unit.started < least + longer for unit in piece)

    def _leave(self, piece: Piece, sign: int) -> None:
        for unit in piece:
            self.table.came(unit.ask, sign)

    def _ends_well(self, quest: Quest, left: list[Piece]) -> bool:
        losers: dict[Pair, set[str]] = {}
        for piece in left:
            for unit in piece:
                losers.setdefault(pair_of(self.table, quest.ask.leaf, unit.ask.leaf), set()).add(unit.ask.leaf)
        return all(keeps_order(self.table, quest, pair, leaves) for pair, leaves in losers.items())

    # Pieces

    def _next(
        self, able: list[Pair], short: list[int], tried: set[Piece], only: str | None
    ) -> tuple[Pair, Piece] | None:
        """R-CONTEST-3: of the most saturated side, level by level, the lowest priority, the youngest."""

        def best(path: str) -> Piece | None:
            if not self.table.children[path]:
                return next(self._pieces(path, tried, only), None)
            below = [(child, piece) for child in self.table.children[path] if (piece := best(child))]
            return min(below, key=lambda each: self._gives(each[0], each[1], short))[1] if below else None

        sides = [(pair, piece) for pair in able if (piece := best(pair[1]))]
        return min(sides, key=lambda each: self._gives(each[0][1], each[1], short), default=None)

    def _gives(self, path: str, piece: Piece, short: list[int]) -> tuple[object, ...]:
        request = piece[0].ask.request
        most = max(self.table.saturation(path, at) for at in short)
        return -most, request.priority, -request.submitted, -self.table.row[path]

    def _pieces(self, leaf: str, tried: set[Piece], only: str | None, below: int | None = None) -> Iterator[Piece]:
        mine = [ask for ask in self.table.asks if ask.leaf == leaf and ask.gives]
        mine = [ask for ask in mine if below is None or ask.request.priority < below]
        for ask in sorted(mine, key=lambda each: (each.request.priority, -each.request.submitted, -each.place)):
            for piece in pieces_of(self.cluster, ask):
                if piece not in tried and (only is None or any(unit.host == only for unit in piece)):
                    yield piece

    def _stays(self, ask: Ask) -> list[Unit]:
        return [unit for unit in self.cluster.of(ask) if unit.told is None]

    def _broken(self, ask: Ask, gone: Sequence[Piece]) -> Piece:
        """R-CONTEST-3: what of a gang would run on below its minimum."""
        leaving = {unit for piece in gone for unit in piece}
        stays = [unit for unit in self._stays(ask) if unit not in leaving]
        return tuple(stays) if len(stays) < ask.minimum else ()

    # Room

    def room(self, ask: Ask, host: str, gone: Sequence[Piece]) -> int:
        """Units that fit beside those on their way, where some leave."""
        leaving = [unit for piece in gone for unit in piece if unit.host == host]
        if self.cluster.is_taken(ask, host, leaving):
            return 0
        freed = [unit.ask.unit for unit in leaving]
        return units_in(
            ask.unit, total_of([self.cluster.idle(host), self.cluster.left(ask, host), *freed], self.table.width)
        )

    def _fits(self, ask: Ask, units: int, gone: list[Piece]) -> bool:
        if self.breaks_limit(ask, times(ask.unit, units)):
            return False
        rooms = [self.room(ask, host, gone) for host in self.hosts(ask)]
        return (max if ask.packs else sum)([0, *rooms]) >= units

    def _finish(
        self,
        ask: Ask,
        units: int,
        gone: list[Piece],
        is_fair: Callable[[list[Piece]], bool],
        quest: Quest | None = None,
    ) -> bool:
        """R-CONTEST-4: return what is not needed, the last first, and tell the others."""
        left = list(gone)
        for piece in gone[::-1]:
            if piece in left:
                left = self._without(piece, left, lambda those: self._fits(ask, units, those))
        victims = [unit for piece in left for unit in piece]
        new = [] if self.restraint.is_trial else [unit for unit in victims if unit.is_new]
        is_spared = not self.restraint.is_trial and any(self._is_sure(unit) for unit in victims)
        if is_spared or not is_fair(left) or not self.restraint.count(len(victims) - len(new)):
            for piece in left:
                self._leave(piece, 1)
            return False
        rooms = {host: self.room(ask, host, left) for host in self.hosts(ask)}
        for unit in victims:
            if unit in new:
                self.cluster.units.remove(unit)
                self.serving.placed.remove(unit)
            else:
                self.tell(unit, ask, "quota")
                self.asked_for.pop(unit, None)
                if quest is not None:
                    self.asked_for[unit] = quest, pair_of(self.table, ask.leaf, unit.ask.leaf)
        self._bring(ask, units, rooms, victims)
        return True

    def _is_sure(self, unit: Unit) -> bool:
        """R-SERVE-3: whether it, or one of its gang, was granted at this instant on what was held for it."""
        sure = self.serving.sure
        return unit in sure or (unit.ask.minimum > 0 and any(each.ask is unit.ask for each in sure))

    def _without(self, first: Piece, gone: list[Piece], is_enough: Callable[[list[Piece]], bool]) -> list[Piece]:
        """Without one that is not needed, and what else its gang needs to run on."""
        ask = first[0].ask
        mine = [piece for piece in gone if piece[0].ask is ask]
        out: list[Piece] = []
        left = gone
        for piece in mine[mine.index(first) :: -1]:
            out.append(piece)
            left = [each for each in gone if each not in out]
            if not self._broken(ask, left):
                break
        else:
            return gone
        for piece in out:
            self._leave(piece, 1)
        if is_enough(left):
            return left
        for piece in out:
            self._leave(piece, -1)
        return gone

    def tell(self, unit: Unit, ask: Ask, reason: str) -> None:
        """A unit gets notice: the grace of its holder; not later than a notice that it had in this cycle."""
        deadline = max(self.earliest, self.cluster.now + self.table.grace[unit.ask.leaf])
        if unit.before is not None:
            deadline = min(deadline, unit.before.deadline)
        unit.told = Told(ask, deadline, reason, self.cluster.next())
        self.cluster.bring(ask, unit.host, 0)

    def _bring(self, ask: Ask, units: int, rooms: dict[str, int], victims: Sequence[Unit]) -> None:
        """They go where others leave, then elsewhere, as far as there is room; all on one host where they pack."""
        there = [unit.host for unit in victims if unit.host in rooms]
        order = [host for host in rooms if rooms[host] >= units] if ask.packs else [*there, *rooms]
        rest = units
        for host in dict.fromkeys(order):
            here = min(rest, rooms[host])
            if here:
                self.cluster.bring(ask, host, here)
                rest -= here
        self.table.came(ask, units)
