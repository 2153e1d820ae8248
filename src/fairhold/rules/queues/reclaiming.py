"""Units are taken back for who waits: from other queues, then inside one (SPEC §7, R-CONTEST-4, R-CONTEST-5)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.vectors import beyond, times
from fairhold.ledger.pools import PUBLIC, Notice
from fairhold.ledger.queues import amounts_of, is_preemptible
from fairhold.ledger.restraint import Restraint
from fairhold.model.state import CONSOLIDATION
from fairhold.rules.pools.content import grace_of
from fairhold.rules.pools.reach import hold_beyond
from fairhold.rules.pools.restraint import go_now, may_take
from fairhold.rules.pools.siting import hosts_for, packs_whole
from fairhold.rules.queues.contest import (
    OWN_QUEUE,
    QUOTA,
    STRATEGIES,
    Contest,
    Looked,
    Refused,
    beyond_deserved,
    contended,
    is_open,
    may_reclaim,
    sides,
)
from fairhold.rules.queues.moving import Mover
from fairhold.rules.queues.rooms import Rooms, divided, rooms_beyond
from fairhold.rules.queues.serving import Turns
from fairhold.rules.queues.standing import breaks_guarantee, breaks_limit
from fairhold.rules.queues.victims import Candidates, is_broken, whole
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fairhold.ledger.pools import Asked, Machine, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.ways import Ways
    from fairhold.rules.queues.moving import Moves
    from fairhold.rules.queues.victims import Piece


class _Search(NamedTuple):
    """What one search is for.

    rivals : side → the queue of the taker that it is compared with
    need   : of the taker, short: places of the resources that are
    """

    strategy: str
    rivals: Mapping[int, int]
    need: list[int]
    short: list[int]


class _Order(NamedTuple):
    """What a take keeps (R-CONTEST-2).

    gone : piece → side that it is taken from
    """

    contest: Contest
    search: _Search
    gone: Mapping[Piece, int]

    def broken(self) -> tuple[int, Refused] | None:
        """The first side that it is not kept with when all that is not needed has been returned; None = it is kept.

        The taker's own side may hold more by that.
        """
        strategy, rivals, need, short = self.search
        for side in dict.fromkeys(self.gone.values()):
            refused = self.contest.refused(strategy, rivals[side], side, ())
            if refused is None and strategy == QUOTA:
                refused = beyond_deserved(self.contest.queues, rivals[side], need, short)
            if refused is not None:
                return side, refused
        return None


class Reclaimer:
    """Gives notices for requests, and keeps what queues hold up to date: what is under notice is gone already."""

    def __init__(self, books: PoolBooks, queues: Queues, ways: Ways, noticed: list[Unit]) -> None:
        self.books, self.queues, self.ways, self.noticed = books, queues, ways, noticed
        self._failed: set[object] = set()
        self._candidates = Candidates(books, queues)
        self._rooms: dict[object, Rooms] = {}
        self._looked: list[Looked] | None = None

    def wants(self, asked: Asked) -> int:
        """Units to be taken for a request in one go: one, or all that a gang misses of its minimum."""
        if self.ways.moving(asked):
            return 0  # it takes nothing before it stands where it moves to
        way = self.ways.units(asked)
        if asked.missing:
            return max(0, asked.missing - way)
        return min(1, max(0, asked.waiting - way))

    def run(self) -> None:
        """First between queues, then inside them, in the serving order, until nobody takes any more."""
        before = -1
        while len(self.noticed) != before:
            before = len(self.noticed)
            for take in (self._make_room, self._preempt):
                self._failed.clear()
                waiting = [asked for asked in self.books.asked.values() if self.wants(asked)]
                turns = Turns(self.queues, waiting, self.wants)
                while (asked := turns.next()) is not None:
                    if self._try(asked, take):
                        self._failed.clear()
                        turns.served(asked)
                    else:
                        turns.drop(asked)

    def look(self, asked: Asked) -> tuple[list[int], list[Looked]]:
        """Places of the resources that are short, and what the searches for a request between queues find.

        Nothing is taken.
        """
        restraint, self.books.restraint = self.books.restraint, Restraint(most=0, gone=1)
        found = self._looked = []
        self._reclaim(asked)
        self.books.restraint, self._looked = restraint, None
        return contended(amounts_of(asked.unit, self.wants(asked)), self._rooms_for(asked).idle()), found

    def look_for_moves(self, asked: Asked) -> Moves | None:
        """Who would have to move for a request, whether that is switched on or not; nothing is changed."""
        restraint, self.books.restraint = self.books.restraint, Restraint(most=0, gone=1)
        found = self.moves_for(asked) if self.wants(asked) else None
        self.books.restraint = restraint
        return found

    def _try(self, asked: Asked, take: Callable[[Asked], bool]) -> bool:
        """One request's turn; what failed for one like it since the last take is not tried again."""
        model = asked.model
        kind = asked.leaf, asked.unit, self.wants(asked), model.siting, model.priority, is_preemptible(asked)
        if not may_take(self.books, asked.leaf) or self._is_early(asked):
            return False
        if self._use_freed(asked):
            return True
        if kind in self._failed and not asked.units:
            return False
        found = take(asked)
        if not found:
            self._failed.add(kind)
        return found

    def _use_freed(self, asked: Asked) -> bool:
        """What goes for it leaves room for more of its units, as gangs go whole: those get it before anybody goes."""
        units = self.wants(asked)
        need = amounts_of(asked.unit, units)
        rooms, packs = rooms_beyond(asked, self.ways), packs_whole(asked)
        bars = (each(self.queues, asked.leaf, need) for each in (breaks_limit, may_reclaim))
        has_room = (max if packs else sum)([0, *rooms.values()]) >= units
        if not has_room or self._is_barred(asked, need) or any(bar is not None for bar in bars):
            return False
        for host, here in divided(rooms, units, (), packs=packs).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [])
        return True

    def waits_until(self, asked: Asked) -> int | None:
        """Until when a request has not waited long enough to take anything (`preemption_delay`); None = it has."""
        model, delay = asked.model, self.queues.terms.delay[asked.leaf]
        begin = model.submitted if model.since is None else model.since
        return begin + delay if delay and begin + delay > self.books.now else None

    def _is_early(self, asked: Asked) -> bool:
        until = self.waits_until(asked)
        if until is not None:
            self.books.restraint.not_after(until)
        return until is not None

    def _make_room(self, asked: Asked) -> bool:
        """Others move, where that is switched on and enough; else other queues give."""
        return self._consolidate(asked) or self._reclaim(asked)

    def moves_for(self, asked: Asked) -> Moves | None:
        """Who would have to move so that a request fits on what is idle all in all; None = it does not."""
        units = self.wants(asked)
        need = amounts_of(asked.unit, units)
        if breaks_limit(self.queues, asked.leaf, need) is not None or self._is_barred(asked, need):
            return None
        terms = self.queues.terms

        def may(piece: Piece) -> bool:
            if any(unit.started >= self.books.now for unit in piece):  # it was placed a moment ago, by this cycle maybe
                self.books.restraint.not_after(self.books.now + SECOND)
                return False
            leaf = piece[0].asked.leaf
            if leaf == asked.leaf:
                return not self._is_young(piece, terms.preempt_min_runtime[leaf])
            return not self._is_young(piece, terms.reclaim_min_runtime[sides(terms, asked.leaf, leaf)[1]])

        return Mover(self.books, self.ways, asked, units, may).find()

    def _consolidate(self, asked: Asked) -> bool:
        """Units move to other hosts, each to a place that is held for it."""
        moves = self.moves_for(asked) if self.queues.terms.settings.consolidation else None
        if moves is None or not moves.places or not go_now(self.books, list(moves.places)):
            return False
        units, victims = self.wants(asked), list(moves.places)
        self._tell(asked, victims, CONSOLIDATION)
        for unit, host in moves.places.items():
            self.ways.movers[unit.asked] = None
            self._hold(unit.asked, host, 1)
        for host, here in divided(
            moves.rooms, units, [unit.host for unit in victims], packs=packs_whole(asked)
        ).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [*moves.places.values(), *(unit.host for unit in victims)])
        return True

    def _reclaim(self, asked: Asked) -> bool:
        """From other queues: by fair shares, else by quotas."""
        queues, leaf, units = self.queues, asked.leaf, self.wants(asked)
        need = amounts_of(asked.unit, units)
        if may_reclaim(queues, leaf, need) is not None or self._is_barred(asked, need):
            return False
        rooms = self._rooms_for(asked)
        short = contended(need, rooms.idle())
        rivals = {
            side: row
            for row, parent in pairwise(queues.terms.above[leaf])
            for side in queues.terms.children[parent]
            if side != row
        }
        for strategy in STRATEGIES:
            able = [side for side, row in rivals.items() if is_open(queues, strategy, row, side, need, short)]
            search = _Search(strategy, rivals, need, short)
            if able and self._search(asked, search, rooms, self._candidates.among(able, short)):
                return True
            hosts = rooms.hosts() if able and (units == 1 or packs_whole(asked)) else ()
            for host in hosts:
                if self._search(asked, search, rooms, self._candidates.on(host, set(able), short)):
                    return True
        return False

    def _search(self, asked: Asked, search: _Search, rooms: Rooms, pieces: Iterator[tuple[int, Piece]]) -> bool:
        """Take piece by piece what keeps the order, until the request fits (R-CONTEST-4); all or nothing."""
        queues, (strategy, rivals, need, short) = self.queues, search
        contest = Contest(queues, asked.leaf, need, short)
        gone: dict[Piece, int] = {}
        for side, first in pieces:
            row, piece = rivals[side], whole(first, gone)
            if self._is_young(piece, queues.terms.reclaim_min_runtime[side]):
                self._note(search, contest, side, piece, Refused("young", side, short[0]))
                continue
            if not is_open(queues, strategy, row, side, need, short):
                self._note(search, contest, side, piece, Refused("strategy", side, short[0]))
                continue
            self._remove(piece, rooms, 1)
            refused = contest.refused(strategy, row, side, {unit.asked.leaf for unit in piece})
            self._note(search, contest, side, piece, refused)
            if refused is not None:
                self._remove(piece, rooms, -1)
                continue
            gone[piece] = side
            if self._has_room(asked, self.wants(asked), need, rooms):
                return self._take(asked, need, gone, rooms, _Order(contest, search, gone))
        for piece in gone:
            self._remove(piece, rooms, -1)
        return False

    def _note(
        self, search: _Search, contest: Contest, side: int, piece: Piece, refused: Refused | None, *, rest: bool = False
    ) -> None:
        if self._looked is not None:
            row, at = (side, search.short[0]) if refused is None else refused[1:]
            mine = search.rivals[side]
            numbers = contest.after(at, mine), contest.after(at, row), contest.before[at][row]
            self._looked.append(Looked(search.strategy, mine, side, piece, refused, numbers, rest))

    def _preempt(self, asked: Asked) -> bool:
        """Inside its own queue: from requests of a strictly lower priority."""
        units = self.wants(asked)
        need = amounts_of(asked.unit, units)
        if self._is_barred(asked, need):
            return False
        rooms = self._rooms_for(asked)
        runtime = self.queues.terms.preempt_min_runtime[asked.leaf]
        gone: dict[Piece, int] = {}

        def is_able(other: Asked) -> bool:
            return other.model.priority < asked.model.priority

        for first in self._candidates.inside(asked.leaf, is_able):
            piece = whole(first, gone)
            if not self._is_young(piece, runtime):
                self._remove(piece, rooms, 1)
                gone[piece] = asked.leaf
                if self._has_room(asked, units, need, rooms):
                    return self._take(asked, need, gone, rooms, None)
        for piece in gone:
            self._remove(piece, rooms, -1)
        return False

    def _rooms_for(self, asked: Asked) -> Rooms:
        """Room for a request; one for all requests of a size that say the same of hosts."""
        ways = self.ways.of.get(asked)
        if packs_whole(asked):
            return Rooms(asked, hosts_for(asked, self.books.hosts, ways))
        kind = asked.unit, asked.model.siting
        if kind not in self._rooms:
            self._rooms[kind] = Rooms(asked, hosts_for(asked, self.books.hosts))
        return self._rooms[kind]

    def _is_barred(self, asked: Asked, need: list[int]) -> bool:
        """Whether what is never taken back would be beyond what is deserved."""
        return not is_preemptible(asked) and breaks_guarantee(self.queues, asked.leaf, need) is not None

    def _is_young(self, piece: Piece, runtime: int) -> bool:
        now = self.books.now
        young = [unit.started + runtime for unit in piece if unit.started + runtime > now] if runtime else []
        if young:
            self.books.restraint.not_after(max(young))
        return bool(young)

    def _remove(self, piece: Piece, rooms: Rooms, sign: int) -> None:
        """Units leave, or stay after all where the sign is negative."""
        for unit in piece:
            self.queues.add(unit.asked, -sign)
            rooms.change(unit.host, times(unit.asked.unit, sign))

    def _has_room(self, asked: Asked, units: int, need: list[int], rooms: Rooms) -> bool:
        return rooms.have(units) and breaks_limit(self.queues, asked.leaf, need) is None

    def _take(self, asked: Asked, need: list[int], gone: dict[Piece, int], rooms: Rooms, order: _Order | None) -> bool:
        """What is not needed is returned, the last taken first; the others are told, and their space is held.

        Of a gang that would go on below its minimum nothing is returned. Nothing at all is taken where the order is not
        kept without what made no room.
        order : that is kept, None = none is, inside a queue
        """
        units = self.wants(asked)
        taken = dict(gone)
        for piece, side in reversed(taken.items()):
            del gone[piece]
            self._remove(piece, rooms, -1)
            if not self._has_room(asked, units, need, rooms) or is_broken(piece[0].asked, gone):
                gone[piece] = side
                self._remove(piece, rooms, 1)
        victims = [unit for piece in taken if piece in gone for unit in piece]
        broken = None if order is None or len(gone) == len(taken) else order.broken()
        if order is not None and broken is not None:
            self._note(order.search, order.contest, broken[0], tuple(victims), broken[1], rest=True)
        if broken is not None or not go_now(self.books, victims):
            for piece in gone:
                self._remove(piece, rooms, -1)
            return False
        self._tell(asked, victims, "quota", OWN_QUEUE if order is None else order.search.strategy)
        for host, here in rooms.divided(units, (unit.host for unit in victims)).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [unit.host for unit in victims])
        return True

    def _tell(self, asked: Asked, victims: list[Unit], reason: str, strategy: str = "") -> None:
        """Units are under notice for a request."""
        for unit in victims:
            deadline = self.books.now + grace_of(self.books.terms, unit)
            unit.notice = Notice(asked, deadline, reason, self.books.next_serial(), is_new=True)
            unit.notice.strategy = strategy
            self.ways.way(asked, unit.host, PUBLIC).victims.append(unit)
        self.noticed += victims

    def _hold(self, asked: Asked, host: Machine, units: int) -> None:
        """So many more are on their way to a host; what they need beside what is freed for them is held."""
        way = self.ways.way(asked, host, PUBLIC)
        way.units += units
        hold_beyond(asked, host, host.parcels, beyond(times(asked.unit, way.units), self.ways.freed(asked, host)))

    def _booked(self, asked: Asked, units: int, hosts: list[Machine]) -> None:
        """So many are on their way to a request, and other room is on hosts."""
        self.queues.add(asked, units)
        touched = dict.fromkeys([*hosts, *self.ways.of[asked]])
        for each in self._rooms.values():
            each.look_again(touched)


def stand(books: PoolBooks, queues: Queues, ways: Ways) -> None:
    """Count anew what queues hold: what is under notice is gone, what is on its way is there."""
    queues.clear()
    for asked in books.asked.values():
        units = sum(unit.notice is None for unit in asked.units) + ways.units(asked)
        if units:
            queues.add(asked, units)
