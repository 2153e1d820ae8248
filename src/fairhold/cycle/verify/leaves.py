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


def serve(requests: list[Request], held: Mapping[str, int], kept: Mapping[str, int], units: int) -> dict[str, int]:
    """Divide a leaf's units over its requests; a gang below its minimum takes all it misses or nothing (R-GRANT-3).

    held : request → units it holds
    kept : request → freed units that are kept for it; only what the request itself does not take is others'
    """
    spoken_for = {
        request.id: min(kept.get(request.id, 0), _wanted(request, held))
        if held.get(request.id, 0) >= request.min_count
        else 0  # a gang that does not run may not be able to start, and would keep them from all others
        for request in requests
    }
    served: dict[str, int] = {}
    for request in requests:
        others = sum(spoken_for.values()) - spoken_for.pop(request.id)
        open_units = min(units, max(units - others, kept.get(request.id, 0)))
        wanted = _wanted(request, held)
        starts_with = max(0, request.min_count - held.get(request.id, 0))
        if open_units >= starts_with and wanted >= starts_with:
            served[request.id] = min(open_units, wanted)
            units -= served[request.id]
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
