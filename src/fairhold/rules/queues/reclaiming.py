"""Reclaims units for waiting requests: from other queues, then inside a queue (SPEC §7, R-CONTEST-4, R-CONTEST-5)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.ledger.queues import amounts_of, is_preemptible
from fairhold.ledger.restraint import Restraint
from fairhold.model.state import CONSOLIDATION
from fairhold.rules.pools.restraint import go_now, may_take
from fairhold.rules.pools.siting import packs_whole
from fairhold.rules.queues.contest import (
    STRATEGIES,
    Contest,
    Order,
    Refused,
    Search,
    contended,
    is_open,
    may_reclaim,
    sides,
)
from fairhold.rules.queues.moving import Mover
from fairhold.rules.queues.queue_metrics import breaks_limit
from fairhold.rules.queues.reclaim_bound import can_reclaim_nothing
from fairhold.rules.queues.rooms import Rooms, divided, left_beside, rooms_beside
from fairhold.rules.queues.serving import Turns
from fairhold.rules.queues.taking import Taking
from fairhold.rules.queues.victims import Candidates, longer_than, whole
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.queues.contest import Compared, Looked
    from fairhold.rules.queues.moving import Moves
    from fairhold.rules.queues.request_classes import RequestClasses
    from fairhold.rules.queues.victims import Piece


class Reclaimer(Taking):
    """Gives notices for requests, one after another: the order of takers, and the victims considered."""

    def __init__(  # noqa: PLR0917 - what it changes
        self,
        books: PoolBooks,
        queues: Queues,
        reservations: Reservations,
        noticed: list[Unit],
        classes: RequestClasses,
        compared: dict[Unit, Compared] | None = None,
    ) -> None:
        super().__init__(books, queues, reservations, noticed, {} if compared is None else compared)
        self._classes = classes
        self._failed: set[object] = set()
        self._candidates = Candidates(queues, books.by_leaf)

    def run(self) -> None:
        """Reclaim between queues, then inside them, in the serving order, until no request takes any more."""
        before, classes, by_age = -1, self._classes, any(self.queues.terms.delay)
        while len(self.noticed) != before and not can_reclaim_nothing(
            self.books, self.queues, self.reservations, classes, self.wants
        ):
            before = len(self.noticed)
            for take in (self._make_room, self._preempt):
                self._failed.clear()
                waiting = [asked for asked in classes.waiting if self.wants(asked)]
                turns = Turns(self.queues, waiting, self.wants, classes.all, by_age=by_age)
                while (asked := turns.next()) is not None:
                    if self._try(asked, take):
                        self._failed.clear()
                        turns.served(asked)
                    else:
                        turns.drop(asked)

    def look(self, asked: PendingRequest) -> tuple[list[int], list[Looked]]:
        """Places of the resources that are short, and what the searches for a request between queues find.

        Nothing is taken.
        """
        restraint, self.books.restraint = self.books.restraint, Restraint(most=0, gone=1)
        found = self._looked = []
        self._reclaim(asked)
        self.books.restraint, self._looked = restraint, None
        return contended(amounts_of(asked.unit, self.wants(asked)), self._rooms_for(asked).idle()), found

    def look_for_moves(self, asked: PendingRequest) -> Moves | None:
        """The moves that would make room for a request, even if moves are switched off; nothing is changed."""
        restraint, self.books.restraint = self.books.restraint, Restraint(most=0, gone=1)
        found = self.moves_for(asked) if self.wants(asked) else None
        self.books.restraint = restraint
        return found

    def _try(self, asked: PendingRequest, take: Callable[[PendingRequest], bool]) -> bool:
        """One request's turn; skipped if an equal request has failed since the last reclaim."""
        model = asked.model
        wants, is_gang = self.wants(asked), bool(model.min_count)
        kind = asked.leaf, asked.unit, wants, is_gang, model.siting, model.priority, is_preemptible(asked)
        if not wants or not may_take(self.books, asked.leaf) or self._is_early(asked):
            return False  # it wants nothing any more where it was told to go whole since the turns began (R-TAKE-4)
        if self._use_freed(asked, is_inside=take == self._preempt):
            return True
        if kind in self._failed and not asked.units:
            return False
        found = take(asked)
        if not found:
            self._failed.add(kind)
        return found

    def _use_freed(self, asked: PendingRequest, *, is_inside: bool) -> bool:
        """What goes for it leaves room for more of its units, as gangs go whole: those get it before anybody goes.

        is_inside : whether it takes from its own queue, so that fair shares do not bound what its own queue has left it
        """
        units = self.wants(asked)
        need = amounts_of(asked.unit, units)
        left, packs = left_beside(asked, self.reservations), packs_whole(asked)
        if left and may_reclaim(self.queues, asked.leaf, need) is not None:
            mine = self.reservations.of[asked]
            left = {
                host: rest
                for host, rest in left.items()
                if is_inside and all(unit.asked.leaf == asked.leaf for unit in mine[host].victims)
            }
        if self.are_alone:
            left = {host: rest for host, rest in left.items() if self.may_stand(asked, host)}
        rooms = rooms_beside(asked, left)
        has_room = (max if packs else sum)([0, *rooms.values()]) >= units
        if not has_room or self._is_barred(asked, need) or breaks_limit(self.queues, asked.leaf, need) is not None:
            return False
        for host, here in divided(rooms, units, (), packs=packs).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [])
        return True

    def waits_until(self, asked: PendingRequest) -> int | None:
        """Until when a request has not waited long enough to take anything (`preemption_delay`); None = it has."""
        model, delay = asked.model, self.queues.terms.delay[asked.leaf]
        begin = model.submitted if model.since is None else model.since
        return begin + delay if delay and begin + delay > self.books.now else None

    def _is_early(self, asked: PendingRequest) -> bool:
        until = self.waits_until(asked)
        if until is not None:
            self.books.restraint.not_after(until)
        return until is not None

    def _make_room(self, asked: PendingRequest) -> bool:
        """Others move, where that is switched on and enough; else other queues give."""
        return self._consolidate(asked) or self._reclaim(asked)

    def moves_for(self, asked: PendingRequest) -> Moves | None:
        """The moves that make a request fit on the idle total; None = there are none."""
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
            return not self._is_young(piece, longer_than(terms.reclaim_min_runtime[sides(terms, asked.leaf, leaf)[1]]))

        return Mover(self.books, self.reservations, asked, units, may).find()

    def _consolidate(self, asked: PendingRequest) -> bool:
        """Units move to other hosts, each to a place that is held for it."""
        moves = self.moves_for(asked) if self.queues.terms.settings.consolidation else None
        if moves is None or not moves.places or not go_now(self.books, list(moves.places)):
            return False
        units, victims = self.wants(asked), list(moves.places)
        self._tell(asked, victims, CONSOLIDATION)
        for unit, host in moves.places.items():
            self.reservations.movers[unit.asked] = None
            self._hold(unit.asked, host, 1)
        for host, here in divided(
            moves.rooms, units, [unit.host for unit in victims], packs=packs_whole(asked)
        ).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [*moves.places.values(), *(unit.host for unit in victims)])
        return True

    def _reclaim(self, asked: PendingRequest) -> bool:
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
        self._add_left(asked, rooms, 1)
        for strategy in STRATEGIES:
            able = [side for side, row in rivals.items() if is_open(queues, strategy, row, side, need, short)]
            search = Search(strategy, rivals, need, short)
            if able and self._search(asked, search, rooms, self._candidates.among(able, short)):
                return True
            is_for_one = units == 1 or packs_whole(asked) or self.are_alone
            hosts = rooms.hosts() if able and is_for_one else ()
            for host in hosts:
                if self._search(asked, search, rooms, self._candidates.on(host, set(able), short)):
                    return True
        self._add_left(asked, rooms, -1)
        return False

    def _search(self, asked: PendingRequest, search: Search, rooms: Rooms, pieces: Iterator[tuple[int, Piece]]) -> bool:
        """Take piece by piece what keeps the order, until the request fits (R-CONTEST-4); all or nothing."""
        queues, (strategy, rivals, need, short) = self.queues, search
        contest = Contest(queues, asked.leaf, need, short)
        gone: dict[Piece, int] = {}
        for side, first in pieces:
            row, piece = rivals[side], whole(first, gone)
            if self._is_young(piece, longer_than(queues.terms.reclaim_min_runtime[side])):
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
                return self._take(asked, need, gone, rooms, Order(contest, search, gone))
        for piece in gone:
            self._remove(piece, rooms, -1)
        return False

    def _preempt(self, asked: PendingRequest) -> bool:
        """Inside its own queue: from requests of a strictly lower priority."""
        need = amounts_of(asked.unit, self.wants(asked))
        if self._is_barred(asked, need):
            return False
        rooms = self._rooms_for(asked)
        self._add_left(asked, rooms, 1)
        is_found = self._search_inside(asked, need, rooms)
        if not is_found:
            self._add_left(asked, rooms, -1)
        return is_found

    def _search_inside(self, asked: PendingRequest, need: list[int], rooms: Rooms) -> bool:
        """Take piece by piece, until the request fits; all or nothing."""
        runtime = self.queues.terms.preempt_min_runtime[asked.leaf]
        gone: dict[Piece, int] = {}

        def is_able(other: PendingRequest) -> bool:
            return other.model.priority < asked.model.priority

        for first in self._candidates.inside(asked.leaf, is_able):
            piece = whole(first, gone)
            if not self._is_young(piece, runtime):
                self._remove(piece, rooms, 1)
                gone[piece] = asked.leaf
                if self._has_room(asked, self.wants(asked), need, rooms):
                    return self._take(asked, need, gone, rooms, None)
        for piece in gone:
            self._remove(piece, rooms, -1)
        return False
