"""Who misses, can give, must give and gives how much: SPEC §8.4, steps 1 to 5, word by word."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Node:
    """A consumer with its numbers; the numbers of a leaf may be anything, those of a branch too."""

    row: int
    quota: int = 0
    entitled: int = 0
    limit: int = 0
    reserve: int = 0
    held: int = 0
    whole: int = 0
    keep: int = 0
    protected: bool = False
    noticed: int = 0
    bound: int = 0
    firm: int = 0
    rank: int = 0
    above: Node | None = None
    children: list[Node] = field(default_factory=list)
    missing: int = 0
    can: int = 0
    must: int = 0
    lack: int = 0
    gives: int = 0

    def all(self) -> list[Node]:
        """The subtree in path order, itself first."""
        return [self, *(node for child in self.children for node in child.all())]

    def leaves(self) -> list[Node]:
        return [node for node in self.all() if not node.children and node.above]

    def chain(self) -> list[Node]:
        """From below the root down to the node."""
        return [*self.above.chain(), self] if self.above else []


def claim(node: Node, *, strict: bool = False, flat: bool = False) -> None:
    """Steps 1 and 2; strict: nothing inside is protected or kept, from now on; flat: leaf-level sharing."""
    for child in node.children:
        claim(child, strict=strict, flat=flat)
    if strict:
        node.protected, node.keep = False, node.entitled if node.children else node.quota
    if not node.children:
        node.missing = max(0, node.entitled - node.whole)
        node.must = max(0, node.held - node.limit, node.bound)
        node.can = node.must if node.protected else max(node.must, node.held - node.keep)
        return
    m, u, least = (sum(getattr(child, name) for child in node.children) for name in ("missing", "can", "must"))
    if flat:
        over = node.whole + m - node.limit
        node.missing, node.can, node.must, node.lack = m, u, max(least, min(u, over)), 0
        if u < over and not strict:
            claim(node, strict=True, flat=True)
        return
    inner = min(m, u)
    out = min(m - inner, max(0, node.entitled - node.whole))
    node.lack = m - inner - out
    node.missing = inner + max(out, node.reserve - node.whole + max(0, least - inner), 0)
    node.can = max(least, min(u, inner + max(0, node.whole - node.keep)))
    node.must = max(least, inner, min(node.can, node.whole + node.missing - node.limit))
    if u < node.whole + node.missing - node.limit and not strict:
        claim(node, strict=True)


def claims(root: Node, *, flat: bool = False) -> None:
    """Steps 1 to 3 but for what the root gives."""
    for child in root.children:
        claim(child, flat=flat)
    root.missing, root.can, root.must = (
        sum(getattr(child, name) for child in root.children) for name in ("missing", "can", "must")
    )


def under_notice(node: Node) -> int:
    if node.children:
        return sum(under_notice(child) for child in node.children)
    return min(node.noticed, node.can)


def divide(root: Node, lost: int, asked: int = -1) -> None:
    """Steps 3 and 4; asked: what was to go before gangs stopped whole were seen to give more, -1 = not known."""
    wanted = root.missing + lost if asked < 0 else asked
    root.gives = max(root.must, min(wanted, root.can))
    root.lack = max(0, root.missing + lost - root.can)
    for node in root.all():
        _divide(node)


def divide_over_leaves(root: Node, lost: int, asked: int = -1) -> None:
    """Steps 3 and 4 with all leaves in one list: what branches must give is given by their leaves first."""
    wanted = root.missing + lost if asked < 0 else asked
    root.gives = max(root.must, min(wanted, root.can))
    root.lack = max(0, root.missing + lost - root.can)
    for branch in sorted(root.all(), key=lambda node: node.row, reverse=True):
        if branch.children and branch.above and sum(leaf.must for leaf in branch.leaves()) < branch.must:
            for leaf, units in zip(branch.leaves(), _parts(branch.leaves(), branch.must), strict=True):
                leaf.must = units
    for leaf, units in zip(root.leaves(), _parts(root.leaves(), root.gives), strict=True):
        leaf.gives = units


def _parts(leaves: list[Node], amount: int) -> list[int]:
    line = Node(-1, children=leaves, gives=amount)
    _divide(line)
    return [leaf.gives for leaf in leaves]


def _divide(node: Node) -> None:
    for child in node.children:
        child.gives = min(child.can, max(child.must, under_notice(child)))

    def rest() -> int:
        return node.gives - sum(child.gives for child in node.children)

    for child in node.children:
        while rest() < 0 and child.gives > child.must:
            child.gives -= 1
    if rest() <= 0:
        return
    left = {child.row: child.can - child.gives for child in node.children}
    total = sum(left.values())
    if total == 0:
        return
    shared = rest()
    for child in node.children:
        child.gives += int(Fraction(shared * left[child.row], total))
    once = {child.row for child in node.children}
    while rest() > 0:
        open_ones = [child for child in node.children if child.row in once and child.can > child.gives]
        if not open_ones:
            return
        most = max(child.can - child.gives for child in open_ones)
        giver = [child for child in open_ones if child.can - child.gives == most][-1]
        giver.gives += 1
        once.remove(giver.row)


def settle_lack(root: Node, lost: int) -> None:
    """Step 5, unit by unit."""
    lost_lacking = max(0, lost - root.can)
    open_units = {leaf.row: list(range(1, leaf.missing + 1)) for leaf in root.leaves()}
    branches = [node for node in root.all() if node.children and node.above]
    for node in sorted(branches, key=lambda node: node.row, reverse=True):
        _settle(node, node.lack, open_units)
    _settle(root, root.lack - lost_lacking, open_units)
    for _ in range(lost_lacking):
        giver = _giver(root.leaves(), None, 0)
        if giver:
            giver.gives += 1
        else:
            _take_above_quota(root)


def _settle(node: Node, lack: int, open_units: dict[int, list[int]]) -> None:
    if lack <= 0:
        return
    leaves = node.leaves()
    waiting = [(leaf, number) for leaf in leaves for number in open_units[leaf.row]]
    for leaf, number in waiting[-lack:]:
        giver = _giver(leaves, leaf, number)
        if giver:
            giver.gives += 1
            open_units[leaf.row].remove(number)


def _spare(leaf: Node) -> int:
    return leaf.held - leaf.keep - leaf.gives if leaf.protected else 0


def _giver(leaves: list[Node], leaf: Node | None, number: int) -> Node | None:
    """One with units under notice before others, then the worst path."""
    able = [other for other in leaves if _spare(other) > 0]
    if leaf is not None and not leaf.whole + number - 1 < leaf.firm:
        able = [other for other in able if _is_worse(other, leaf)]
    noticed = [other for other in able if other.noticed > other.gives]
    found = noticed or able
    return found[-1] if found else None


def _is_worse(giver: Node, leaf: Node) -> bool:
    """Strictly worse rank where the paths first differ."""
    for one, other in zip(giver.chain(), leaf.chain(), strict=False):
        if one is not other:
            return one.rank > other.rank
    return False


def _take_above_quota(root: Node) -> None:
    able = [leaf for leaf in root.leaves() if leaf.held - leaf.quota > leaf.gives]
    noticed = [leaf for leaf in able if leaf.noticed > leaf.gives]
    for giver in (noticed or able)[-1:]:
        giver.gives += 1
