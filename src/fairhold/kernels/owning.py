"""How many owned slots every leaf uses: its own, and those of others (SPEC §4; R-OWN-1, R-OWN-2, R-LEND-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel, part

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.columns import TreeColumns


@part
def _room(tree: TreeColumns, leaf: int, units: int, limit: array[int], quota: array[int]) -> int:
    """The number of units, at most `units`, that the limits of a leaf and its ancestors have room for."""
    row = leaf
    while row > 0 and units > 0:
        units = min(units, limit[row] - quota[row])
        row = tree.parent[row]
    return max(0, units)


@part
def _add(tree: TreeColumns, leaf: int, units: int, quota: array[int]) -> None:
    """More units for a leaf, and so for all above it but the root."""
    row = leaf
    while row > 0:
        quota[row] += units
        row = tree.parent[row]


@kernel
def use_owned(
    tree: TreeColumns,
    slots: int,
    is_owner: array[int],
    owned: array[int],
    limit: array[int],
    need: array[int],
    quota: array[int],
    sure: array[int],
) -> int:
    """In path order each leaf gets min(need, owned) while slots last (R-OWN-1); returns what is left of them.

    is_owner : (rows,) 1 where slots are owned exactly
    quota    : (rows,) raised; sure : out, (rows,) of the leaves
    """
    for position in range(1, len(tree.path)):
        leaf = tree.path[position]
        if tree.first[leaf] < tree.end[leaf] or is_owner[leaf] == 0:
            continue
        units = _room(tree, leaf, min(need[leaf], owned[leaf], slots), limit, quota)
        _add(tree, leaf, units, quota)
        sure[leaf] = units
        slots -= units
    return slots


@kernel
def use_balances(
    tree: TreeColumns,
    slots: int,
    branch: array[int],
    balance: array[int],
    position: array[int],
    size: array[int],
    limit: array[int],
    need: array[int],
    quota: array[int],
    used: array[int],
) -> int:
    """Leaves use what branches above them own beyond their children (R-OWN-2); returns what is left of the slots.

    branch, balance : the branches in their order, and what each owns so
    quota : (rows,) raised; used : out, (rows,) units of the leaves
    """
    for place in range(len(branch)):
        left = min(balance[place], slots)
        first = position[branch[place]] + 1
        for at in range(first, first + size[branch[place]] - 1):
            leaf = tree.path[at]
            if left == 0:
                break
            if tree.first[leaf] < tree.end[leaf]:
                continue
            units = _room(tree, leaf, min(need[leaf] - quota[leaf], left), limit, quota)
            _add(tree, leaf, units, quota)
            used[leaf] += units
            left -= units
            slots -= units
    return slots


@kernel
def lend(
    tree: TreeColumns,
    slots: int,
    borrower: array[int],
    lender: array[int],
    most: array[int],
    offer: array[int],
    limit: array[int],
    need: array[int],
    quota: array[int],
    lent: array[int],
) -> int:
    """Borrowers get what lenders offer (R-LEND-2); returns what is left of the slots.

    borrower, lender, most : who may use whose slots and how many, in the order in which it is looked at
    offer : (rows,) units, lowered; quota : (rows,) raised; lent : out, units of every pair
    """
    for pair in range(len(borrower)):
        leaf = borrower[pair]
        wish = min(need[leaf] - quota[leaf], offer[lender[pair]], most[pair], slots)
        units = _room(tree, leaf, wish, limit, quota)
        _add(tree, leaf, units, quota)
        lent[pair] = units
        offer[lender[pair]] -= units
        slots -= units
    return slots
