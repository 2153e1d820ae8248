"""Consolidation: units move to other hosts, so that a request fits on the idle total (SPEC §7, R-CONTEST-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.vectors import add, count, fits, less, total
from fairhold.ledger.queues import is_preemptible
from fairhold.rules.pools.siting import hosts_for, packs_whole
from fairhold.rules.pools.withdrawing import let_stay
from fairhold.rules.queues.victims import giving_key, pieces_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.pools.sweeps import Sweeps
    from fairhold.rules.queues.victims import Piece

    May = Callable[[Piece], bool]


class Moves(NamedTuple):
    """Moves of units, and the units of the request that then fit on each host.

    places : unit → its new host, in the order found
    rooms  : host → units, those that the request would have first before the others
    """

    places: dict[Unit, Machine]
    rooms: dict[Machine, int]


class Mover:
    """Looks for moves that make room for one request; nothing is changed.

    units : that it wants in one go
    may   : whether units may be asked to move, for all that is not about space
    """

    def __init__(
        self, books: PoolBooks, reservations: Reservations, asked: PendingRequest, units: int, may: May
    ) -> None:
        self._books, self._reservations, self._asked, self._units, self._may = books, reservations, asked, units, may
        self._space: dict[Machine, Vector] = {}
        self._places: dict[Unit, Machine] = {}
        self._pieces: list[Piece] = []
        self._went: dict[Unit, Machine] = {}
        self._of: dict[PendingRequest, dict[Machine, list[Piece]]] = {}
        hosts = hosts_for(asked, books.hosts, reservations.of.get(asked))
        self._rooms = {host: count(asked.unit, self._idle(host)) for host in hosts}

    def _idle(self, host: Machine) -> Vector:
        if host not in self._space:
            self._space[host] = total((parcel.idle for parcel in host.parcels), len(host.total))
        return self._space[host]

    def find(self) -> Moves | None:
        """Move units away host by host, as long as room for the request grows; None = it does not grow enough.

        All or nothing. Moves that are not needed are dropped, the last found first.
        """
        idle = total((self._idle(host) for host in self._books.hosts), len(self._asked.unit))
        is_exclusive = self._books.terms.settings.packing == "exclusive"
        if is_exclusive or not fits(tuple(need * self._units for need in self._asked.unit), idle):
            return None
        for host in self._rooms:
            self._clear(host, self._on(host)) or self._clear(host, sorted(self._on(host), key=self._size))
            if self._is_enough():
                for piece in self._pieces[::-1]:
                    self._back(piece)
                    if not self._is_enough():
                        self._go(piece, self._went)
                order = (unit for piece in self._pieces for unit in piece)
                return Moves({unit: self._places[unit] for unit in order if unit in self._places}, self._rooms)
        return None

    def _is_enough(self) -> bool:
        return self._best(self._rooms) >= self._units

    def _best(self, rooms: dict[Machine, int]) -> int:
        return max(rooms.values(), default=0) if packs_whole(self._asked) else sum(rooms.values())

    def _size(self, piece: Piece) -> tuple[int, ...]:
        """The largest pieces first, in what the request asks for: what is small finds a place more easily."""
        unit = piece[0].asked.unit
        return tuple(-len(piece) * mine for mine, need in zip(unit, self._asked.unit, strict=True) if need)

    def _clear(self, host: Machine, line: list[Piece]) -> bool:
        """Let pieces on a host go until it has as much room as is still wanted; none where that makes no more.

        Whether it did.
        """
        before, done = self._rooms[host], len(self._pieces)
        others = 0 if packs_whole(self._asked) else self._best(self._rooms) - before
        for piece in line:
            if others + self._rooms[host] >= self._units:
                break
            places = self._places_for(piece, host)
            if places:
                self._go(piece, places)
                self._pieces.append(piece)
        is_lost = packs_whole(self._asked) and self._rooms[host] < self._units
        if is_lost or self._rooms[host] == before:
            for piece in self._pieces[done:]:
                self._back(piece)
            del self._pieces[done:]
            return False
        return True

    def _on(self, host: Machine) -> list[Piece]:
        """What stands on a host and may move, whoever gives first before the others (R-CONTEST-3)."""
        there = dict.fromkeys(unit.asked for unit in host.units)
        mine = [each for each in there if each is not self._asked and is_preemptible(each) and not packs_whole(each)]
        mine = [each for each in mine if self._reservations.moving(each) or not self._reservations.units(each)]
        return [piece for each in sorted(mine, key=giving_key) for piece in self._whole_on(host, each)]

    def _whole_on(self, host: Machine, asked: PendingRequest) -> list[Piece]:
        """Pieces of a request that stand on one host as a whole."""
        if asked not in self._of:
            found = self._of[asked] = {}
            for piece in pieces_of(asked):
                if len({unit.host for unit in piece}) == 1:
                    found.setdefault(piece[0].host, []).append(piece)
        return [piece for piece in self._of[asked].get(host, ()) if self._may(piece)]

    def _places_for(self, piece: Piece, host: Machine) -> dict[Unit, Machine]:
        """New hosts of all units of a piece, of no use to the request itself; empty = there are not enough."""
        cleared = {unit.host for unit in self._places} | {host}
        left: dict[Machine, Vector] = {}
        found: dict[Unit, Machine] = {}
        for unit in piece:
            for other in hosts_for(unit.asked, self._books.hosts):
                room = left.get(other) or self._idle(other)
                if other not in cleared and fits(unit.asked.unit, room):
                    rest = less(room, unit.asked.unit)
                    if count(self._asked.unit, rest) >= self._rooms.get(other, 0):
                        left[other], found[unit] = rest, other
                        break
            if unit not in found:
                return {}
        return found

    def _go(self, piece: Piece, places: dict[Unit, Machine]) -> None:
        for unit in piece:
            self._places[unit] = places[unit]
            self._change(unit.host, unit.asked.unit, places[unit])

    def _back(self, piece: Piece) -> None:
        self._went = {unit: self._places.pop(unit) for unit in piece}
        for unit in piece:
            self._change(self._went[unit], unit.asked.unit, unit.host)

    def _change(self, one: Machine, amounts: Vector, other: Machine) -> None:
        """Amounts come free on one host, and are used on another."""
        self._space[one] = add(self._idle(one), amounts)
        self._space[other] = less(self._idle(other), amounts)
        for host in (one, other):
            if host in self._rooms:
                self._rooms[host] = count(self._asked.unit, self._space[host])


def stay(found: Sweeps) -> bool:
    """Units that are to move and whose new place is gone stay where they are; whether there are any."""
    reservations, is_any = found.reservations, False
    for asked in [each for each in reservations.movers if reservations.moving(each)]:
        if reservations.units(asked) < reservations.moving(asked):
            is_any = True
            let_stay(found, reservations.let_stay(asked))
    return is_any
