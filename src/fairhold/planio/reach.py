"""How much an owner can have of a resource group at most and at least, as far as the plan alone says it."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Host
    from fairhold.model.vector import Owning, Vector


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

    @classmethod
    def of_hosts(cls, hosts: Sequence[Host]) -> Reach:
        """All of some hosts."""
        return cls(len(hosts), frozenset(host.name for host in hosts), _most(hosts, len(hosts)), _most(hosts, 1))


def most_of(entries: Sequence[Owning], above: Reach, hosts: Sequence[Host]) -> Reach:
    """What the entries of one owner give it at most; `above` is what its parent can have."""
    each = [_most_of_one(own, above, hosts) for own in entries]
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


def _most_of_one(own: Owning, above: Reach, hosts: Sequence[Host]) -> Reach:
    if own.names:
        return Reach.of_hosts([host for host in hosts if host.name in own.names])
    whole = own.hosts
    if own.percent is not None and above.whole is not None:
        whole = floor(own.percent * above.whole)
    if whole is not None:
        return Reach(whole, None, _most(hosts, whole), above.per_host)
    # What is left out follows the largest part, so that only what there is bounds it.
    total, part = dict(own.total), dict(own.per_host)
    amounts = tuple(min(total.get(at, units), units) for at, units in enumerate(above.amounts))
    per_host = tuple(_of_host(part.get(at, units), units) for at, units in enumerate(above.per_host))
    return Reach(None, None, amounts, tuple(map(min, per_host, amounts)))


def _of_host(part: Fraction | int, units: int) -> int:
    """A part or an amount of what there is of one host."""
    return floor(part * units) if isinstance(part, Fraction) else min(part, units)


def _most(hosts: Sequence[Host], count: int) -> Vector:
    """Of every resource what the `count` hosts with the most of it have."""
    columns = zip(*(host.amounts for host in hosts), strict=True)
    return tuple(sum(sorted(column, reverse=True)[:count]) for column in columns)


def least_of(entries: Sequence[Owning], hosts: Sequence[Host], resources: int) -> Vector:
    """What entries take together at least: named hosts, of numbers the smallest ones, totals as far as they say it."""
    amounts = [0] * resources
    for own in entries:
        taken = [host.amounts for host in hosts if host.name in own.names]
        if own.hosts is not None:
            columns = zip(*(host.amounts for host in hosts), strict=True)
            taken = [tuple(sum(sorted(column)[: own.hosts]) for column in columns)]
        for at, units in own.total:
            amounts[at] += units
        for vector in taken:
            amounts = [so_far + units for so_far, units in zip(amounts, vector, strict=True)]
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
