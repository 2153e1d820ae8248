"""Units that move to other hosts to make room (R-CONTEST-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.reference.queues.cluster import pieces_of
from fairhold.reference.vectors import times, total_of, units_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.model.vector import Vector
    from fairhold.reference.queues.cluster import Ask, Cluster, Piece, Unit
    from fairhold.reference.queues.siting import Siting


class Moves:
    """Looks for units that leave hosts so that a request finds room; the state is not changed.

    places : unit → the host that it moves to
    """

    def __init__(
        self, cluster: Cluster, siting: Siting, ask: Ask, units: int, may_move: Callable[[Ask, Unit], bool]
    ) -> None:
        self.cluster, self.siting, self.ask, self.units, self.may_move = cluster, siting, ask, units, may_move
        self.places: dict[Unit, str] = {}
        self.moved: list[Piece] = []

    def find(self, hosts: list[str]) -> Moves | None:
        """Host by host, until the request fits; nothing where it never does."""
        if self.cluster.is_exclusive:
            return None
        for host in hosts:
            before = self.rooms([host])[host]
            for order in (self._in_order, self._largest_first):
                tried = dict(self.places)
                for piece in order(host):
                    self._move(piece, hosts)
                    if self._fits(hosts):
                        return self._needed(hosts)
                if self.rooms([host])[host] > before:
                    break
                self.places = tried
        return None

    def rooms(self, hosts: Iterable[str]) -> dict[str, int]:
        """Units of the request that fit on hosts when those who move have."""
        return {host: units_in(self.ask.unit, self._room(host)) for host in hosts}

    def _room(self, host: str) -> Vector:
        """What is idle, and left by what goes for the request, when those who move have."""
        cluster = self.cluster
        leave = [unit.ask.unit for unit in self.places if unit.host == host]
        come = [times(unit.ask.unit, -1) for unit, place in self.places.items() if place == host]
        return total_of([cluster.idle(host), cluster.left(self.ask, host), *leave, *come], cluster.width)

    def _fits(self, hosts: list[str]) -> bool:
        rooms = self.rooms(hosts).values()
        return (max if self.ask.packs else sum)([0, *rooms]) >= self.units

    def _in_order(self, host: str) -> list[Piece]:
        """R-CONTEST-3 inside a queue: the lowest priority, the youngest; of gangs their surplus first."""
        order = sorted(
            self.cluster.asks.values(), key=lambda each: (each.request.priority, -each.request.submitted, -each.place)
        )
        return [piece for ask in order for piece in pieces_of(self.cluster, ask) if self._is_able(piece, host)]

    def _largest_first(self, host: str) -> list[Piece]:
        return sorted(self._in_order(host), key=lambda piece: times(piece[0].ask.unit, -len(piece)))

    def _is_able(self, piece: Piece, host: str) -> bool:
        """Whether all of it runs on a host, and may move."""
        ask = piece[0].ask
        if ask is self.ask or not ask.gives or ask.packs:
            return False
        return all(
            unit.host == host and not unit.is_new and unit not in self.places and self.may_move(self.ask, unit)
            for unit in piece
        )

    def _move(self, piece: Piece, hosts: list[str]) -> None:
        """Each of its units to the first of its hosts that has room for it; all of them, or none."""
        before = dict(self.places)
        for unit in piece:
            place = self._place_for(unit, {each.host for each in (*self.places, *piece)}, hosts)
            if place is None:
                self.places = before
                return
            self.places[unit] = place
        self.moved.append(piece)

    def _place_for(self, unit: Unit, left: set[str], hosts: list[str]) -> str | None:
        """The first host with room that nobody leaves, and on which the request loses no room."""
        for place in self.siting.order(unit.ask, self.cluster.suitable(unit.ask), packed=False):
            if place in left or not units_in(unit.ask.unit, self._room_for_others(place)):
                continue
            before = self.rooms([place])[place] if place in hosts else 0
            self.places[unit] = place
            after = self.rooms([place])[place] if place in hosts else 0
            del self.places[unit]
            if after >= before:
                return place
        return None

    def _room_for_others(self, host: str) -> Vector:
        come = [times(unit.ask.unit, -1) for unit, place in self.places.items() if place == host]
        return total_of([self.cluster.idle(host), *come], self.cluster.width)

    def _needed(self, hosts: list[str]) -> Moves:
        """Without those that are not needed, the last first."""
        for piece in self.moved[::-1]:
            all_of_them = self.places
            self.places = {each: place for each, place in all_of_them.items() if each not in piece}
            if not self._fits(hosts):
                self.places = all_of_them
        return self
