"""How much an owner can have of a resource group at most, as far as the plan alone says it (SPEC §6.1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.vector import part_of, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fairhold.model.plan import Host
    from fairhold.model.vector import Owning, Resource, Vector

Kinds = tuple[tuple["Vector", int], ...]
"""What there is of a host, and of how many hosts; they are alike in it."""


class Reach(NamedTuple):
    """What an owner can have at most.

    kinds    : hosts of which it can have some, and what of each
    number   : of how many of them it has some; None where that is not known
    names    : the hosts that they are, None where the plan leaves it open
    amounts  : of every resource in all, in base units
    has_parts: whether it owns parts of hosts, not whole ones
    """

    kinds: Kinds
    number: int | None
    names: frozenset[str] | None
    amounts: Vector
    has_parts: bool = False

    @property
    def per_host(self) -> Vector:
        """Of every resource the most that it can have on one host."""
        columns = zip(*(vector for vector, _ in self.kinds), strict=True)
        return tuple(min(max(column), all_) for column, all_ in zip(columns, self.amounts, strict=True))


def reach_of_all(hosts: Sequence[Host]) -> Reach:
    """All of a resource group."""
    kinds = tuple(Counter(host.amounts for host in hosts).items())
    return Reach(kinds, len(hosts), frozenset(host.name for host in hosts), largest(kinds, len(hosts)))


def largest(kinds: Kinds, count: int, room: Callable[[Vector], Vector] = tuple) -> Vector:
    """Of every resource what the `count` hosts with the most of it have; `room`: what of each is looked at."""
    rooms = [(room(vector), hosts) for vector, hosts in kinds]
    found = []
    for at in range(len(kinds[0][0]) if kinds else 0):
        left, units = count, 0
        for vector, hosts in sorted(rooms, key=lambda each: -each[0][at]):
            units += vector[at] * min(left, hosts)
            left -= min(left, hosts)
        found.append(units)
    return tuple(found)


def most_of(entries: Sequence[Owning], above: Reach, of: Mapping[str, Vector], resources: Sequence[Resource]) -> Reach:
    """What the entries of one owner give it at most.

    above : what its parent can have; of: host → what it has
    """
    each = [_most_of_one(own, above, of, resources) for own in entries]
    counts = [reach.number for reach in each]
    hosts = sum(number for _, number in above.kinds)
    names = [reach.names for reach in each]
    columns = zip(*(reach.amounts for reach in each), strict=True)
    return Reach(
        each[0].kinds if len(each) == 1 else above.kinds,
        None if None in counts else min(hosts, sum(count or 0 for count in counts)),
        None if None in names else frozenset().union(*(part or () for part in names)),
        tuple(min(sum(column), all_) for column, all_ in zip(columns, above.amounts, strict=True)),
        any(reach.has_parts for reach in each),
    )


def _most_of_one(own: Owning, above: Reach, of: Mapping[str, Vector], resources: Sequence[Resource]) -> Reach:
    if own.names:
        kinds = tuple(Counter(of[name] for name in own.names).items())
        return Reach(kinds, len(own.names), frozenset(own.names), largest(kinds, len(own.names)), above.has_parts)
    count = count_of(own, above.number)
    if count is not None:
        return Reach(above.kinds, count, None, largest(above.kinds, count), above.has_parts)
    if own.per_host:
        parts: Counter[Vector] = Counter()
        for vector, hosts in above.kinds:
            parts[part_of(own, vector, steps_of(resources))] += hosts
        kinds = tuple(parts.items())
        some = above.number if above.number is not None else sum(parts.values())
        return Reach(kinds, above.number, None, largest(kinds, some), has_parts=True)
    # Of a total what is left out follows the largest part, so that only what there is bounds it.
    total = dict(own.total)
    amounts = tuple(min(total.get(at, units), units) for at, units in enumerate(above.amounts))
    return Reach(above.kinds, None, None, amounts, has_parts=bool(total) or above.has_parts)


def count_of(own: Owning, there: int | None) -> int | None:
    """Whole hosts that an entry asks for of so many; None where it asks for parts, or nobody knows."""
    if own.names:
        return len(own.names)
    if own.percent is not None and there is not None:
        return floor(own.percent * there)
    return own.hosts


def together(entries: Iterable[Owning], whole: Vector, resources: Sequence[Resource]) -> Vector:
    """What entries by host ask of one host together."""
    parts = [part_of(own, whole, steps_of(resources)) for own in entries if own.per_host]
    return tuple(map(sum, zip(*parts, strict=True))) if parts else (0,) * len(whole)


def per_host_of(entries: Sequence[Owning], resources: int) -> tuple[Vector, tuple[Fraction, ...]]:
    """What entries name of every host together: amounts in base units, and parts, of every resource."""
    amounts, parts = [0] * resources, [Fraction(0)] * resources
    for own in entries:
        for at, stated in own.per_host:
            if isinstance(stated, Fraction):
                parts[at] += stated
            else:
                amounts[at] += stated
    return tuple(amounts), tuple(parts)
