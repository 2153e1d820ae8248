"""Grants inside a leaf and on hosts (SPEC §8.3, §11)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.verify.books import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.holding import Collection
    from fairhold.cycle.verify.rooms import Rooms
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request


def in_serving_order(sheet: Sheet, leaf: str) -> list[Request]:
    """Sort a leaf's requests as they are served: priority, then submitted, then id (R-GRANT-3)."""
    mine = [request for key, request in sheet.requests.items() if sheet.holder[key] == leaf]
    return sorted(mine, key=lambda request: (-request.priority, request.submitted, request.id))


class Line(NamedTuple):
    """The requests of a leaf, and their state before they are served.

    requests : in serving order
    held     : request → units it holds
    stays    : request → those of them that do not leave for a switch of windows (R-SWITCH-1)
    kept     : request → freed units kept for it; others get only what the request does not take
    within   : `users`: the turn is of the user who holds the fewest units of the leaf, of those with highest priority
    room_of  : user → units more that he may hold here (R-USER-1)
    """

    requests: list[Request]
    held: Mapping[str, int]
    stays: Mapping[str, int]
    kept: Mapping[str, int]
    within: str
    room_of: Mapping[str, int]


class Serving:
    """A leaf's units, as they are divided over its requests (R-GRANT-3).

    units      : left
    served     : request → units
    rooms      : hosts on which units are placed at once, where requests restrict hosts
    collection : the gang for which units are held if it cannot start; held units count as served
    """

    def __init__(self, line: Line, units: int, rooms: Rooms | None, collection: Collection | None) -> None:
        self.line, self.units, self.rooms, self.collection = line, units, rooms, collection
        self.served: dict[str, int] = {}
        self.room_of = dict(line.room_of)
        # What is kept for others does not bar a gang that waits too long.
        self.spoken_for = _spoken_for(line.requests, line.held, line.kept) if collection is None else {}
        self.used: Counter[str] = Counter()
        for request in line.requests:
            self.used[self._turn_of(request)] += line.held.get(request.id, 0)

    def run(self) -> dict[str, int]:
        """Serve all requests. Units held for a gang may be used by requests that end before it can start (R-HOLD-2)."""
        self._go_round(self.line.requests)
        collection = self.collection
        if collection is not None and collection.begun:
            collection.find_start(self.served)
            gang = collection.gang
            short = [each for each in self.line.requests if each != gang and collection.allows(each)]
            if collection.units and any(map(self._wanted, short)):
                self._lift(collection)
                self._go_round(short)
                self._hold(collection)
            self.served[gang.id] = collection.units
        return self.served

    def _turn_of(self, request: Request) -> str:
        return request.user if self.line.within == "users" else ""

    def _wanted(self, request: Request) -> int:
        return _wanted(request, self.line.held) - self.served.get(request.id, 0)

    def _go_round(self, requests: list[Request]) -> None:
        left = [request for request in requests if self._wanted(request)]
        while left and self.units:
            first = [request for request in left if request.priority == left[0].priority]
            if self.collection is not None and self.collection.comes(first[0].priority):
                turn = self.collection.gang
                is_over = self._serve_overdue(self.collection)
            else:
                turn = min(first, key=lambda request: self.used[self._turn_of(request)])
                is_alone = self.line.within != "users" or len({request.user for request in first}) == 1
                is_over = not self._give(turn, is_alone=is_alone) or not self._wanted(turn)
            if is_over:
                left.remove(turn)

    def _serve_overdue(self, collection: Collection) -> bool:
        """The turn of an overdue gang: it starts or collects, where its user has room; returns whether it is done."""
        gang = collection.gang
        missing = self._missing(gang)
        if missing > self.room_of[gang.user]:
            return False
        if self._give(gang, is_alone=True):
            return not self._wanted(gang)
        collection.begin(missing)
        self.room_of[gang.user] -= missing
        self._hold(collection)
        return True

    def _missing(self, request: Request) -> int:
        """Units without which a request cannot start."""
        return max(0, request.min_count - self.line.stays.get(request.id, 0) - self.served.get(request.id, 0))

    def _give(self, turn: Request, *, is_alone: bool) -> int:
        """Grant the units of one turn; a gang below its minimum gets all that it misses or nothing."""
        self.spoken_for.pop(turn.id, 0)
        kept = self.line.kept.get(turn.id, 0) - self.served.get(turn.id, 0)
        count = min(self.units, max(self.units - sum(self.spoken_for.values()), kept), self.room_of[turn.user])
        count = min(count, self._wanted(turn))
        count = count if self.rooms is None else min(count, self.rooms.room(turn.id))
        least = self._missing(turn)
        if count < max(1, least):
            return 0
        count = count if is_alone else max(1, least)
        if self.rooms is not None:
            self.rooms.put(turn.id, count)
        self.room_of[turn.user] -= count
        self.served[turn.id] = self.served.get(turn.id, 0) + count
        self.used[self._turn_of(turn)] += count
        self.units -= count
        return count

    def _hold(self, collection: Collection) -> None:
        """Hold for the gang what it misses of the units that are left (R-HOLD-1)."""
        units = min(self.units, collection.needs)
        units = units if self.rooms is None else self.rooms.hold(collection.gang.id, units)
        collection.units = units
        self.units -= units

    def _lift(self, collection: Collection) -> None:
        """Release the units that are held for the gang."""
        if self.rooms is not None:
            self.rooms.lift(collection.gang.id)
        self.units += collection.units
        collection.units = 0


def _spoken_for(requests: list[Request], held: Mapping[str, int], kept: Mapping[str, int]) -> dict[str, int]:
    """Units kept for running requests. A gang that does not run may be unable to start, and would block them."""
    return {
        request.id: min(kept.get(request.id, 0), _wanted(request, held))
        for request in requests
        if held.get(request.id, 0) >= request.min_count
    }


def _wanted(request: Request, held: Mapping[str, int]) -> int:
    return max(0, request.count - held.get(request.id, 0))


def put_on_hosts(sheet: Sheet, books: Books, served: Mapping[str, Mapping[str, int]]) -> Counter[Place]:
    """Place every unit on the first host in inventory order with idle slots (R-PLACE-1), or by the packing.

    A request first gets the slots that are kept for it; slots kept for others come last.

    served : leaf → request → units, leaves in path order, requests in serving order
    """
    grants: Counter[Place] = Counter()
    free = dict(sheet.hosts)
    for batch, units in books.batches.items():
        if batch.host in free:
            free[batch.host] = max(0, free[batch.host] - units)
    kept: Counter[tuple[str, str]] = Counter()
    for entry in books.kept_on(sheet):
        kept[entry.host, entry.request] += entry.units
    for leaf, parts in served.items():
        for key, units in parts.items():
            left = units if sheet.hosts else 0
            grants[Place(leaf, key, "")] += units - left
            if sheet.settings.packing == "balanced":
                left -= _balance(sheet, grants, free, kept, Place(leaf, key, ""), left)
            for usable in (_kept_for, _kept_for_nobody, _idle):
                for host in list(free):
                    taken = min(left, usable(free, kept, host, key))
                    free[host] -= taken
                    kept[host, key] -= min(taken, kept[host, key])
                    left -= taken
                    grants[Place(leaf, key, host)] += taken
    return +grants


def _balance(  # noqa: PLR0917 - what placing knows
    sheet: Sheet,
    grants: Counter[Place],
    free: dict[str, int],
    kept: Counter[tuple[str, str]],
    place: Place,
    units: int,
) -> int:
    """Place units one by one: on slots kept for them, then on the host with the smallest part in use (R-PLACE-2)."""
    slots, placed = dict(sheet.hosts), 0
    for host in free:
        taken = min(units - placed, _kept_for(free, kept, host, place.request))
        free[host] -= taken
        kept[host, place.request] -= taken
        placed += taken
        grants[place._replace(host=host)] += taken
    while placed < units:
        able = [host for host in free if _kept_for_nobody(free, kept, host, place.request)]
        if not able:
            break
        host = min(able, key=lambda each: Fraction(slots[each] - free[each], slots[each]))
        free[host] -= 1
        placed += 1
        grants[place._replace(host=host)] += 1
    return placed


def _kept_for(free: Mapping[str, int], kept: Counter[tuple[str, str]], host: str, key: str) -> int:
    return min(free[host], kept[host, key])


def _kept_for_nobody(free: Mapping[str, int], kept: Counter[tuple[str, str]], host: str, _key: str) -> int:
    return max(0, free[host] - sum(units for (place, _), units in kept.items() if place == host))


def _idle(free: Mapping[str, int], _kept: Counter[tuple[str, str]], host: str, _key: str) -> int:
    return free[host]
