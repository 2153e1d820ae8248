"""How many units every leaf has to give back (SPEC §8.4; R-RECLAIM-1 to R-RECLAIM-5, R-KEEP-1, R-PROTECT-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels._jit import kernel, part

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import LeafColumns, TreeColumns


class Holdings(NamedTuple):
    """What every consumer holds and is entitled to, after the grants; one row per consumer.

    `keep` and `protected` are brought up to date where a limit above leaves nothing kept.

    quota, limit, reserve : (rows,)
    entitled  : (rows,) up to where a leaf reclaims; what a branch may hold before others reclaim from it
    held      : (rows,) units held, those under notice included
    whole     : (rows,) held and set aside in the subtree
    keep      : (rows,) units that are not reclaimed for others: the quota, or more (R-KEEP-1)
    protected : (rows,) 1 for a leaf above its quota by rounding alone (R-PROTECT-1)
    noticed   : (rows,) units of a leaf under notice
    bound     : (rows,) units of a leaf that are reclaimed even if no unit is missing: their notice is never withdrawn,
        or a gang is stopped as a whole
    """

    quota: array[int]
    entitled: array[int]
    limit: array[int]
    reserve: array[int]
    held: array[int]
    whole: array[int]
    keep: array[int]
    protected: array[int]
    noticed: array[int]
    bound: array[int]


class Balance(NamedTuple):
    """Units that every consumer misses, can give, must give, still lacks at the end, and gives.

    missing, can, must, lack, gives : (rows,) units
    """

    missing: array[int]
    can: array[int]
    must: array[int]
    lack: array[int]
    gives: array[int]


@part
def _leaf(row: int, have: Holdings, out: Balance) -> None:
    """What a leaf misses, can give and must give (R-RECLAIM-1)."""
    out.missing[row] = max(0, have.entitled[row] - have.whole[row])
    out.must[row] = max(0, have.held[row] - have.limit[row], have.bound[row])
    out.can[row] = max(out.must[row], have.held[row] - have.keep[row])
    if have.protected[row] == 1:
        out.can[row] = out.must[row]


@part
def _branch(tree: TreeColumns, row: int, have: Holdings, out: Balance, flat: bool) -> int:  # noqa: FBT001
    """What a branch misses, can give and must give beyond itself (R-RECLAIM-2, R-SHARE-10; flat: R-SHARE-9).

    Returns by how much its limit is broken beyond what the subtree can give; 0 or less: not at all.
    """
    missing = 0
    can = 0
    must = 0
    for child in tree.child[tree.first[row] : tree.end[row]]:
        missing += out.missing[child]
        can += out.can[child]
        must += out.must[child]
    whole = have.whole[row]
    if flat:
        out.lack[row] = 0
        out.missing[row] = missing
        out.can[row] = can
        over = whole + missing - have.limit[row]
        out.must[row] = max(must, min(can, over))
        return over - can
    inner = min(missing, can)
    outer = min(missing - inner, max(0, have.entitled[row] - whole))
    out.lack[row] = missing - inner - outer
    out.missing[row] = inner + max(outer, have.reserve[row] - whole + max(0, must - inner), 0)
    out.can[row] = max(must, min(can, inner + max(0, whole - have.keep[row])))
    over = whole + out.missing[row] - have.limit[row]
    out.must[row] = max(must, inner, min(out.can[row], over))
    return over - can


@kernel
def balance(
    tree: TreeColumns,
    position: array[int],
    size: array[int],
    have: Holdings,
    flat: bool,  # noqa: FBT001  # columns and numbers only: kernels are called by position
    out: Balance,
) -> None:
    """What every row misses, can give and must give, bottom-up, in place.

    position, size : (rows,) place in path order, and rows in the subtree
    flat : all leaves are one list, whatever their branches; a branch counts only for its limit
    """
    for row in range(len(tree.parent) - 1, 0, -1):
        out.lack[row] = 0
        if tree.first[row] == tree.end[row]:
            _leaf(row, have, out)
        elif _branch(tree, row, have, out, flat) > 0:
            _again(tree, tree.path[position[row] : position[row] + size[row]], have, flat, out)
    out.missing[0] = 0
    out.can[0] = 0
    out.must[0] = 0
    for child in tree.child[tree.first[0] : tree.end[0]]:
        out.missing[0] += out.missing[child]
        out.can[0] += out.can[child]
        out.must[0] += out.must[child]


@part
def _again(
    tree: TreeColumns,
    inside: array[int],
    have: Holdings,
    flat: bool,  # noqa: FBT001
    out: Balance,
) -> None:
    """Compute a subtree again with nothing protected or kept inside: its limit cannot be met otherwise.

    inside : its rows in path order, so that children are behind their parents
    """
    for row in inside[::-1]:
        have.protected[row] = 0
        if tree.first[row] == tree.end[row]:
            have.keep[row] = have.quota[row]
            _leaf(row, have, out)
        else:
            have.keep[row] = have.entitled[row]
            _branch(tree, row, have, out, flat)


@part
def _divide(rows: array[int], amount: int, noticed: array[int], out: Balance) -> None:
    """Divide what a node gives over its children, or over its leaves, in their order (R-RECLAIM-4).

    noticed : (rows,) units under notice that count, summed up the tree
    """
    given = 0
    for child in rows:
        out.gives[child] = min(out.can[child], max(out.must[child], noticed[child]))
        given += out.gives[child]
    for child in rows:
        if given <= amount:
            break
        less = min(given - amount, out.gives[child] - out.must[child])
        out.gives[child] -= less
        given -= less
    rest = amount - given
    spare = 0
    for child in rows:
        spare += out.can[child] - out.gives[child]
    if rest <= 0 or spare <= 0:
        return
    left = rest
    for child in rows:
        whole = rest * (out.can[child] - out.gives[child]) // spare
        out.gives[child] += whole
        left -= whole
    _one_each(rows, left, out)


@part
def _one_each(rows: array[int], units: int, out: Balance) -> None:
    """One unit more from each of the `units` rows that have the most left to give, ties from the worst path."""
    low = 1
    high = 1
    for row in rows:
        high = max(high, out.can[row] - out.gives[row])
    while low < high:
        middle = (low + high + 1) // 2
        if _count_above(rows, middle - 1, out) >= units:
            low = middle
        else:
            high = middle - 1
    ties = units - _count_above(rows, low, out)
    for row in rows[::-1]:
        spare = out.can[row] - out.gives[row]
        if spare > low:
            out.gives[row] += 1
        elif spare == low and ties > 0:
            out.gives[row] += 1
            ties -= 1


@part
def _count_above(rows: array[int], bound: int, out: Balance) -> int:
    """Rows that have more than `bound` left to give."""
    count = 0
    for row in rows:
        count += out.can[row] - out.gives[row] > bound
    return count


@kernel
def divide(tree: TreeColumns, have: Holdings, lost: int, asked: int, out: Balance, noticed: array[int]) -> None:
    """What every row gives, top-down, in place (R-RECLAIM-3, R-RECLAIM-4).

    lost    : units held beyond the slots that there are
    asked   : units that were to go before gangs were found to stop as a whole, -1 = not known yet
    noticed : (rows,) room
    """
    for row in range(len(tree.parent) - 1, -1, -1):
        noticed[row] = min(have.noticed[row], out.can[row])
        if tree.first[row] < tree.end[row]:
            noticed[row] = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                noticed[row] += noticed[child]
    wanted = out.missing[0] + lost
    out.gives[0] = max(out.must[0], min(wanted, out.can[0]) if asked < 0 else min(asked, out.can[0]))
    out.lack[0] = max(0, wanted - out.can[0])
    for row in range(len(tree.parent)):
        if tree.first[row] < tree.end[row]:
            _divide(tree.child[tree.first[row] : tree.end[row]], out.gives[row], noticed, out)


@kernel
def divide_flat(
    tree: TreeColumns,
    leaves: LeafColumns,
    have: Holdings,
    lost: int,
    asked: int,
    out: Balance,
    noticed: array[int],
    line: Balance,
) -> None:
    """What every leaf gives where all leaves are one list, in place (R-SHARE-9).

    Branches, the children before their parents, divide what they must give over their leaves, which then must give it;
    the root divides the rest over all leaves.

    lost, asked : as for `divide`
    noticed, line : (rows,) room
    """
    rows = len(tree.parent)
    for row in leaves.leaf:
        line.can[row] = out.can[row]
        line.must[row] = out.must[row]
        noticed[row] = min(have.noticed[row], out.can[row])
    for row in range(rows - 1, 0, -1):
        if tree.first[row] == tree.end[row]:
            continue
        inside = leaves.leaf[leaves.first[row] : leaves.end[row]]
        must = 0
        for each in inside:
            must += line.must[each]
        if must < out.must[row]:
            _divide(inside, out.must[row], noticed, line)
            for each in inside:
                line.must[each] = line.gives[each]
    wanted = out.missing[0] + lost
    out.gives[0] = max(out.must[0], min(wanted, out.can[0]) if asked < 0 else min(asked, out.can[0]))
    out.lack[0] = max(0, wanted - out.can[0])
    _divide(leaves.leaf, out.gives[0], noticed, line)
    for row in range(1, rows):
        out.gives[row] = 0
    for each in leaves.leaf:
        out.gives[each] = line.gives[each]
    for row in range(rows - 1, 0, -1):
        if tree.parent[row] > 0:
            out.gives[tree.parent[row]] += out.gives[row]
