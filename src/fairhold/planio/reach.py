"""How much an owner can have of a resource group at most and at least, as far as the plan alone says it."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import floor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.model.plan import Host
    from fairhold.model.vector import Owning, Vector


class Stock:
    """The hosts of a resource group: what single ones have, and what the largest and smallest have together."""

    def __init__(self, hosts: Sequence[Host], resources: int) -> None:
        self.of = {host.name: host.amounts for host in hosts}
        columns = [sorted(host.amounts[at] for host in hosts) for at in range(resources)]
        self._least = [list(accumulate(column, initial=0)) for column in columns]
        self._most = [list(accumulate(reversed(column), initial=0)) for column in columns]

    def named(self, names: Iterable[str]) -> Vector:
        """What the hosts of these names have together."""
        return tuple(map(sum, zip(*(self.of[name] for name in names), strict=True)))

    def largest(self, count: int) -> Vector:
        """Of every resource what the `count` hosts with the most of it have."""
        return tuple(sums[min(count, len(self.of))] for sums in self._most)

    def smallest(self, count: int) -> Vector:
        """Of every resource what the `count` hosts with the least of it have."""
        return tuple(sums[min(count, len(self.of))] for sums in self._least)


class Reach(NamedTuple):
    """What an owner can have at most.

    whole    : whole hosts; None where it owns parts, or their number is not known
    names    : the hosts that they are, None where the plan leaves it open
    amounts  : of every resource in all, in base units
    per_host : of every resource on one host, in base units
    """

    whole: int | None
    names: frozenset[str] | None
    amounts: Vector
    per_host: Vector


def reach_of_all(stock: Stock) -> Reach:
    """All of a resource group."""
    whole = len(stock.of)
    return Reach(whole, frozenset(stock.of), stock.largest(whole), stock.largest(1))


def most_of(entries: Sequence[Owning], above: Reach, stock: Stock) -> Reach:
    """What the entries of one owner give it at most; `above` is what its parent can have."""
    each = [_most_of_one(own, above, stock) for own in entries]
    wholes = [reach.whole for reach in each]
    names = [reach.names for reach in each]
    amounts = (sum(units) for units in zip(*(reach.amounts for reach in each), strict=True))
    per_host = (sum(units) for units in zip(*(reach.per_host for reach in each), strict=True))
    return Reach(
        None if None in wholes else sum(whole or 0 for whole in wholes),
        None if None in names else frozenset().union(*(part or () for part in names)),
        tuple(map(min, amounts, above.amounts)),
        tuple(map(min, per_host, above.per_host)),
    )


def _most_of_one(own: Owning, above: Reach, stock: Stock) -> Reach:
    if own.names:
        each = zip(*(stock.of[name] for name in own.names), strict=True)
        return Reach(len(own.names), frozenset(own.names), stock.named(own.names), tuple(map(max, each)))
    whole = own.hosts
    if own.percent is not None and above.whole is not None:
        whole = floor(own.percent * above.whole)
    if whole is not None:
        return Reach(whole, None, stock.largest(whole), above.per_host)
    # What is left out follows the largest part, so that only what there is bounds it.
    total, part = dict(own.total), dict(own.per_host)
    amounts = tuple(min(total.get(at, units), units) for at, units in enumerate(above.amounts))
    per_host = tuple(_of_host(part.get(at, units), units) for at, units in enumerate(above.per_host))
    return Reach(None, None, amounts, tuple(map(min, per_host, amounts)))


def _of_host(part: Fraction | int, units: int) -> int:
    """A part or an amount of what there is of one host."""
    return floor(part * units) if isinstance(part, Fraction) else min(part, units)


def least_of(entries: Sequence[Owning], stock: Stock, resources: int, *, are_whole: bool) -> Vector:
    """What entries take together at least: named hosts, of numbers the smallest ones, totals as far as they say it.

    are_whole : whether hosts are whole ones; where the parent owns parts, what hosts bring is not known
    """
    amounts = [0] * resources
    for own in entries:
        for at, units in own.total:
            amounts[at] += units
        if not are_whole:
            continue
        taken = stock.named(own.names) if own.names else stock.smallest(own.hosts or 0)
        for at, units in enumerate(taken):
            amounts[at] += units
    return tuple(amounts)


def per_host_of(entries: Sequence[Owning], resources: int) -> tuple[Vector, tuple[Fraction, ...]]:
    """What entries take of every host together: amounts in base units, and parts, of every resource."""
    amounts, parts = [0] * resources, [Fraction(0)] * resources
    for own in entries:
        for at, stated in own.per_host:
            if isinstance(stated, Fraction):
                parts[at] += stated
            else:
                amounts[at] += stated
    return tuple(amounts), tuple(parts)
