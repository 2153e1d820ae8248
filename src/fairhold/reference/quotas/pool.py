"""Usage quotas of a public pool that has all hosts, as nobody owns any (R-USAGE-1 to R-USAGE-3, R-POOL-3, R-USER-2).

Share limits are not looked at, nor what is owned.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.siting import ANYWHERE, PACK, label_set
from fairhold.model.tree import ROOT
from fairhold.reference.filling import fill
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Request, State
    from fairhold.model.vector import Vector


class Pool:
    """What the hosts of an entry have, and who uses it; by row."""

    def __init__(self, plan: Plan, state: State, entry: PolicyEntry) -> None:
        """Of a state as it is."""
        self.plan, self.state, self.entry, self.tree = plan, state, entry, plan.tree
        hosts = [host for name in entry.resource_groups for host in plan.resource_groups[name].hosts]
        self.labels = {host.name: label_set(host.labels) for host in hosts}
        self.up = {host.name for host in hosts} - state.hosts_down - state.hosts_closed
        self.requests = [request for request in state.requests if request.unit]
        self.parts = {host.name: self._part(host.name, host.amounts) for host in hosts}
        self.held: Counter[str] = Counter()
        for each in state.allocations:
            self.held[each.request] += each.units

    def stated(self, row: int) -> ConsumerSettings:
        """What the entry says of a consumer."""
        return self.entry.consumers.get(row, ConsumerSettings())

    def ratio(self, row: int) -> int:
        """R-USAGE-3: 1 where nothing is stated."""
        ratio = self.stated(row).share_ratio
        return 1 if ratio is None else ratio

    def above(self, row: int) -> list[int]:
        """The consumer and those above it, but for `/`."""
        found = []
        while row != ROOT:
            found.append(row)
            row = self.tree.parent[row]
        return found

    def _part(self, host: str, amounts: Vector) -> Vector:
        """R-POOL-3, R-UP-1: what a host has, with `overcommit`; of one that is not up what is booked on it."""
        if host in self.up:
            pairs = zip(amounts, self.plan.resources, strict=True)
            return tuple(int(have * resource.overcommit) for have, resource in pairs)
        unit = {request.id: request.unit for request in self.requests}
        booked = [each for each in self.state.allocations if each.host == host]
        return tuple(sum(each.units * unit[each.request][at] for each in booked) for at in range(len(amounts)))

    def on(self, host: str, unit: Vector) -> int:
        """Units that fit on a host, were it free."""
        return min(have // need for have, need in zip(self.parts[host], unit, strict=True) if need)

    def capacity(self, unit: Vector) -> int:
        """R-POOL-3: units that fit into the pool, were it free."""
        return sum(self.on(host, unit) for host in self.parts)

    def usage(self, request: Request) -> Fraction:
        """R-USAGE-1: units held / capacity."""
        capacity = self.capacity(request.unit)
        return Fraction(self.held[request.id], capacity) if capacity else Fraction(0)

    def wanted(self, row: int) -> dict[str, int]:
        """R-USER-2: request of a leaf → units that it holds and that wait and count."""
        limit = next(
            (s for s in (self.stated(each).user_limit for each in self.above(row)) if s is not None), UNLIMITED
        )
        mine = [request for request in self.requests if request.consumer == row]
        room = {request.user: limit for request in mine}
        for request in mine:
            room[request.user] -= self.held[request.id]
        found = {}
        for request in sorted(mine, key=lambda each: (-each.priority, each.submitted, each.id)):
            held = self.held[request.id]
            waits = request.count - held if self.can_start(request, limit) else 0
            if request.user:
                waits = max(0, min(waits, room[request.user]))
                waits = 0 if held + waits < request.min_count else waits
                room[request.user] -= waits
            found[request.id] = held + waits
        return found

    def can_start(self, request: Request, limit: int) -> bool:
        """R-GANG-2: whether hosts that are up have room for what it needs at once, and its user may hold it."""
        held = self.held[request.id]
        hosts = [host for host in self.up if request.siting.fits(self.labels[host])]
        packs = request.siting.place == PACK and request.min_count
        stands = {each.host for each in self.state.allocations if each.request == request.id}
        rooms = [self.on(host, request.unit) for host in hosts if not (packs and stands) or host in stands]
        is_gang = held < request.min_count
        room = max(rooms, default=0) if packs else sum(rooms)
        if is_gang and request.user and request.min_count > limit:
            return False
        if is_gang and any(self.ratio(each) == 0 for each in self.above(request.consumer)):
            return False
        return room >= (request.min_count - held if is_gang else 1)

    def usage_demand(self, request: Request, wanted: int) -> Fraction:
        """R-USAGE-2, R-SITE-5."""
        capacity = self.capacity(request.unit)
        will_do = {host for host in self.up if request.siting.fits(self.labels[host])}
        rooms = [self.on(host, request.unit) for host in will_do]
        packs = request.siting.place == PACK and request.min_count
        most = max(rooms, default=0) if packs else sum(rooms)
        if not capacity:
            return Fraction(0)
        stands = [each for each in self.state.allocations if each.request == request.id]
        outside = sum(each.units for each in stands if each.host not in will_do)
        if request.siting != ANYWHERE:
            wanted = max(self.held[request.id], min(wanted, most + outside))
        return max(self.usage(request), min(Fraction(1), Fraction(wanted, capacity)))


def usage_quotas(pool: Pool) -> tuple[dict[int, Fraction], dict[int, Fraction], dict[int, Fraction]]:
    """Row → usage, usage demand and usage quota (R-USAGE-3)."""
    usage: dict[int, Fraction] = {}
    demand: dict[int, Fraction] = {}
    for row in reversed(range(len(pool.tree))):
        children = pool.tree.children[row]
        mine = [request for request in pool.requests if request.consumer == row]
        wanted = pool.wanted(row)
        usage[row] = sum((usage[child] for child in children), Fraction(0)) + sum(map(pool.usage, mine))
        open_ones = [child for child in children if pool.ratio(child)]  # R-SHARE-2: others need nothing
        demand[row] = sum((demand[child] for child in open_ones), Fraction(0)) + sum(
            pool.usage_demand(each, wanted[each.id]) for each in mine
        )
    quota = {ROOT: usage[ROOT]}
    for row in range(len(pool.tree)):
        left = quota[row]
        for priority in sorted({pool.stated(child).share_priority for child in pool.tree.children[row]}, reverse=True):
            same = {str(c): c for c in pool.tree.children[row] if pool.stated(c).share_priority == priority}
            ratios = {name: pool.ratio(child) for name, child in same.items()}
            parts = fill(left, ratios, {}, {name: demand[child] for name, child in same.items()})
            quota |= {same[name]: part for name, part in parts.items()}
            left -= sum(parts.values())
    return usage, demand, quota
