"""Grants inside a leaf and on hosts (SPEC §8.3, §11)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

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


def serve(  # noqa: PLR0917 - what serving knows, in its order
    requests: list[Request],
    held: Mapping[str, int],
    kept: Mapping[str, int],
    units: int,
    within: str,
    room_of: Mapping[str, int],
    rooms: Rooms | None = None,
    collection: Collection | None = None,
) -> dict[str, int]:
    """Divide a leaf's units over its requests; a gang below its minimum takes all it misses or nothing (R-GRANT-3).

    Within `users` the turn is of the user who holds the fewest units of the leaf, of those with the highest priority.

    requests : in serving order
    held : request → units it holds
    kept : request → freed units that are kept for it; only what the request itself does not take is others'
    room_of : user → units more that he may hold here (R-USER-1)
    rooms : hosts on which units are put at once, where not any host will do
    collection : the gang for which units are held where it cannot start; what is held for it counts as served
    """
    room_of = dict(room_of)
    spoken_for = _spoken_for(requests, held, kept)
    used: Counter[str] = Counter()
    for request in requests:
        used[request.user if within == "users" else ""] += held.get(request.id, 0)
    now_held = dict(held)
    served: dict[str, int] = {}
    left = [request for request in requests if _wanted(request, held)]
    while left and units:
        first = [request for request in left if request.priority == left[0].priority]
        turn = min(first, key=lambda request: used[request.user if within == "users" else ""])
        is_gangs = collection is not None and collection.comes(turn.priority)
        if collection is not None and is_gangs:
            turn = collection.gang
        spoken_for.pop(turn.id, 0)
        open_units = min(units, max(units - sum(spoken_for.values()), kept.get(turn.id, 0) - served.get(turn.id, 0)))
        open_units = min(open_units, room_of[turn.user])
        wanted = asked = _wanted(turn, now_held)
        wanted = wanted if rooms is None else min(wanted, rooms.room(turn.id))
        starts_with = max(0, turn.min_count - now_held.get(turn.id, 0))
        is_alone = within != "users" or len({request.user for request in first}) == 1 or is_gangs
        count = min(open_units, wanted) if is_alone else min(open_units, wanted, max(1, starts_with))
        if open_units < starts_with or wanted < starts_with or count == 0:
            left.remove(turn)
            if collection is not None and is_gangs:
                collection.begin(units, served)
                left = [each for each in left if collection.allows(each)]
            continue
        if rooms is not None:
            rooms.put(turn.id, count)
        room_of[turn.user] -= count
        served[turn.id] = served.get(turn.id, 0) + count
        now_held[turn.id] = now_held.get(turn.id, 0) + count
        used[turn.user if within == "users" else ""] += count
        units -= count
        if asked == count:
            left.remove(turn)
    if collection is not None and collection.begun:
        served[collection.gang.id] = _collect(collection, units, rooms)
    return served


def _collect(collection: Collection, units: int, rooms: Rooms | None) -> int:
    """Units of those left that are held for the gang that collects (R-HOLD-1)."""
    collection.units = min(units, collection.needs)
    if rooms is not None:
        collection.units = min(collection.units, rooms.room(collection.gang.id))
        rooms.put(collection.gang.id, collection.units)
    return collection.units


def _spoken_for(requests: list[Request], held: Mapping[str, int], kept: Mapping[str, int]) -> dict[str, int]:
    """Units kept for requests that run: a gang that does not may not be able to start, and would keep them from all."""
    return {
        request.id: min(kept.get(request.id, 0), _wanted(request, held))
        for request in requests
        if held.get(request.id, 0) >= request.min_count
    }


def _wanted(request: Request, held: Mapping[str, int]) -> int:
    return max(0, request.count - held.get(request.id, 0))


def put_on_hosts(sheet: Sheet, books: Books, served: Mapping[str, Mapping[str, int]]) -> Counter[Place]:
    """Place every unit on the first host in inventory order with idle slots (R-PLACE-1), or by the packing.

    A request comes first to the slots that are kept for it; those kept for another one are the last resort.

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
    """Place units one by one: on slots kept for them, then where the smallest part is in use (R-PLACE-2)."""
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
