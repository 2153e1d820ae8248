"""The first sweep: what is held is granted to its taker, and what is idle goes out (R-SERVE-1 to R-SERVE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.reference.queues.opening import turn
from fairhold.reference.queues.table import TOP
from fairhold.reference.queues.trimming import count_as_moved
from fairhold.reference.vectors import times, total_of, units_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairhold.model.vector import Vector
    from fairhold.reference.queues.cluster import Ask, Cluster, Unit
    from fairhold.reference.queues.siting import Siting
    from fairhold.reference.queues.table import Table

NONE: Vector = ()


def next_served(cluster: Cluster, table: Table, need: Callable[[Ask], int], without: Collection[Ask]) -> Ask | None:
    """R-SERVE-1: whose turn it is, of all requests that want something.

    need : units that a request is compared with; 0 where it wants nothing
    """

    def best(path: str) -> Ask | None:
        if not table.children[path]:
            mine = [ask for ask in table.asks if ask.leaf == path and ask not in without and need(ask)]
            return min(mine, key=lambda ask: turn(cluster, ask), default=None)
        able = [(child, ask) for child in table.children[path] if (ask := best(child)) is not None]
        return min(able, key=lambda each: rank(table, each[0], each[1], need(each[1])), default=(TOP, None))[1]

    return best(TOP)


def rank(table: Table, path: str, ask: Ask, units: int) -> tuple[object, ...]:
    """What is compared among siblings: smaller is better."""
    more = times(ask.unit, units)
    holds, fair = table.holds[path], table.fair[path]
    return (
        any(holds[at] > fair[at] for at in ask.asked),
        any(holds[at] + more[at] > table.deserved(path, at) for at in ask.asked),
        -table.queue(path).priority,
        table.dominant(path, more),
        table.dominant(path, times(more, 0)),
        table.row[path],
    )


class Serving:
    """Places units on what is idle.

    before : (request, host) where something idle was held before the cycle
    """

    def __init__(self, cluster: Cluster, table: Table, siting: Siting) -> None:
        self.cluster, self.table, self.siting = cluster, table, siting
        self.placed: list[Unit] = []
        self.sure: set[Unit] = set()
        self.before: set[tuple[Ask, str]] = set()

    def is_allowed(self, ask: Ask, units: int) -> bool:
        """R-SERVE-2: within all limits on the way up; what is not preemptible within what is deserved, too.

        Units under notice count as held, and what is on its way to others as there.
        """
        table, more = self.table, times(ask.unit, units)
        for path in table.up(ask.leaf):
            below = [each for each in table.asks if path in table.up(each.leaf)]
            holds, fixed = self.amounts(ask, below), self.amounts(ask, [each for each in below if not each.gives])
            for at in ask.asked:
                if holds[at] + more[at] > table.limit(path, at):
                    return False
                if not ask.gives and fixed[at] + more[at] > table.deserved(path, at):
                    return False
        return True

    def amounts(self, ask: Ask, those: list[Ask]) -> Vector:
        """What requests hold, with what is on its way to them, but for one."""
        cluster = self.cluster
        units = ((each, cluster.held(each) + (each is not ask) * cluster.on_way(each)) for each in those)
        return total_of((times(each.unit, number) for each, number in units), self.table.width)

    def count(self) -> None:
        """What everybody holds, as moved: by this turns are compared."""
        count_as_moved(self.cluster, self.table)

    def grant_held(self) -> None:
        """R-SERVE-3: what is held for a request and free by now is granted to it before anything else."""
        cluster = self.cluster
        self.count()
        self.before = {
            (ask, host) for ask, ways in cluster.coming.items() for host in ways if any(cluster.kept(ask, host))
        }
        for ask in list(cluster.coming):
            hosts = {host: self.free_now(ask, host) for host in cluster.coming[ask]}
            missing = cluster.missing(ask)
            if missing and ask.packs:
                hosts = {host: units for host, units in hosts.items() if units >= missing}
            if missing and sum(hosts.values()) < missing:
                continue
            rest = missing or cluster.waiting(ask)
            for host, units in hosts.items():
                for _ in range(min(units, rest)):
                    if missing or self.is_allowed(ask, 1):
                        self.sure.add(self._place(ask, host))
                        rest -= 1

    def free_now(self, ask: Ask, host: str) -> int:
        """Units of it that fit into what is held for it there and is idle."""
        if self.cluster.is_taken(ask, host, at_once=True):
            return 0
        return min(self.cluster.coming[ask][host], units_in(ask.unit, self.cluster.kept(ask, host)))

    def serve(self) -> None:
        """R-SERVE-1, R-SERVE-2: what is idle goes out; what fits nowhere is not tried again."""
        tried: set[Ask] = set()
        self.count()
        while (ask := next_served(self.cluster, self.table, self._turn, tried)) is not None:
            if not self._give(ask):
                tried.add(ask)

    def _turn(self, ask: Ask) -> int:
        if not self.cluster.waiting(ask):
            return 0
        return self.cluster.missing(ask) or 1

    def _give(self, ask: Ask) -> bool:
        """One unit, or all that a gang misses to its minimum; returns whether it got them."""
        units = self._turn(ask)
        if not self.is_allowed(ask, units):
            return False
        hosts = self._rooms(ask, units)
        if len(hosts) < units:
            return False
        for host in hosts:
            self._place(ask, host)
        return True

    def _rooms(self, ask: Ask, units: int) -> list[str]:
        """Hosts for so many units, one after the other; fewer where not all find room."""
        cluster = self.cluster
        undo: list[Unit] = []
        found: list[str] = []
        ways = {ask: dict(cluster.coming.get(ask, {}))}
        while len(found) < units:
            hosts = [host for host in cluster.suitable(ask) if self._has_room(ask, host)]
            if ask.packs:
                hosts = [host for host in hosts if self._room(ask, host) >= units - len(found)]
                keeps = [host for host in hosts if any(cluster.kept(ask, host))]
                hosts = keeps or hosts
            if not hosts:
                break
            host = self.siting.order(ask, hosts)[0]
            found.append(host)
            undo.append(self._put(ask, host))
        cluster.units = [unit for unit in cluster.units if unit not in undo]
        self.sure -= set(undo)
        if ways[ask]:
            cluster.coming[ask] = ways[ask]
        return found

    def _room(self, ask: Ask, host: str) -> int:
        there = total_of([self.cluster.idle(host), self.cluster.kept(ask, host)], self.table.width)
        return units_in(ask.unit, there) if self.cluster.hosts[host].is_open else 0

    def _has_room(self, ask: Ask, host: str) -> bool:
        return self._room(ask, host) > 0 and not self.cluster.is_taken(ask, host, at_once=True)

    def _put(self, ask: Ask, host: str) -> Unit:
        """A unit stands there; what is held for it there it uses first.

        What stands so on what was held before the cycle is sure, and so is its gang (R-SERVE-3).
        """
        cluster = self.cluster
        is_held = any(cluster.kept(ask, host))
        if is_held:
            cluster.coming[ask][host] -= 1
        unit = cluster.place(ask, host)
        if is_held and (ask, host) in self.before:
            self.sure.add(unit)
        return unit

    def _place(self, ask: Ask, host: str) -> Unit:
        unit = self._put(ask, host)
        self.placed.append(unit)
        self.table.came(ask, 1)
        return unit
