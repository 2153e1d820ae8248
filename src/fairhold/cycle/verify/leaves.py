"""Grants inside a leaf and on hosts (SPEC §8.3, §11)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request


def in_serving_order(sheet: Sheet, leaf: str) -> list[Request]:
    """Sort a leaf's requests as they are served: priority, then submitted, then id (R-GRANT-3)."""
    mine = [request for key, request in sheet.requests.items() if sheet.holder[key] == leaf]
    return sorted(mine, key=lambda request: (-request.priority, request.submitted, request.id))


def serve(
    requests: list[Request], held: Mapping[str, int], kept: Mapping[str, int], units: int, within: str
) -> dict[str, int]:
    """Divide a leaf's units over its requests; a gang below its minimum takes all it misses or nothing (R-GRANT-3).

    Within `users` the turn is of the user who holds the fewest units of the leaf, of those with the highest priority.

    requests : in serving order
    held : request → units it holds
    kept : request → freed units that are kept for it; only what the request itself does not take is others'
    """
    spoken_for = {
        request.id: min(kept.get(request.id, 0), _wanted(request, held))
        if held.get(request.id, 0) >= request.min_count
        else 0  # a gang that does not run may not be able to start, and would keep them from all others
        for request in requests
    }
    used: Counter[str] = Counter()
    for request in requests:
        used[request.user if within == "users" else ""] += held.get(request.id, 0)
    now_held = dict(held)
    served: dict[str, int] = {}
    left = [request for request in requests if _wanted(request, held)]
    while left and units:
        first = [request for request in left if request.priority == left[0].priority]
        turn = min(first, key=lambda request: used[request.user if within == "users" else ""])
        spoken_for.pop(turn.id, None)
        open_units = min(units, max(units - sum(spoken_for.values()), kept.get(turn.id, 0) - served.get(turn.id, 0)))
        wanted = _wanted(turn, now_held)
        starts_with = max(0, turn.min_count - now_held.get(turn.id, 0))
        is_alone = within != "users" or len({request.user for request in first}) == 1
        count = min(open_units, wanted) if is_alone else min(open_units, wanted, max(1, starts_with))
        if open_units < starts_with or wanted < starts_with or count == 0:
            left.remove(turn)
            continue
        served[turn.id] = served.get(turn.id, 0) + count
        now_held[turn.id] = now_held.get(turn.id, 0) + count
        used[turn.user if within == "users" else ""] += count
        units -= count
        if wanted == count:
            left.remove(turn)
    return served


def _wanted(request: Request, held: Mapping[str, int]) -> int:
    return max(0, request.count - held.get(request.id, 0))


def put_on_hosts(sheet: Sheet, books: Books, served: Mapping[str, Mapping[str, int]]) -> Counter[Place]:
    """Place every unit on the first host in inventory order with idle slots (R-PLACE-1).

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
            for usable in (_kept_for, _kept_for_nobody, _idle):
                for host in list(free):
                    taken = min(left, usable(free, kept, host, key))
                    free[host] -= taken
                    kept[host, key] -= min(taken, kept[host, key])
                    left -= taken
                    grants[Place(leaf, key, host)] += taken
    return +grants


def _kept_for(free: Mapping[str, int], kept: Counter[tuple[str, str]], host: str, key: str) -> int:
    return min(free[host], kept[host, key])


def _kept_for_nobody(free: Mapping[str, int], kept: Counter[tuple[str, str]], host: str, _key: str) -> int:
    return max(0, free[host] - sum(units for (place, _), units in kept.items() if place == host))


def _idle(free: Mapping[str, int], _kept: Counter[tuple[str, str]], host: str, _key: str) -> int:
    return free[host]
