"""Chooses the units of a leaf to reclaim: the fewest gangs stop (R-VICTIM-1), claimed hosts first (R-SITE-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairhold.ledger.books import Books

Claims = list[tuple[tuple[int, ...], int]]
"""Hosts, and units that go there, one claim after another."""


class Choice:
    """The units chosen so far; requests for units are met one after another.

    order   : allocations that may give units, in the order in which they give
    free    : allocation → units that are neither under notice nor chosen
    running : request → its units that continue to run
    core    : gang → its minimum: units that are chosen only if the whole gang stops
    whole   : gangs that are not stopped
    chosen  : allocation → units
    """

    def __init__(self, books: Books, order: Sequence[int], whole: Collection[int], fresh: Mapping[int, int]) -> None:
        requests, allocations = books.requests, books.allocations
        self.books, self.order, self.whole = books, order, whole
        self.free = {row: allocations.units[row] - allocations.noticed[row] for row in order}
        of = dict.fromkeys(allocations.request[row] for row in order)
        self.running = {row: requests.held[row] - requests.noticed[row] + fresh.get(row, 0) for row in of}
        self.core = {row: requests.minimum[row] for row in of if 0 < requests.minimum[row] <= self.running[row]}
        self.chosen: dict[int, int] = {}

    def take(self, units: int, hosts: Collection[int] | None = None) -> None:
        """Choose up to `units` more, only on these hosts if given; a gang that stops gives all its units."""
        allocations = self.books.allocations
        rows = [row for row in self.order if self.free[row] and (hosts is None or allocations.host[row] in hosts)]
        by_request = dict.fromkeys(allocations.request[row] for row in rows)
        loose = dict.fromkeys(by_request, 0)
        for row in rows:
            loose[allocations.request[row]] += self.free[row]
        there = loose.copy()
        loose = {row: min(free, self.running[row] - self.core.get(row, 0)) for row, free in loose.items()}
        stops = {row: self.core[row] for row in by_request if row in self.core and row not in self.whole}
        if hosts is not None:  # of a gang that stops only what is there helps
            stops = {row: min(core, there[row] - loose[row]) for row, core in stops.items() if there[row] > loose[row]}
        broken = gangs_to_break(list(by_request), stops, units - sum(loose.values()))
        for row in self.order:
            if allocations.request[row] in broken:
                taken = self._choose(row, self.free[row])
                units -= taken if hosts is None or allocations.host[row] in hosts else 0
        for request in broken:
            del self.core[request]
        for row in rows:
            request = allocations.request[row]
            if request not in broken:
                taken = self._choose(row, max(0, min(units, loose[request], self.free[row])))
                loose[request] -= taken
                units -= taken

    def _choose(self, row: int, units: int) -> int:
        if units:
            self.chosen[row] = self.chosen.get(row, 0) + units
            self.free[row] -= units
            self.running[self.books.allocations.request[row]] -= units
        return units


def gangs_to_break(order: list[int], core: dict[int, int], short: int) -> set[int]:
    """The fewest gangs that give `short` units by stopping; of equally few, the first in the order of `victims`.

    core : gang → its minimum, the units that go only if it stops
    """
    waiting = [request for request in order if request in core]
    count = 0
    while short > 0 and count < len(waiting) and _largest(core, waiting, count) < short:
        count += 1
    broken: set[int] = set()
    while short > 0 and count > 0 and waiting:
        request = waiting.pop(0)
        if core[request] + _largest(core, waiting, count - 1) >= short:
            broken.add(request)
            short -= core[request]
            count -= 1
    return broken


def _largest(core: dict[int, int], gangs: list[int], count: int) -> int:
    return sum(sorted((core[gang] for gang in gangs), reverse=True)[:count])


class Claimed:
    """What of the claims on a leaf is under notice already.

    left : claims, with units that are to go there and are under no notice
    stay : notice → units that count for a claim
    """

    def __init__(self, books: Books, leaf: int, claims: Claims) -> None:
        notices, allocations = books.notices, books.allocations
        mine = [
            notice
            for request in (books.requests.holders.get(leaf, ()) if claims else ())
            for allocation in allocations.by_request.get(request, ())
            for notice in notices.by_allocation.get(allocation, ())
        ]
        mine.sort(key=lambda notice: (notices.deadline[notice], notices.serial[notice]))
        self.left: Claims = []
        self.stay: dict[int, int] = {}
        for hosts, wanted in claims:
            left = wanted
            for notice in mine:
                if left and allocations.host[notices.allocation[notice]] in hosts:
                    count = min(left, notices.units[notice] - self.stay.get(notice, 0))
                    self.stay[notice] = self.stay.get(notice, 0) + count
                    left -= count
            if left:
                self.left.append((hosts, left))
