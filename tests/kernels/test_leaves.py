"""The filling over all leaves: how much work limits inside one another are; its numbers are tested with the policy."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from fairhold.kernels import leaves
from tests.kernels.trees import HUGE, tree_of

if TYPE_CHECKING:
    import pytest


def test_nested_limits_are_summed_up_one_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-SHARE-4: a branch and a leaf below one another, every branch with a limit that is met."""
    depth = 100
    tree = tree_of([2] + [2, 0] * depth + [0, 0], [0] * (2 * depth + 3))
    rows = len(tree.parent)
    place, size, cap, limit = (array("q", [0] * rows) for _ in range(4))
    for at, row in enumerate(tree.path):
        place[row] = at
    for row in range(rows - 1, -1, -1):
        is_leaf = tree.first[row] == tree.end[row]
        size[row] += 1
        size[max(0, tree.parent[row])] += size[row] if row else 0
        cap[row] = 2000 if is_leaf else 0
        limit[row] = HUGE if is_leaf else 5 * (rows - row)
    summed = []
    part_of = leaves._Filling.part_of

    def counting(filling: Any, branch: int) -> Any:
        summed.append(branch)
        return part_of(filling, branch)

    monkeypatch.setattr(leaves._Filling, "part_of", counting)
    amounts = leaves.fill_leaves(tree, place, size, 5 * rows, [1] * rows, cap, limit)
    assert amounts.whole[1] <= limit[1]
    assert len(summed) < 4 * depth
