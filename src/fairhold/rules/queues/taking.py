"""Reclaims units for a request: state during the search, and notices at its end (SPEC §7, R-HELD-1)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond, times
from fairhold.ledger.pools import PUBLIC, Notice
from fairhold.ledger.queues import is_preemptible
from fairhold.rules.pools.alone import are_alone, has_strangers, is_awaited
from fairhold.rules.pools.content import deadline_of
from fairhold.rules.pools.reach import hold_beyond
from fairhold.rules.pools.restraint import go_now, were_granted_now
from fairhold.rules.pools.siting import hosts_for, packs_whole
from fairhold.rules.pools.unplacing import placed_now, unplace
from fairhold.rules.queues.contest import OWN_QUEUE, Looked, Refused
from fairhold.rules.queues.queue_metrics import breaks_guarantee, breaks_limit
from fairhold.rules.queues.rooms import Rooms, left_beside
from fairhold.rules.queues.victims import is_broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.queues.contest import Compared, Contest, Order, Search
    from fairhold.rules.queues.victims import Piece


class Taking:
    """Keeps what queues hold, and the room on hosts, up to date: what is under notice is gone already."""

    def __init__(
        self,
        books: PoolBooks,
        queues: Queues,
        reservations: Reservations,
        noticed: list[Unit],
        compared: dict[Unit, Compared],
    ) -> None:
        """Begin.

        compared : gets unit told for another queue → the sides that were compared for it
        """
        self.books, self.queues, self.reservations, self.noticed = books, queues, reservations, noticed
        self.compared = compared
        self._rooms: dict[object, Rooms] = {}
        self._looked: list[Looked] | None = None
        self.are_alone = are_alone(books)
        self._gone: dict[Unit, None] = {}

    def wants(self, asked: PendingRequest) -> int:
        """Units to be taken for a request in one go: one, or all that a gang misses of its minimum."""
        if self.reservations.moving(asked):
            return 0  # it takes nothing before it stands where it moves to
        reservation = self.reservations.units(asked)
        if asked.missing:
            return max(0, asked.missing - reservation)
        return min(1, max(0, asked.waiting - reservation))

    def _add_left(self, asked: PendingRequest, rooms: Rooms, sign: int) -> None:
        """What those leave who go for a request already is room for it, or no more where the sign is negative."""
        for host, rest in left_beside(asked, self.reservations).items():
            if any(rest):
                rooms.change(host, times(rest, sign))

    def _rooms_for(self, asked: PendingRequest) -> Rooms:
        """Room for a request; one for all requests of a size that say the same of hosts."""
        reservations = self.reservations.of.get(asked)
        may_stand = partial(self.may_stand, asked) if self.are_alone else None
        if packs_whole(asked):
            return Rooms(asked, hosts_for(asked, self.books.hosts, reservations), may_stand)
        kind = asked.unit, asked.model.siting, asked.leaf if self.are_alone else None
        if kind not in self._rooms:
            self._rooms[kind] = Rooms(asked, hosts_for(asked, self.books.hosts), may_stand)
        return self._rooms[kind]

    def may_stand(self, asked: PendingRequest, host: Machine) -> bool:
        """With hosts used by one leaf at a time: whether no other leaf stays on, or is on its way there (R-HOSTS-3)."""
        return not (has_strangers(asked, host, self._gone) or is_awaited(self.reservations, asked, host))

    def _is_barred(self, asked: PendingRequest, need: list[int]) -> bool:
        """Whether what is never taken back would be beyond what is deserved."""
        return not is_preemptible(asked) and breaks_guarantee(self.queues, asked.leaf, need) is not None

    def _is_young(self, piece: Piece, runtime: int) -> bool:
        """Whether units have run for less than that."""
        now = self.books.now
        young = [unit.started + runtime for unit in piece if unit.started + runtime > now] if runtime else []
        if young:
            self.books.restraint.not_after(max(young))
        return bool(young)

    def _remove(self, piece: Piece, rooms: Rooms, sign: int) -> None:
        """Units leave, or stay after all where the sign is negative."""
        for unit in piece:
            if sign > 0:
                self._gone[unit] = None
            else:
                self._gone.pop(unit)
        for unit in piece:
            self.queues.add(unit.asked, -sign)
            rooms.change(unit.host, times(unit.asked.unit, sign))

    def _has_room(self, asked: PendingRequest, units: int, need: list[int], rooms: Rooms) -> bool:
        return rooms.have(units) and breaks_limit(self.queues, asked.leaf, need) is None

    def _take(
        self, asked: PendingRequest, need: list[int], gone: dict[Piece, int], rooms: Rooms, order: Order | None
    ) -> bool:
        """Return victims that are not needed, the last taken first; give notice to the rest, and hold their space.

        A gang that would continue below its minimum is not returned in part. Nothing is taken if the order is violated
        without the unneeded victims, or if units would go that were just granted on held space (R-SERVE-3). Other units
        that this cycle has placed get no notice, but are not placed (R-SWEEP-3).
        order : that is kept, None = none is, inside a queue
        """
        units = self.wants(asked)
        taken = dict(gone)
        line = list(reversed(taken))
        for at, piece in enumerate(line):
            if piece in gone:
                self._spare(islice(line, at, None), gone, rooms, lambda: self._has_room(asked, units, need, rooms))
        victims = [unit for piece in taken if piece in gone for unit in piece]
        refused = None if order is None or len(gone) == len(taken) else order.broken()
        refused = self._granted_now(gone, order) if refused is None else refused
        if order is not None and refused is not None:
            sure_first = tuple(sorted(victims, key=lambda unit: unit not in self.books.sure))
            self._note(order.search, order.contest, refused[0], sure_first, refused[1], rest=True)
        new = dict.fromkeys(placed_now(self.books, victims))
        told = [unit for unit in victims if unit not in new]
        if refused is not None or not go_now(self.books, told):
            for piece in gone:
                self._remove(piece, rooms, -1)
            return False
        self._gone.clear()
        unplace(self.books, new)
        self._tell(asked, told, "quota", OWN_QUEUE if order is None else order.search.strategy)
        if order is not None:
            self.compared |= order.compared()
        for host, here in rooms.divided(units, (unit.host for unit in victims)).items():
            self._hold(asked, host, here)
        self._booked(asked, units, [unit.host for unit in victims])
        return True

    def _granted_now(self, gone: dict[Piece, int], order: Order | None) -> tuple[int, Refused] | None:
        """The first side of which a unit would go that was granted at this instant on what was held for it."""
        side = next((side for piece, side in gone.items() if were_granted_now(self.books, piece)), None)
        if side is None:
            return None
        return side, Refused("granted now", side, 0 if order is None else order.search.short[0])

    def _spare(
        self, line: Iterator[Piece], gone: dict[Piece, int], rooms: Rooms, is_enough: Callable[[], bool]
    ) -> None:
        """Return the first piece of a line if it is not needed: of a gang with as many others as it needs to go on."""
        first = next(line)
        gang = first[0].asked
        back: dict[Piece, int] = {}
        for piece in chain([first], line):
            if piece in gone and piece[0].asked is gang:
                back[piece] = gone.pop(piece)
                self._remove(piece, rooms, -1)
                if not is_enough():
                    gone[piece] = back.pop(piece)
                    self._remove(piece, rooms, 1)
                elif not is_broken(gang, gone):
                    return
                if not back:
                    return
        for piece in back:
            self._remove(piece, rooms, 1)
        gone.update(back)

    def _note(
        self, search: Search, contest: Contest, side: int, piece: Piece, refused: Refused | None, *, rest: bool = False
    ) -> None:
        if self._looked is not None:
            row, at = (side, search.short[0]) if refused is None else refused[1:]
            mine = search.rivals[side]
            numbers = contest.after(at, mine), contest.after(at, row), contest.before[at][row]
            self._looked.append(Looked(search.strategy, mine, side, piece, refused, numbers, rest))

    def _tell(self, asked: PendingRequest, victims: list[Unit], reason: str, strategy: str = "") -> None:
        """Units are under notice for a request."""
        for unit in victims:
            deadline = deadline_of(self.books, unit)
            unit.notice = Notice(asked, deadline, reason, self.books.next_serial(), is_new=True)
            unit.notice.strategy = strategy
            self.compared.pop(unit, None)
            self.reservations.reservation(asked, unit.host, PUBLIC).adds(unit)
        self.noticed += victims

    def _hold(self, asked: PendingRequest, host: Machine, units: int) -> None:
        """So many more are on their way to a host; what they need beside what is freed for them is held."""
        reservation = self.reservations.reservation(asked, host, PUBLIC)
        reservation.units += units
        hold_beyond(
            asked,
            host,
            host.parcels,
            beyond(times(asked.unit, reservation.units), self.reservations.freed(asked, host)),
        )

    def _booked(self, asked: PendingRequest, units: int, hosts: list[Machine]) -> None:
        """So many are on their way to a request, and other room is on hosts."""
        self.queues.add(asked, units)
        touched = dict.fromkeys([*hosts, *self.reservations.of[asked]])
        for each in self._rooms.values():
            each.look_again(touched)


def stand(queues: Queues, reservations: Reservations, placed: Iterable[Unit], noticed: Iterable[Unit]) -> None:
    """Amounts that queues hold: with units placed in this cycle and on their way, without units under notice.

    placed, noticed : units that this cycle has placed, and told
    """
    queues.begin()
    units = Counter([unit.asked for unit in placed if unit in unit.asked.units])
    units.subtract([unit.asked for unit in reservations.books.under_notice(noticed)])
    for asked in reservations.of:
        units[asked] += reservations.units(asked)
    for asked, number in units.items():
        if number:
            queues.add(asked, number)
