"""Fair shares of queues, resource by resource (R-QUEUE-1 to R-QUEUE-4)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.siting import label_set
from fairhold.model.tree import ROOT
from fairhold.reference.filling import fill
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.plan import Host, Plan, PolicyEntry
    from fairhold.model.queue import QueueSettings
    from fairhold.model.state import Request, State


class Queues:
    """The queues of one entry and one resource, by row; base units.

    total : what is divided (R-UP-1)
    """

    def __init__(self, plan: Plan, state: State, entry: PolicyEntry, resource: int) -> None:
        """Of a plan and a state as it is. resource : its place in the plan."""
        self.plan, self.state, self.entry, self.at = plan, state, entry, resource
        self.tree, self.step = plan.tree, plan.resources[resource].step
        self.hosts = [host for name in entry.resource_groups for host in plan.resource_groups[name].hosts]
        self.away = state.hosts_down | state.hosts_closed
        self.total = self._total()
        self.held = {row: self._held(row) for row in range(len(self.tree))}

    def queue(self, row: int) -> QueueSettings:
        """What is stated for a queue."""
        return self.entry.consumers.get(row, ConsumerSettings()).queue

    def limit(self, row: int) -> int:
        """The most that a queue may hold."""
        return dict(self.queue(row).limit).get(self.at, UNLIMITED)

    def weight(self, row: int) -> Fraction:
        """The over-quota weight, 1 where nothing is stated."""
        return dict(self.queue(row).weight).get(self.at, Fraction(1))

    def _there(self, host: Host) -> int:
        return int(host.amounts[self.at] * self.plan.resources[self.at].overcommit)

    def _total(self) -> int:
        if not self.hosts:
            groups = [self.plan.resource_groups[name] for name in self.entry.resource_groups]
            return sum(self.state.capacity.get(group.name, group.capacity)[self.at] for group in groups)
        unit = {request.id: request.unit for request in self.state.requests}
        names = {host.name for host in self.hosts} & self.away
        booked = sum(each.units * unit[each.request][self.at] for each in self.state.allocations if each.host in names)
        return booked + sum(self._there(host) for host in self.hosts if host.name not in self.away)

    def _held(self, row: int) -> int:
        """What a leaf holds; what is under notice counts."""
        if self.tree.children[row]:
            return 0
        mine = {request.id: request.unit for request in self._requests(row)}
        amounts = sum(self.state.held_amounts.get((row, name), _none(self.plan))[self.at] for name in self._groups())
        units = [each for each in self.state.allocations if each.request in mine]
        return amounts + sum(each.units * mine[each.request][self.at] for each in units)

    def _groups(self) -> tuple[str, ...]:
        return self.entry.resource_groups

    def _requests(self, row: int) -> list[Request]:
        return [request for request in self.state.requests if request.consumer == row and request.unit]

    def requested(self, row: int) -> int:
        """What a leaf holds and waits for, and the sum of a parent's children; limits play no part."""
        children = self.tree.children[row]
        if children:
            return sum(self.requested(child) for child in children)
        wanted = sum(self.state.wanted.get((row, name), _none(self.plan))[self.at] for name in self._groups())
        found = max(self.held[row], wanted)
        for request in self._requests(row):
            held = sum(each.units for each in self.state.allocations if each.request == request.id)
            if self.could_start(request, held):
                found += (request.count - held) * request.unit[self.at]
        return found

    def could_start(self, request: Request, held: int) -> bool:
        """Whether suitable hosts that are up could take a unit, were they empty; of a gang its minimum at once.

        A gang below its minimum has to fit within the limits on its way up, too.
        """
        least = request.min_count if held < request.min_count else 0
        if not self.hosts:
            return True
        if not self._within_limits(request, least):
            return False
        rooms = [
            min(
                int(have * resource.overcommit) // need
                for need, have, resource in zip(request.unit, host.amounts, self.plan.resources, strict=True)
                if need
            )
            for host in self.hosts
            if host.name not in self.away and request.siting.fits(label_set(host.labels))
        ]
        room = max(rooms, default=0) if request.siting.place == "pack" and request.min_count else sum(rooms)
        return room >= max(1, least)

    def _within_limits(self, request: Request, units: int) -> bool:
        """Whether so many units are within all limits on the way up of their leaf."""
        row = request.consumer
        while row != ROOT:
            limits = dict(self.queue(row).limit)
            if any(units * need > limits.get(at, UNLIMITED) for at, need in enumerate(request.unit)):
                return False
            row = self.tree.parent[row]
        return True

    def usable(self, row: int) -> int:
        """R-QUEUE-1: what a queue can use, within its limit."""
        children = self.tree.children[row]
        below = sum(self.usable(child) for child in children) if children else self.requested(row)
        return below if row == ROOT else min(self.limit(row), below)

    def usage(self, row: int) -> Fraction:
        """R-QUEUE-4: decayed history; of a parent that states none its children's sum."""
        if row in self.state.usage:
            return self.state.usage[row][self.at]
        return sum((self.usage(child) for child in self.tree.children[row]), Fraction(0))


def fair_shares(queues: Queues) -> dict[int, Fraction]:
    """Row → fair share; from the top down every queue divides what it is entitled to among its children."""
    found = {ROOT: Fraction(queues.total)}
    for row in range(len(queues.tree)):
        children = queues.tree.children[row]
        if children and row in found:
            found |= _among(queues, found[row], children)
    return found


def _among(queues: Queues, amount: Fraction, children: Sequence[int]) -> dict[int, Fraction]:
    """R-QUEUE-2, then R-QUEUE-3 band by band."""
    usable = {row: Fraction(queues.usable(row)) for row in children}
    found = {}
    for row in children:
        deserved = dict(queues.queue(row).deserved).get(queues.at, 0)
        found[row] = min(amount if deserved == UNLIMITED else Fraction(deserved), usable[row])
    left = max(Fraction(0), amount - sum(found.values()))
    for priority in sorted({queues.queue(row).priority for row in children}, reverse=True):
        band = [row for row in children if queues.queue(row).priority == priority and usable[row] > found[row]]
        for weights in _parts(queues, amount, band):
            caps = {row: usable[row] - found[row] for row in weights}
            for row, part in in_steps(left, weights, caps, queues.step).items():
                found[row] += part
                left -= part
    return found


def _parts(queues: Queues, amount: Fraction, band: Sequence[int]) -> list[dict[int, Fraction]]:
    """R-QUEUE-4: by what a band is filled, and then by what those of it who have used too much."""
    weights = {row: queues.weight(row) for row in band if queues.weight(row)}
    settings = queues.entry.settings.fair_share
    k = settings.k if settings else Fraction(0)
    every = sum(weights.values())
    if not k or not every:
        return [weights]
    of_cluster = amount / queues.total if queues.total else Fraction(0)
    parts = {}
    for row, weight in weights.items():
        part = weight / every
        used = queues.usage(row) / of_cluster if of_cluster else Fraction(0)
        parts[row] = max(Fraction(0), part + k * (part - used))
    late = {row: weights[row] for row, part in parts.items() if not part}
    return [{row: part for row, part in parts.items() if part}, late]


def in_steps(
    amount: Fraction, weights: Mapping[int, Fraction], caps: Mapping[int, Fraction], step: int
) -> dict[int, Fraction]:
    """R-QUEUE-3: filled by weights, then in whole steps: the largest fraction first, then plan order."""
    named = fill(
        amount, {str(row): weight for row, weight in weights.items()}, {}, {str(r): c for r, c in caps.items()}
    )
    exact = {row: named[str(row)] for row in weights}
    found = {row: part if part == caps[row] else Fraction(part // step * step) for row, part in exact.items()}
    left = sum(exact.values()) - sum(found.values())
    order = sorted(weights, key=lambda row: (-(exact[row] - found[row]), row))
    while left > 0 and any(found[row] < caps[row] for row in order):
        for row in order:
            more = min(Fraction(step), caps[row] - found[row], left)
            found[row] += more
            left -= more
    return found


def _none(plan: Plan) -> tuple[int, ...]:
    return (0,) * len(plan.resources)
