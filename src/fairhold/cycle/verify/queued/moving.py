"""Moves to other hosts that make room for a request, searched again (R-CONTEST-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import fits, how_many, minus, plus
from fairhold.cycle.verify.pooled.siting import able_hosts, packs
from fairhold.cycle.verify.queued.table import is_preemptible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit

Piece = tuple["Unit", ...]
Steps = list[tuple[Piece, list["Host"]]]
"""Pieces, each with the new hosts of its units."""


class Moving:
    """A search: room for a number of units of a request, on hosts in its order."""

    def __init__(self, stock: Stock, coming: Coming, asked: Asked, units: int) -> None:
        self.stock, self.coming, self.asked, self.units = stock, coming, asked, units
        to = [host for host, way in coming.to.get(asked, {}).items() if way.units]
        self.hosts = able_hosts(asked, stock.hosts.values(), to)
        self.steps: Steps = []

    def free(self, host: Host, steps: Steps) -> Amounts:
        """Idle resources of a host after all steps."""
        left = plus(*(parcel.idle for parcel in host.parcels))
        for piece, places in steps:
            for unit, place in zip(piece, places, strict=True):
                left = plus(left, unit.asked.unit) if unit.host is host else left
                left = minus(left, unit.asked.unit) if place is host else left
        return left

    def rooms(self, steps: Steps) -> dict[Host, int]:
        """Units of the request that fit on each host after all steps."""
        return {host: how_many(self.asked.unit, self.free(host, steps)) for host in self.hosts}

    def is_enough(self, steps: Steps) -> bool:
        """Whether the wanted number fits; on one host where the request packs."""
        rooms = self.rooms(steps).values()
        return (max(rooms, default=0) if packs(self.asked) else sum(rooms)) >= self.units

    def find(self, may: Callable[[Piece], bool]) -> Steps | None:
        """Clear host by host, as far as that helps; then what is not needed stays. None = there is no way."""
        for host in self.hosts if self.stock.terms.settings.packing != "exclusive" else ():
            line = list(self._pieces(host, may))
            for pieces in (line, sorted(line, key=self._large)):
                more = self._clear(host, pieces)
                grows = self.rooms([*self.steps, *more])[host] > self.rooms(self.steps)[host]
                if grows and (not packs(self.asked) or self.is_enough([*self.steps, *more])):
                    self.steps += more
                    break
            if self.is_enough(self.steps):
                for step in self.steps[::-1]:
                    rest = [each for each in self.steps if each is not step]
                    self.steps = rest if self.is_enough(rest) else self.steps
                return self.steps
        return None

    def _large(self, piece: Piece) -> list[int]:
        """The more a piece has of what is asked for, resource by resource, the earlier."""
        return [-each * len(piece) for each, need in zip(piece[0].asked.unit, self.asked.unit, strict=True) if need]

    def _clear(self, host: Host, pieces: list[Piece]) -> Steps:
        more: Steps = []
        for piece in pieces:
            steps = [*self.steps, *more]
            here = self.rooms(steps)[host]
            if self.is_enough(steps) if not packs(self.asked) else here >= self.units:
                break
            if places := self._places(piece, host, steps):
                more.append((piece, places))
        return more

    def _pieces(self, host: Host, may: Callable[[Piece], bool]) -> Iterator[Piece]:
        """What stands there as a whole, and is nobody's who packs or for whom others go."""
        able = [each for each in self.stock.asked.values() if each is not self.asked and is_preemptible(each)]
        able = [each for each in able if not packs(each) and (each.moving or not self.coming.units(each))]
        for each in sorted(able, key=lambda each: (each.model.priority, -each.model.submitted, -each.place)):
            units = sorted((u for u in each.units if u.notice is None), key=lambda u: (-u.started, -u.at))
            core = min(len(units), each.model.min_count)
            loose = len(units) - core
            pieces = [(unit,) for unit in units[:loose]] + ([tuple(units[loose:])] if core else [])
            for piece in pieces:
                if all(unit.host is host for unit in piece) and may(piece):
                    yield piece

    def _places(self, piece: Piece, host: Host, steps: Steps) -> list[Host]:
        """For each unit the first host that nothing leaves, and on which the request loses no room."""
        left = {unit.host for gone, _ in steps for unit in gone} | {host}
        rooms = self.rooms(steps)
        found: list[Host] = []
        for unit in piece:
            for place in able_hosts(unit.asked, self.stock.hosts.values()):
                taken = [unit.asked.unit for each in found if each is place]
                room = minus(self.free(place, steps), plus((0,) * len(unit.asked.unit), *taken))
                if place in left or not fits(unit.asked.unit, room):
                    continue
                if how_many(self.asked.unit, minus(room, unit.asked.unit)) >= rooms.get(place, 0):
                    found.append(place)
                    break
            else:
                return []
        return found
