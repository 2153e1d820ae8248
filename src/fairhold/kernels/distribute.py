"""Idle slots: set aside for reserves, then granted (SPEC §8.3; R-ASIDE-1, R-GRANT-1, R-GRANT-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel, part

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import TreeColumns


@kernel
def set_aside(
    tree: TreeColumns,
    idle: int,
    reserve: array[int],
    held: array[int],
    kept: array[int],
    inside: array[int],
    own: array[int],
    bounded: array[int],
    budget: int,
) -> int:
    """Set idle slots aside for reserves, the children's before the parent's own; returns what is left for all.

    reserve, held : (rows,) reserve now and slots held
    kept   : (rows,) freed slots kept for requests of the leaf
    inside : out, (rows,) set aside in the subtree
    own    : out, (rows,) of these, for the row itself and not for one child
    bounded, budget : (rows,) 1 for consumers that together get at most so many (R-MIX-3)
    """
    for row in range(len(tree.parent) - 1, -1, -1):
        wish = kept[row] if tree.first[row] == tree.end[row] else 0
        for child in tree.child[tree.first[row] : tree.end[row]]:
            wish += inside[child]
        inside[row] = max(wish, reserve[row] - held[row]) if row > 0 else wish
    inside[0] = min(inside[0], idle)
    for row in range(len(tree.parent)):
        left = inside[row]
        for child in tree.child[tree.first[row] : tree.end[row]]:
            inside[child] = min(inside[child], left)
            if row == 0 and bounded[child] == 1:
                inside[child] = min(inside[child], budget)
                budget -= inside[child]
            left -= inside[child]
        if row == 0:
            inside[0] -= left  # more than the bounded ones may get
            left = 0
        own[row] = left
    return idle - inside[0]


@part
def take(
    tree: TreeColumns, leaf: int, units: int, common: int, held: array[int], inside: array[int], own: array[int]
) -> int:
    """Book a grant of `units` to a leaf: from what is set aside nearest to it first; returns what is left for all."""
    row = leaf
    used = 0
    while row > 0:
        held[row] += units
        nearest = min(units - used, own[row])
        own[row] -= nearest
        used += nearest
        inside[row] -= used
        row = tree.parent[row]
    held[0] += units
    inside[0] -= used
    return common - units + used


@kernel
def grant(
    tree: TreeColumns,
    common: int,
    quota: array[int],
    limit: array[int],
    demand: array[int],
    held: array[int],
    inside: array[int],
    own: array[int],
    granted: array[int],
    usable: array[int],
    near: array[int],
    share: array[int],
    bounded: array[int],
    budget: int,
) -> int:
    """Grant idle slots in two passes; returns what stays idle and is not set aside.

    common  : idle slots that are not set aside
    held    : (rows,) slots held, raised by the grants
    inside, own : (rows,) set aside in the subtree and for the row itself, lowered by the grants; under a limit it
              counts as held by the branch
    granted : out, (rows,) units granted to every leaf
    usable, near, share : (rows,) room
    bounded, budget : (rows,) 1 for consumers that together get at most so many that are not set aside (R-MIX-3)
    """
    rows = len(tree.parent)
    for row in range(rows):
        granted[row] = 0
    if common > 0 or inside[0] > 0:
        _first_pass(
            tree, common, quota, limit, demand, held, inside, own, granted, usable, near, share, bounded, budget
        )
        for position in range(rows):
            leaf = tree.path[position]
            if granted[leaf] > 0:
                left = take(tree, leaf, granted[leaf], common, held, inside, own)
                budget -= bounded[leaf] * (common - left)
                common = left
        common = _second_pass(tree, common, quota, limit, demand, held, inside, own, granted, bounded, budget)
    return common


@part
def _first_pass(
    tree: TreeColumns,
    common: int,
    quota: array[int],
    limit: array[int],
    demand: array[int],
    held: array[int],
    inside: array[int],
    own: array[int],
    granted: array[int],
    usable: array[int],
    near: array[int],
    share: array[int],
    bounded: array[int],
    budget: int,
) -> None:
    """Top-down in the rows' order up to the quotas; a branch is handed no more than its leaves may take (R-GRANT-1).

    usable : what the subtree may take, near : what of it is set aside there, share : what it is handed
    """
    for row in range(len(tree.parent) - 1, -1, -1):
        room = quota[row] - held[row]
        if tree.first[row] == tree.end[row]:
            usable[row] = max(0, min(room, demand[row] - held[row]))
            near[row] = min(own[row], usable[row])
        else:
            wanted = 0
            set_aside_below = 0
            for child in tree.child[tree.first[row] : tree.end[row]]:
                wanted += usable[child]
                set_aside_below += near[child]
            set_aside_below += own[row]
            if row > 0:
                room = min(room, set_aside_below + max(0, limit[row] - held[row] - inside[row]))
            usable[row] = max(0, min(room, wanted)) if row > 0 else wanted
            near[row] = min(usable[row], set_aside_below)
    share[0] = min(usable[0], near[0] + common)
    for row in range(len(tree.parent)):
        left = share[row]
        if tree.first[row] == tree.end[row]:
            granted[row] = left if row > 0 else 0
            continue
        children = tree.child[tree.first[row] : tree.end[row]]
        free = left
        for child in children:
            free -= near[child]
        free = max(0, free)
        for child in children:
            reach = min(free, budget) if row == 0 and bounded[child] == 1 else free
            share[child] = min(usable[child], near[child] + reach, left)
            far = max(0, share[child] - near[child])
            free -= far
            if row == 0 and bounded[child] == 1:
                budget -= far
            left -= share[child]


@part
def _second_pass(
    tree: TreeColumns,
    common: int,
    quota: array[int],
    limit: array[int],
    demand: array[int],
    held: array[int],
    inside: array[int],
    own: array[int],
    granted: array[int],
    bounded: array[int],
    budget: int,
) -> int:
    """Grant what is still idle to leaves that miss units, in path order; none is reclaimed for them (R-GRANT-2)."""
    for position in range(len(tree.path)):
        leaf = tree.path[position]
        if tree.first[leaf] < tree.end[leaf] or leaf == 0:
            continue
        units = min(quota[leaf], demand[leaf]) - held[leaf]
        if units <= 0:
            continue
        near = 0
        row = leaf
        while row > 0:
            near += own[row]
            room = limit[row] - held[row]
            units = min(units, room, near + max(0, room - inside[row]))
            row = tree.parent[row]
        units = min(units, near + (min(common, budget) if bounded[leaf] == 1 else common))
        if units > 0:
            granted[leaf] += units
            left = take(tree, leaf, units, common, held, inside, own)
            budget -= bounded[leaf] * (common - left)
            common = left
    return common
