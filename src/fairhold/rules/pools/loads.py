"""Workloads of hosts, and a fast search for the least busy host (S2.21, R-PLACE-2)."""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heapreplace
from math import lcm
from operator import mul
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, times

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine


def workload(host: Machine) -> Fraction:
    """The largest part in use of any dimension."""
    used = used_of(host)
    return max((Fraction(one, all_) for one, all_ in zip(used, host.total, strict=True) if all_), default=Fraction(0))


def used_of(host: Machine) -> list[int]:
    """What units have of a host."""
    if not host.units:
        return [0] * len(host.total)
    return [sum(column) for column in zip(*[unit.asked.unit for unit in host.units], strict=True)]


def common_parts(hosts: list[Machine]) -> list[Vector]:
    """For each host how many common parts a base unit of it is, so that workloads are whole numbers of these parts."""
    whole = lcm(*{amount for host in hosts for amount in host.total if amount})
    part = {
        size: tuple([whole // amount if amount else 0 for amount in size]) for size in {each.total for each in hosts}
    }
    return [part[host.total] for host in hosts]


def places_of(hosts: list[Machine]) -> dict[Machine, int]:
    """Places of hosts by workload while books are opened: equal ones have the same, and a larger one a larger."""
    for host in hosts:
        if host.taken is None:
            host.taken = tuple(used_of(host))
    loads = [max(map(mul, host.taken or (), part)) for host, part in zip(hosts, common_parts(hosts), strict=True)]
    place = {load: at for at, load in enumerate(sorted(set(loads)))}
    return {host: place[load] for host, load in zip(hosts, loads, strict=True)}


class Loads:
    """The workloads of hosts while units are placed on them, and for every kind of request the hosts still to try.

    A workload only grows while units are placed, so that the line of a kind is put right where its first host is asked
    for: it is a heap of workloads when they were last looked at, and what has grown since sinks.

    In a heap a workload in common parts stands with the host's place, as workload · hosts + place.
    """

    def __init__(self, hosts: list[Machine]) -> None:
        self._at = {host: at for at, host in enumerate(hosts)}
        self._part = common_parts(hosts)
        self._used = [tuple(map(mul, used_of(host), part)) for host, part in zip(hosts, self._part, strict=True)]
        """Host by host what is used of every dimension, in common parts."""
        self._load = [max(used, default=0) * len(hosts) + at for at, used in enumerate(self._used)]
        self._weighed: dict[tuple[Vector, Vector], Vector] = {}
        self._lines: dict[object, list[int]] = {}

    def change(self, host: Machine, unit: Vector, units: int) -> None:
        """Units came to a host, or went again where the number is negative."""
        at = self._at[host]
        part = self._part[at]
        more = self._weighed.get((unit, part))
        if more is None:
            more = self._weighed[unit, part] = tuple(map(mul, unit, part))
        self._used[at] = used = add(self._used[at], more if units == 1 else times(more, units))
        self._load[at] = max(used) * len(self._load) + at

    def first(self, kind: object) -> int | None:
        """Place of the least busy host left for a kind, of equals the first in inventory; None = none is left."""
        line, loads, hosts = self._lines.get(kind), self._load, len(self._load)
        if line is None:
            line = self._lines[kind] = sorted(loads)
        while line:
            at = line[0] % hosts
            if line[0] == loads[at]:
                return at
            heapreplace(line, loads[at])
        return None

    def pass_over(self, kind: object) -> None:
        """The first host has no room for a kind, and will not have any."""
        heappop(self._lines[kind])

    def forget(self, kind: object) -> None:
        """Units went again: all hosts are to be tried."""
        self._lines.pop(kind, None)
