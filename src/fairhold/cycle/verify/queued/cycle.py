"""One cycle of queues, recomputed: idle resource, then what is taken back (R-SERVE-1 to R-CONTEST-5)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import excess, how_many, plus, scaled, summed
from fairhold.cycle.verify.pooled.coming import Coming
from fairhold.cycle.verify.pooled.filling import Filling
from fairhold.cycle.verify.pooled.lending import grace_of
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.siting import able_hosts, packs
from fairhold.cycle.verify.pooled.stock import Notice, keep
from fairhold.cycle.verify.pooled.terms import TOP
from fairhold.cycle.verify.queued.entitled import exceeds_share, is_barred, rooms_beside
from fairhold.cycle.verify.queued.gates import Gates
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
    part,
)
from fairhold.cycle.verify.queued.table import is_preemptible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.verify.pooled.controls import Restraint
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit
    from fairhold.cycle.verify.queued.table import Table


class Queued:
    """What a cycle decides."""

    def __init__(self, stock: Stock, table: Table, restraint: Restraint) -> None:
        self.stock, self.table, self.restraint = stock, table, restraint
        self.placed: list[Unit] = []
        self.noticed: list[Unit] = []
        self.withdrawn: list[Unit] = []
        self.coming = Coming(stock, self._may_stay if stock.terms.limit else None, is_exact=True)
        self.gates = Gates(stock, table)
        self._stay([unit for unit in stock.units() if unit.notice is not None and unit.notice.taker is None])
        self._keep_places()
        is_over = False
        while not is_over:
            is_idle = True
            self.gates.count_coming(self.coming.beside_moves())
            while is_idle:
                self._count()
                self._serve()
                _, is_idle = self._withdraw()
                is_idle |= self.gates.count_coming(self.coming.beside_moves())
            self._count()
            self._take_back()
            is_over = not any([*self._withdraw(), self._keep_places()])

    def _count(self) -> None:
        self.table.clear()
        for asked in self.stock.asked.values():
            stays = sum(unit.notice is None for unit in asked.units)
            self.table.came(asked, stays + self.coming.units(asked))

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
        """Who is served next, from the top down (R-SERVE-1)."""
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
        self.withdrawn += [unit for unit in units if unit.notice is not None and not unit.notice.is_new]
        stay = [unit for unit in self.noticed if unit not in units]
        self.restraint.gone -= len(self.noticed) - len(stay)
        self.noticed[:] = stay
        for unit in units:
            unit.notice = None

    # --- what is taken back

    def _wants(self, asked: Asked) -> int:
        if asked.moving:
            return 0
        way = self.coming.units(asked)
        return max(0, asked.missing - way) if asked.missing else min(1, max(0, asked.waiting - way))

    def _take_back(self) -> None:
        """Between queues, then inside them, until nobody takes any more (R-CONTEST-4, R-CONTEST-5)."""
        before = -1
        while len(self.noticed) != before:
            before = len(self.noticed)
            for take in (self._by_moves_or_others, self._from_own):
                waiting = {asked for asked in self.stock.asked.values() if self._wants(asked)}
                while waiting:
                    asked = self._next(waiting, self._wants)
                    is_open = self.restraint.allows(asked.leaf) and not self._is_early(asked)
                    if not (is_open and (self._from_freed(asked) or take(asked))) or not self._wants(asked):
                        waiting.discard(asked)

    def _is_early(self, asked: Asked) -> bool:
        since = asked.model.submitted if asked.model.since is None else asked.model.since
        delay = self.table.queues[asked.leaf].delay
        return bool(delay) and since + delay > self.stock.now

    def _by_moves_or_others(self, asked: Asked) -> bool:
        return self._by_moves(asked) or self._from_others(asked)

    def _by_moves(self, asked: Asked) -> bool:
        """Others move to hosts where places are kept for them, if that is switched on and enough (R-CONTEST-6)."""
        table, units = self.table, self._wants(asked)
        need = scaled(asked.unit, units)
        if not table.settings.consolidation or is_barred(self.table, asked, need) or self._breaks_limit(asked, need):
            return False
        up = table.queues[asked.leaf].up

        def may(piece: Piece) -> bool:
            queue = table.queues[piece[0].asked.leaf]
            least = queue.spares_for_preempt
            if queue.path != asked.leaf:
                side = next(one for one, above in pairwise(queue.up) if above in up)
                least = table.queues[side].spares_for_reclaim
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

    def _from_freed(self, asked: Asked) -> bool:
        """More of it comes to where units leave for it already, and leave room for more (R-CONTEST-4)."""
        table, units = self.table, self._wants(asked)
        need = scaled(asked.unit, units)
        if exceeds_share(table, asked, need) or is_barred(table, asked, need) or self._breaks_limit(asked, need):
            return False
        rooms = rooms_beside(self.coming, asked, self._hosts(asked))
        if (max if packs(asked) else sum)([0, *rooms.values()]) < units:
            return False
        self._bring_to(asked, units, rooms, [])
        return True

    def _from_others(self, asked: Asked) -> bool:
        table, need = self.table, scaled(asked.unit, self._wants(asked))
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
            if able and (self._wants(asked) == 1 or packs(asked)):
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
            least = table.queues[rival.theirs].spares_for_reclaim
            if any(unit.started + least > now for unit in piece) or not may_give(table, quest, rival):
                continue
            self._leave(piece, -1)
            if not keeps_order(table, quest, rival, {unit.asked.leaf for unit in piece}):
                self._leave(piece, 1)
                continue
            gone.append(piece)
            if self._has_room(quest.asked, quest.need, gone):
                return self._tell(quest.asked, quest.need, gone, lambda left: ends_well(table, quest, rivals, left))
        for piece in gone:
            self._leave(piece, 1)
        return False

    def _leave(self, piece: Piece, sign: int) -> None:
        for unit in piece:
            self.table.came(unit.asked, sign)

    def _first_piece(
        self, rivals: list[Rival], short: list[int], tried: set[Piece], only: Host | None
    ) -> tuple[Rival, Piece] | None:
        """Who gives next: the most saturated, level by level, then lowest priority, then youngest (R-CONTEST-3)."""

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
        return (max(rooms, default=0) if packs(asked) else sum(rooms)) >= self._wants(asked)

    def _breaks_limit(self, asked: Asked, need: tuple[int, ...]) -> bool:
        table, up = self.table, self.table.queues[asked.leaf].up
        return any(
            need[at] and table.held[at][path] + need[at] > table.limit(path, at) for path in up for at in table.width
        )

    def _rooms(self, asked: Asked, gone: list[Piece]) -> dict[Host, int]:
        found = {}
        for host in self._hosts(asked):
            freed = [unit.asked.unit for piece in gone for unit in piece if unit.host is host]
            found[host] = how_many(asked.unit, plus(*(parcel.idle for parcel in host.parcels), *freed))
        return found

    def _from_own(self, asked: Asked) -> bool:
        need = scaled(asked.unit, self._wants(asked))
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
        """Return what is not needed, tell the others, and hold the space (R-CONTEST-4, R-HELD-1)."""
        units = self._wants(asked)
        for piece in gone[::-1]:
            self._leave(piece, 1)
            left = [each for each in gone if each is not piece]
            if self._has_room(asked, need, left) and not left_broken(piece[0].asked, left):
                gone = left
            else:
                self._leave(piece, -1)
        victims = [unit for piece in gone for unit in piece]
        if not (is_fair(gone) and self.restraint.go(len(victims))):
            for piece in gone:
                self._leave(piece, 1)
            return False
        rooms = self._rooms(asked, gone)
        self._notify(asked, victims, "quota")
        self._bring_to(asked, units, rooms, victims)
        return True

    def _notify(self, asked: Asked, victims: list[Unit], reason: str) -> None:
        for unit in victims:
            deadline = self.stock.now + grace_of(self.stock.terms, unit)
            unit.notice = Notice(asked, deadline, reason, self.stock.next(), is_new=True)
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
