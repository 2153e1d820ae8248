"""Takes units for one request of a queue, recomputed (R-CONTEST-1 to R-CONTEST-6)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import excess, how_many, plus, scaled, summed
from fairhold.cycle.verify.pooled.lending import deadline_of
from fairhold.cycle.verify.pooled.siting import able_hosts, packs
from fairhold.cycle.verify.pooled.stock import Notice, keep
from fairhold.cycle.verify.pooled.stock import gone as never_placed
from fairhold.cycle.verify.queued.entitled import exceeds_share, is_barred, rest_beside, rooms_beside
from fairhold.cycle.verify.queued.moving import Moving
from fairhold.cycle.verify.queued.order import (
    Piece,
    Quest,
    Rival,
    ends_well,
    gives,
    keeps_order,
    left_broken,
    may_give,
    outlasts,
    paired,
)
from fairhold.cycle.verify.queued.table import is_preemptible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.controls import Restraint
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit
    from fairhold.cycle.verify.queued.order import Pair
    from fairhold.cycle.verify.queued.table import Table


class Taking:
    """Finds the victims for a request, and gives them notice.

    noticed : grows by who is told; pairs: for another queue, the sides that were compared for it
    """

    def __init__(  # noqa: PLR0917 - what it changes
        self,
        stock: Stock,
        table: Table,
        restraint: Restraint,
        coming: Coming,
        noticed: list[Unit],
        pairs: dict[Unit, Pair],
    ) -> None:
        self.stock, self.table, self.restraint, self.coming, self.noticed = stock, table, restraint, coming, noticed
        self.pairs = pairs

    def take(self, asked: Asked, *, is_inside: bool) -> bool:
        """Use units that go for it already, else of other queues, else of its own; returns whether it got any."""
        if self._from_freed(asked, is_inside=is_inside):
            return True
        return self._from_own(asked) if is_inside else self._by_moves(asked) or self._from_others(asked)

    def wants(self, asked: Asked) -> int:
        """Units to be taken for a request at once: all that a gang misses, else one; none while it moves itself."""
        if asked.moving:
            return 0
        way = self.coming.units(asked)
        return max(0, asked.missing - way) if asked.missing else min(1, max(0, asked.waiting - way))

    def _by_moves(self, asked: Asked) -> bool:
        """Others move to hosts where places are kept for them, if that is switched on and enough (R-CONTEST-6)."""
        table, units = self.table, self.wants(asked)
        need = scaled(asked.unit, units)
        if not table.settings.consolidation or is_barred(self.table, asked, need) or self._breaks_limit(asked, need):
            return False
        up = table.queues[asked.leaf].up

        def may(piece: Piece) -> bool:
            queue = table.queues[piece[0].asked.leaf]
            least = queue.spares_for_preempt
            if queue.path != asked.leaf:
                side = next(one for one, above in pairwise(queue.up) if above in up)
                least = outlasts(table.queues[side].spares_for_reclaim)
            return all(unit.started + max(least, 1) <= self.stock.now for unit in piece)

        moving = Moving(self.stock, self.coming, asked, units)
        steps = moving.find(may)
        victims = [unit for piece, _ in steps or () for unit in piece]
        if not steps or not self.restraint.go(len(victims)):
            return False
        rooms = moving.rooms(steps)
        self._notify(asked, victims, "consolidation")
        for piece, places in steps:
            for unit, place in zip(piece, places, strict=True):
                self._bring(unit.asked, place, 1)
        self._bring_to(asked, units, rooms, victims)
        return True

    def _from_freed(self, asked: Asked, *, is_inside: bool) -> bool:
        """More of it comes to where units leave for it already, and leave room for more (R-CONTEST-4, R-CONTEST-5)."""
        table, units = self.table, self.wants(asked)
        need = scaled(asked.unit, units)
        if is_barred(table, asked, need) or self._breaks_limit(asked, need):
            return False
        hosts = self._hosts(asked)
        if exceeds_share(table, asked, need):
            hosts = [host for host in hosts if is_inside and self._only_own_leave(asked, host)]
        hosts = [host for host in hosts if self._is_whole(asked, host)]
        rooms = rooms_beside(self.coming, asked, hosts)
        if (max if packs(asked) else sum)([0, *rooms.values()]) < units:
            return False
        self._bring_to(asked, units, rooms, [])
        return True

    def _only_own_leave(self, asked: Asked, host: Host) -> bool:
        """Whether all that go for it on a host are of its own queue."""
        way = self.coming.to.get(asked, {}).get(host)
        return way is not None and {unit.asked.leaf for unit in way.goes} == {asked.leaf}

    def _from_others(self, asked: Asked) -> bool:
        table, need = self.table, scaled(asked.unit, self.wants(asked))
        wanted = [at for at in table.width if need[at]]
        if exceeds_share(self.table, asked, need) or is_barred(self.table, asked, need):
            return False
        hosts = self._hosts(asked)
        idle = summed((parcel.idle for host in hosts for parcel in host.parcels), len(need))
        short = [at for at in wanted if idle[at] < need[at]] or wanted
        up = table.queues[asked.leaf].up
        rivals = [
            Rival(child, mine)
            for mine, above in pairwise(up)
            for child in table.queues[above].children
            if child != mine
        ]
        for strategy in ("fair share", "quota"):
            quest = Quest(asked, need, short, strategy, [dict(each) for each in table.held])
            able = [each for each in rivals if may_give(table, quest, each)]
            if able and self._search(quest, able, None):
                return True
            if able and (self.wants(asked) == 1 or packs(asked) or self.coming.is_exclusive):
                for host in hosts:
                    if self._search(quest, able, host):
                        return True
        return False

    def _hosts(self, asked: Asked) -> list[Host]:
        coming = [host for host, way in self.coming.to.get(asked, {}).items() if way.units]
        return able_hosts(asked, self.stock.hosts.values(), coming)

    def _search(self, quest: Quest, rivals: list[Rival], only: Host | None) -> bool:
        """Take piece by piece what keeps the order, until the request fits; on one host alone where one is named."""
        table, now = self.table, self.stock.now
        gone: list[Piece] = []
        tried: set[Piece] = set()
        while (found := self._first_piece(rivals, quest.short, tried, only)) is not None:
            rival, piece = found
            tried.add(piece)
            piece += left_broken(piece[0].asked, [*gone, piece])
            least = outlasts(table.queues[rival.theirs].spares_for_reclaim)
            if any(unit.started + least > now for unit in piece) or not may_give(table, quest, rival):
                continue
            self._leave(piece, -1)
            if not keeps_order(table, quest, rival, {unit.asked.leaf for unit in piece}):
                self._leave(piece, 1)
                continue
            gone.append(piece)
            if self._has_room(quest.asked, quest.need, gone):
                is_told = self._tell(quest.asked, quest.need, gone, lambda left: ends_well(table, quest, rivals, left))
                if is_told:
                    self._pair(quest, rivals, gone)
                return is_told
        for piece in gone:
            self._leave(piece, 1)
        return False

    def _pair(self, quest: Quest, rivals: list[Rival], gone: list[Piece]) -> None:
        """Of who was told, the sides that were compared."""
        for unit in (unit for piece in gone for unit in piece):
            if unit.notice is not None and unit.notice.taker is quest.asked:
                up = self.table.queues[unit.asked.leaf].up
                rival = next(each for each in rivals if each.theirs in up)
                self.pairs[unit] = paired(self.table, quest, rival)

    def _leave(self, piece: Piece, sign: int) -> None:
        for unit in piece:
            self.table.came(unit.asked, sign)

    def _first_piece(
        self, rivals: list[Rival], short: list[int], tried: set[Piece], only: Host | None
    ) -> tuple[Rival, Piece] | None:
        """The next victim: of the most saturated queue, of the lowest priority, the youngest (R-CONTEST-3)."""

        def best(path: str) -> Piece | None:
            children = self.table.queues[path].children
            if not children:
                return next(self._pieces(path, tried, only, is_all=True), None)
            able = [(child, piece) for child in children if (piece := best(child))]
            return min(able, key=lambda each: gives(self.table, each[0], each[1], short))[1] if able else None

        able = [(rival, piece) for rival in rivals if (piece := best(rival.theirs))]
        return min(able, key=lambda each: gives(self.table, each[0].theirs, each[1], short)) if able else None

    def _pieces(
        self, leaf: str, tried: set[Piece], only: Host | None, *, is_all: bool, below: int = 0
    ) -> Iterator[Piece]:
        """Pieces of a leaf in their order; `below` a priority where not all give."""
        mine = [asked for asked in self.stock.of(leaf) if is_preemptible(asked)]
        mine = [asked for asked in mine if is_all or asked.model.priority < below]
        for asked in sorted(mine, key=lambda each: (each.model.priority, -each.model.submitted, -each.place)):
            units = sorted((u for u in asked.units if u.notice is None), key=lambda u: (-u.started, -u.at))
            least = asked.model.min_count
            extra = len(units) if not least else max(0, len(units) - least)
            pieces = [(unit,) for unit in units[:extra]] + ([tuple(units[extra:])] if units[extra:] else [])
            for piece in pieces:
                if piece not in tried and (only is None or any(unit.host is only for unit in piece)):
                    yield piece

    def _has_room(self, asked: Asked, need: tuple[int, ...], gone: list[Piece]) -> bool:
        if self._breaks_limit(asked, need):
            return False
        rooms = list(self._rooms(asked, gone).values())
        return (max(rooms, default=0) if packs(asked) else sum(rooms)) >= self.wants(asked)

    def _breaks_limit(self, asked: Asked, need: tuple[int, ...]) -> bool:
        table, up = self.table, self.table.queues[asked.leaf].up
        return any(
            need[at] and table.held[at][path] + need[at] > table.limit(path, at) for path in up for at in table.width
        )

    def _rooms(self, asked: Asked, gone: list[Piece]) -> dict[Host, int]:
        found = {}
        leaving = [unit for piece in gone for unit in piece]
        for host in self._hosts(asked):
            if not self._is_whole(asked, host, leaving):
                found[host] = 0
                continue
            freed = [unit.asked.unit for piece in gone for unit in piece if unit.host is host]
            freed.append(rest_beside(self.coming, asked, host))
            found[host] = how_many(asked.unit, plus(*(parcel.idle for parcel in host.parcels), *freed))
        return found

    def _is_whole(self, asked: Asked, host: Host, leaving: Collection[Unit] = ()) -> bool:
        """Whether no other leaf stays on a host or comes there, under `exclusive` (R-HOSTS-3)."""
        return not self.coming.is_exclusive or not self.coming.others(asked, host, leaving)

    def _from_own(self, asked: Asked) -> bool:
        need = scaled(asked.unit, self.wants(asked))
        if is_barred(self.table, asked, need):
            return False
        least, gone = self.table.queues[asked.leaf].spares_for_preempt, list[Piece]()
        for each in list(self._pieces(asked.leaf, set(), None, is_all=False, below=asked.model.priority)):
            piece = each + left_broken(each[0].asked, [*gone, each])
            if not any(unit.started + least > self.stock.now for unit in piece):
                self._leave(piece, -1)
                gone.append(piece)
                if self._has_room(asked, need, gone):
                    return self._tell(asked, need, gone, lambda _left: True)
        for piece in gone:
            self._leave(piece, 1)
        return False

    def _tell(
        self, asked: Asked, need: tuple[int, ...], gone: list[Piece], is_fair: Callable[[list[Piece]], bool]
    ) -> bool:
        """Drop victims that are not needed, give notice to the others, and hold the space (R-CONTEST-4, R-HELD-1)."""
        units = self.wants(asked)
        for piece in gone[::-1]:
            gone = self._without(piece, gone, lambda left: self._has_room(asked, need, left))
        victims = [unit for piece in gone for unit in piece]
        fresh = [] if self.restraint.is_trial else [unit for unit in victims if unit.is_new]
        is_free = not self.restraint.spares(victims, self.stock.sure)
        if not (is_fair(gone) and is_free and self.restraint.go(len(victims) - len(fresh))):
            for piece in gone:
                self._leave(piece, 1)
            return False
        rooms = self._rooms(asked, gone)
        for unit in fresh:  # what this cycle has placed is not told to go, but was never there (R-SWEEP-3)
            self.stock.lost[unit.asked] += 1
            never_placed(unit)
        self._notify(asked, [unit for unit in victims if unit not in fresh], "quota")
        self._bring_to(asked, units, rooms, victims)
        return True

    def _without(self, first: Piece, gone: list[Piece], is_enough: Callable[[list[Piece]], bool]) -> list[Piece]:
        """Those that go if one stays that is not needed, with what its gang needs to go on, the last before others."""
        until = [piece for piece in gone if piece[0].asked is first[0].asked]
        if first not in until:
            return gone
        left = gone
        for piece in until[until.index(first) :: -1]:
            fewer = [each for each in left if each is not piece]
            self._leave(piece, 1)
            if is_enough(fewer):
                left = fewer
            else:
                self._leave(piece, -1)
            if first in left:
                return gone
            if not left_broken(first[0].asked, left):
                return left
        for piece in gone:
            if piece not in left:
                self._leave(piece, -1)
        return gone

    def _notify(self, asked: Asked, victims: list[Unit], reason: str) -> None:
        for unit in victims:
            deadline = deadline_of(self.stock, unit)
            unit.notice = Notice(asked, deadline, reason, self.stock.next(), is_new=True)
            self.pairs.pop(unit, None)
            self.coming.way(asked, unit.host).goes.append(unit)
        self.noticed += victims

    def _bring(self, asked: Asked, host: Host, units: int) -> None:
        """So many more come to a host, where what they need beside what is freed there is kept."""
        way = self.coming.way(asked, host)
        way.units += units
        freed = self.coming.freed(asked, host)
        keep(asked.id, host, host.parcels, excess(scaled(asked.unit, way.units), freed))

    def _bring_to(self, asked: Asked, units: int, rooms: dict[Host, int], victims: list[Unit]) -> None:
        """They go where others leave, then elsewhere, as far as there is room; all on one host where they pack."""
        there = [unit.host for unit in victims if unit.host in rooms]
        order = [host for host in rooms if rooms[host] >= units] if packs(asked) else [*there, *rooms]
        rest = units
        for host in dict.fromkeys(order):
            here = min(rest, rooms[host])
            if here:
                self._bring(asked, host, here)
                rest -= here
        self.table.came(asked, units)
