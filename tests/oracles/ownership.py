"""Quotas of `ownership`, alone or beside `hybrid`, one slot after another by the words of SPEC §4."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Consumer:
    """A consumer of `ownership`; `place` orders leaves by path, `level` counts from the first level."""

    path: str
    parent: Consumer | None
    owned: int
    reserved: int
    limit: int
    demand: int
    ratio: int | None
    place: int
    lend_to: Mapping[str, int] = field(default_factory=dict)
    borrow_from: Mapping[str, int] = field(default_factory=dict)
    children: list[Consumer] = field(default_factory=list)
    quota: int = 0
    own: int = 0
    balance: int = 0
    share: Fraction = Fraction(0)
    borrowed: dict[str, int] = field(default_factory=dict)

    @property
    def line(self) -> list[Consumer]:
        """Itself and all above it."""
        return [self, *(self.parent.line if self.parent else [])]

    @property
    def leaves(self) -> list[Consumer]:
        """The leaves inside, in path order."""
        if not self.children:
            return [self]
        return sorted((leaf for child in self.children for leaf in child.leaves), key=lambda leaf: leaf.place)

    @property
    def need(self) -> int:
        """What a leaf needs."""
        return min(self.limit, max(self.demand, self.reserved))

    @property
    def has_room(self) -> bool:
        """Whether a slot more is wanted and allowed by every limit."""
        return self.quota < self.need and all(each.quota < each.limit for each in self.line)

    def get(self) -> None:
        """Get one slot more."""
        for each in self.line:
            each.quota += 1


def divide(first_level: list[Consumer], slots: int, *, is_alone: bool) -> None:
    """Set the quotas of all; `slots` are those of the group, or of `ownership` beside `hybrid`."""
    leaves = sorted((leaf for top in first_level for leaf in top.leaves), key=lambda leaf: leaf.place)
    left = slots
    for leaf in leaves:
        while left and leaf.own < leaf.owned and leaf.has_room:
            leaf.get()
            leaf.own += 1
            left -= 1
    for branch in _branches(first_level):
        more = branch.owned - sum(child.owned for child in branch.children)
        for leaf in branch.leaves:
            while left and more and leaf.has_room:
                leaf.get()
                leaf.balance += 1
                left -= 1
                more -= 1
    _lend(leaves, left)
    unowned = slots - sum(top.owned for top in first_level)
    if is_alone and unowned > 0:
        _share(leaves, unowned)


def _branches(first_level: list[Consumer]) -> list[Consumer]:
    """Deepest first, then in path order."""
    found = [each for each in _all(first_level) if each.children]
    return sorted(found, key=lambda each: (-len(each.line), each.place))


def _all(consumers: list[Consumer]) -> list[Consumer]:
    return [each for one in consumers for each in (one, *_all(one.children))]


def _lend(leaves: list[Consumer], left: int) -> None:
    by_path = {leaf.path: leaf for leaf in leaves}
    offer = {leaf.path: leaf.owned - max(leaf.need, leaf.reserved) for leaf in leaves}
    for leaf in leaves:
        for path, most in leaf.borrow_from.items():
            if path not in by_path or leaf.path not in by_path[path].lend_to:
                continue
            got = 0
            while left and got < min(most, by_path[path].lend_to[leaf.path]) and offer[path] > 0 and leaf.has_room:
                leaf.get()
                got += 1
                left -= 1
                offer[path] -= 1
            leaf.borrowed[path] = got


def _share(leaves: list[Consumer], unowned: int) -> None:
    """The level rises from stop to stop: a leaf that has enough, or a branch that is full, stays where it is."""
    rising = [leaf for leaf in leaves if leaf.ratio and leaf.quota < leaf.need]
    left = Fraction(unowned)
    while rising and left:
        room = {id(each): Fraction(each.limit - each.quota) for leaf in leaves for each in leaf.line}
        for leaf in leaves:
            for each in leaf.line:
                room[id(each)] -= leaf.share
        rising = [leaf for leaf in rising if leaf.share < leaf.need - leaf.quota]
        rising = [leaf for leaf in rising if all(room[id(each)] for each in leaf.line)]
        if not rising:
            break
        steps = [(leaf.need - leaf.quota - leaf.share) / (leaf.ratio or 1) for leaf in rising]
        steps.append(left / sum(leaf.ratio or 0 for leaf in rising))
        steps += [
            room[id(each)] / sum(leaf.ratio or 0 for leaf in rising if each in leaf.line)
            for each in {id(each): each for leaf in rising for each in leaf.line}.values()
        ]
        for leaf in rising:
            leaf.share += min(steps) * (leaf.ratio or 0)
            left -= min(steps) * (leaf.ratio or 0)
    total = sum(leaf.share for leaf in leaves)
    assert total.denominator == 1
    odd = [leaf for leaf in leaves if leaf.share.denominator > 1]
    for leaf in leaves:
        for _ in range(int(leaf.share)):
            leaf.get()
    left_over = int(total) - sum(int(leaf.share) for leaf in leaves)
    for leaf in odd:
        if left_over and leaf.has_room:
            leaf.get()
            left_over -= 1
    assert left_over == 0
