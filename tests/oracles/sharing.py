"""Sharing by ratio, exact and slow (SPEC §5): the level rises from event to event, one leaf or branch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles.filling import fill, whole


@dataclass
class Node:
    """A consumer; children in order of (rank, plan order). `wants` counts at leaves."""

    ratio: int = 1
    limit: int | None = None
    wants: int = 0
    children: list[Node] = field(default_factory=list)
    need: int = 0
    planned: Fraction = Fraction(0)
    exact: Fraction = Fraction(0)
    quota: int = 0

    def leaves(self) -> list[Node]:
        return [leaf for child in self.children for leaf in child.leaves()] if self.children else [self]

    def all(self) -> list[Node]:
        return [self, *(node for child in self.children for node in child.all())]


def capped(node: Node, units: int) -> int:
    return units if node.limit is None else min(units, node.limit)


def assess(node: Node, *, most: int | None = None, takes: bool = True) -> int:
    """Need of a subtree; `most`: what every leaf wants instead of its own number."""
    takes = takes and node.ratio > 0
    below = [assess(child, most=most, takes=takes) for child in node.children]
    own = node.wants if most is None else most
    node.need = capped(node, sum(below) if node.children else own) if takes else 0
    return node.need


def weights(node: Node, weight: Fraction = Fraction(1)) -> dict[int, Fraction]:
    """Weight of every leaf, by identity."""
    if not node.children:
        return {id(node): weight}
    total = sum(child.ratio for child in node.children)
    found: dict[int, Fraction] = {}
    for child in node.children:
        found |= weights(child, weight * child.ratio / total if total else Fraction(0))
    return found


def rise(root: Node, slots: int) -> None:
    """One filling over all leaves: `exact` of everybody. Whoever meets its cap stops, with all below it."""
    weight = weights(root)
    level, amount = Fraction(0), {id(leaf): Fraction(0) for leaf in root.leaves()}
    rising = {id(leaf) for leaf in root.leaves() if leaf.need and weight[id(leaf)]}

    def speed(node: Node) -> Fraction:
        return sum((weight[id(leaf)] for leaf in node.leaves() if id(leaf) in rising), Fraction(0))

    def room(node: Node) -> Fraction:
        cap = slots if node is root else node.limit if node.children else node.need
        held = sum((amount[id(leaf)] for leaf in node.leaves()), Fraction(0))
        return Fraction(10**30 if cap is None else cap) - held

    while rising:
        step = min(room(node) / speed(node) for node in root.all() if speed(node))
        level += step
        for leaf in root.leaves():
            amount[id(leaf)] += step * weight[id(leaf)] if id(leaf) in rising else 0
        for node in root.all():
            if not room(node):
                rising -= {id(leaf) for leaf in node.leaves()}
    for node in root.all():
        node.exact = sum((amount[id(leaf)] for leaf in node.leaves()), Fraction(0))


def pour(node: Node, amount: Fraction, floors: dict[int, int]) -> None:
    """Top-down: `exact` of everybody below a node that has `amount`."""
    node.exact = amount
    below = node.children
    shares = fill(
        amount, [child.ratio for child in below], [floors.get(id(child), 0) for child in below], [c.need for c in below]
    )
    for child, share in zip(below, shares, strict=True):
        pour(child, share, floors)


def entitle(root: Node, slots: int, *, by_leaf: bool) -> None:
    """Planned shares, needs, exact shares and quotas of everybody."""
    assess(root, most=10**15)
    _share(root, slots, {}, by_leaf=by_leaf)
    for node in root.all():
        node.planned = node.exact
    assess(root)
    floors = {id(node): min(node.need, int(node.planned)) for node in root.all()}
    _share(root, slots, floors, by_leaf=by_leaf)
    if by_leaf:
        root.quota = int(root.exact)
        _round(root)
    else:
        root.quota = min(slots, root.need)
        _round_level_by_level(root, floors)


def _share(root: Node, slots: int, floors: dict[int, int], *, by_leaf: bool) -> None:
    if by_leaf:
        rise(root, slots)
    else:
        pour(root, Fraction(min(slots, root.need)), floors)


def _round(node: Node) -> None:
    for child, units in zip(node.children, whole([c.exact for c in node.children], node.quota), strict=True):
        child.quota = units
        _round(child)


def _round_level_by_level(node: Node, floors: dict[int, int]) -> None:
    below = node.children
    shares = fill(
        Fraction(node.quota), [c.ratio for c in below], [floors[id(c)] for c in below], [c.need for c in below]
    )
    for child, units in zip(below, whole(shares, node.quota), strict=True):
        child.quota = units
        _round_level_by_level(child, floors)
