"""How busy hosts are, and which of many is the least busy one (S2.21, R-PLACE-2)."""

from __future__ import annotations

from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from math import lcm
from typing import TYPE_CHECKING

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


class Loads:
    """The workloads of hosts while units are placed on them, and for every kind of request the hosts still to try.

    A workload only grows while units are placed, so that the line of a kind is put right where its first host is asked
    for: it is a heap of (workload when it was last looked at, place), and what has grown since sinks.

    All workloads are whole numbers of one common part of the hosts' amounts.
    """

    def __init__(self, hosts: list[Machine]) -> None:
        whole = lcm(*{amount for host in hosts for amount in host.total if amount})
        self._at = {host: at for at, host in enumerate(hosts)}
        self._used = [used_of(host) for host in hosts]
        self._part = [[whole // amount if amount else 0 for amount in host.total] for host in hosts]
        self._load = [self._weigh(at) for at in range(len(hosts))]
        self._lines: dict[object, list[tuple[int, int]]] = {}

    def _weigh(self, at: int) -> int:
        return max([used * part for used, part in zip(self._used[at], self._part[at], strict=True)], default=0)

    def change(self, host: Machine, unit: Vector, units: int) -> None:
        """Units came to a host, or went again where the number is negative."""
        at = self._at[host]
        used = self._used[at]
        for place, amount in enumerate(unit):
            used[place] += units * amount
        self._load[at] = self._weigh(at)

    def first(self, kind: object) -> int | None:
        """Place of the least busy host left for a kind, of equals the first in inventory; None = none is left."""
        line = self._lines.get(kind)
        if line is None:
            line = self._lines[kind] = [(load, at) for at, load in enumerate(self._load)]
            heapify(line)
        while line:
            load, at = line[0]
            if load == self._load[at]:
                return at
            heapreplace(line, (self._load[at], at))
        return None

    def pass_over(self, kind: object) -> None:
        """The first host has no room for a kind, and will not have any."""
        heappop(self._lines[kind])

    def forget(self, kind: object) -> None:
        """Units went again: all hosts are to be tried."""
        self._lines.pop(kind, None)
