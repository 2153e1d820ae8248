"""A public pool where nobody owns anything: usages, quotas and the assignment loop, unit by unit (SPEC §6.4, §6.5).

A tree is path → (share priority, share ratio), in plan order; everything else is looked up by path.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tests.oracles.filling import fill

if TYPE_CHECKING:
    from collections.abc import Mapping

Vector = tuple[int, ...]


@dataclass
class Wish:
    """A request: of which leaf, what a unit needs, how many; where its units stand, in order."""

    leaf: str
    unit: Vector
    count: int
    stands: list[int]


@dataclass
class Pool:
    """A tree, hosts with their amounts, and requests by id, in the order of their leaves."""

    tree: Mapping[str, tuple[int, int]]
    hosts: list[Vector]
    wishes: dict[str, Wish]

    def capacity(self, unit: Vector) -> int:
        return sum(min(have // need for need, have in zip(unit, host, strict=True) if need) for host in self.hosts)

    def children(self, path: str) -> list[str]:
        return [each for each in self.tree if (each.rpartition("/")[0] or "/") == path]

    def below(self, path: str) -> list[Wish]:
        return [wish for wish in self.wishes.values() if f"{wish.leaf}/".startswith(path.rstrip("/") + "/")]

    def usage(self, path: str) -> Fraction:
        return sum((part(len(wish.stands), self.capacity(wish.unit)) for wish in self.below(path)), Fraction(0))

    def demand(self, path: str) -> Fraction:
        """Of a consumer that takes part: without those below it that do not."""
        return sum(
            (
                min(Fraction(1), part(max(wish.count, len(wish.stands)), self.capacity(wish.unit)))
                for wish in self.below(path)
                if self.takes_part(path, wish.leaf)
            ),
            Fraction(0),
        )

    def takes_part(self, above: str, leaf: str) -> bool:
        way = [
            path for path in self.tree if f"{leaf}/".startswith(f"{path}/") and path != above and len(path) > len(above)
        ]
        return all(self.tree[path][1] for path in way)

    def quotas(self) -> dict[str, Fraction]:
        """Everybody's, from the root down."""
        found = {"/": self.usage("/")}
        for path in ["/", *self.tree]:
            left, children = found[path], self.children(path)
            for priority in sorted({self.tree[child][0] for child in children}, reverse=True):
                band = [child for child in children if self.tree[child][0] == priority]
                ratios = [self.tree[child][1] for child in band]
                caps = [self.demand(child) if self.tree[child][1] else Fraction(0) for child in band]
                for child, share in zip(band, fill(left, ratios, [0] * len(band), caps), strict=True):
                    found[child] = Fraction(share)
                left -= sum(found[child] for child in band)
        return found

    def room(self, host: int) -> Vector:
        used = [wish.unit for wish in self.wishes.values() for at in wish.stands if at == host]
        return tuple(have - sum(unit[at] for unit in used) for at, have in enumerate(self.hosts[host]))

    def host_for(self, wish: Wish) -> int | None:
        return next(
            (
                host
                for host in range(len(self.hosts))
                if all(need <= have for need, have in zip(wish.unit, self.room(host), strict=True))
            ),
            None,
        )

    def next(self) -> str | None:
        """The request whose turn it is, all asked anew."""
        able = {
            wish.leaf: name
            for name, wish in reversed(self.wishes.items())
            if len(wish.stands) < wish.count and self.takes_part("/", wish.leaf) and self.host_for(wish) is not None
        }
        path = "/"
        while path not in able:
            open_ = [each for each in self.children(path) if any(f"{leaf}/".startswith(f"{each}/") for leaf in able)]
            if not open_:
                return None
            best = max(self.tree[each][0] for each in open_)
            band = [each for each in open_ if self.tree[each][0] == best]
            path = min(band, key=lambda each: self.usage(each) / self.tree[each][1])  # the first of equal ones
        return able[path]

    def assign(self) -> list[tuple[str, int]]:
        """Place all that fits; (request, host) in the order of placing."""
        placed = []
        while (name := self.next()) is not None:
            host = self.host_for(self.wishes[name])
            assert host is not None
            self.wishes[name].stands.append(host)
            placed.append((name, host))
        return placed


def part(units: int, capacity: int) -> Fraction:
    return Fraction(units, capacity) if capacity else Fraction(0)
