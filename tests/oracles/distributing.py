"""Idle units, set aside and granted, one unit at a time (SPEC §8.3)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Node:
    """A consumer; children in order of (rank, plan order). `held` of a branch is its leaves' sum."""

    row: int
    quota: int = 0
    limit: int = 0
    demand: int = 0
    reserve: int = 0
    held: int = 0
    kept: int = 0
    above: Node | None = None
    children: list[Node] = field(default_factory=list)
    wish: int = 0
    own: int = 0
    granted: int = 0

    def all(self) -> list[Node]:
        """The subtree in path order, itself first."""
        return [self, *(node for child in self.children for node in child.all())]

    def chain(self) -> list[Node]:
        """The node and all above it but the root."""
        return [self, *self.above.chain()] if self.above else []


def set_aside(root: Node, idle: int) -> int:
    """Set idle units aside, one by one: returns what is left for everybody."""

    def wish(node: Node) -> int:
        inside = sum(wish(child) for child in node.children)
        lacks = node.reserve - node.held if node.above else 0
        node.wish = max(lacks, inside, 0 if node.children else node.kept)
        return node.wish

    def put(node: Node) -> None:
        """One unit for the subtree: to the first child that still wishes, else it is the node's own."""
        node.wish -= 1
        for child in node.children:
            if child.wish > 0:
                put(child)
                return
        node.own += 1

    wish(root)
    left = idle
    while left and root.wish:
        put(root)
        left -= 1
    return left


def near(node: Node) -> int:
    """What a subtree can be granted of what is set aside inside it."""
    if not node.children:
        return min(node.own, can(node))
    return min(can(node), node.own + sum(near(child) for child in node.children))


def can(node: Node) -> int:
    """What a subtree can be granted, were everything idle."""
    room = max(0, node.quota - node.held)
    if not node.children:
        return min(room, max(0, node.demand - node.held))
    inside = sum(can(child) for child in node.children)
    usable = node.own + sum(near(child) for child in node.children)
    return min(room, inside, usable + max(0, below_limit(node))) if node.above else inside


def below_limit(node: Node) -> int:
    """Units from outside that a subtree may be granted: what is set aside inside it counts as held."""
    return node.limit - node.held - sum(each.own for each in node.all())


def first_pass(root: Node, common: int) -> dict[int, int]:
    """Units of every leaf: top-down, the first before others, nobody above its quota."""
    granted: dict[int, int] = {}

    def hand(node: Node, units: int) -> None:
        if not node.children:
            granted[node.row] = units
            return
        part = [0] * len(node.children)
        beyond = max(0, units - sum(near(child) for child in node.children))
        for at, child in enumerate(node.children):
            while part[at] < can(child) and sum(part) < units:
                if part[at] >= near(child):
                    if beyond == 0:
                        break
                    beyond -= 1
                part[at] += 1
        for child, share in zip(node.children, part, strict=True):
            hand(child, share)

    hand(root, min(can(root), near(root) + common))
    return granted


def grant(root: Node, common: int) -> int:
    """Both passes; raises `granted` and `held`, lowers `own`. Returns what is left for everybody."""
    leaves = [node for node in root.all() if not node.children and node.above]
    first = first_pass(root, common)
    for leaf in leaves:
        for _ in range(first[leaf.row]):
            common -= take(root, leaf)
    for leaf in leaves:
        while (
            leaf.held < min(leaf.quota, leaf.demand)
            and common + sum(node.own for node in leaf.chain()) > 0
            and is_within_limits(leaf)
        ):
            common -= take(root, leaf)
    return common


def is_within_limits(leaf: Node) -> bool:
    """Whether one unit more, of what is set aside nearest to a leaf, leads nobody above it beyond its limit."""
    near = 0
    for node in leaf.chain():
        near += node.own
        if node.held >= node.limit or (not near and below_limit(node) <= 0):
            return False
    return True


def take(root: Node, leaf: Node) -> int:
    """One unit for a leaf, of what is set aside nearest to it; 1 where it comes from what is left for everybody."""
    leaf.granted += 1
    root.held += 1
    for node in leaf.chain():
        node.held += 1
    for node in leaf.chain():
        if node.own:
            node.own -= 1
            return 0
    return 1
