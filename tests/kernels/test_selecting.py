"""Leaves that a rule has to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.kernels.columns import leaves_of, zeros
from fairhold.kernels.rollup import exceeds, roll_up
from fairhold.kernels.select import leaves_where_more, leaves_where_other
from tests.kernels.trees import column, numbers, trees

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

    from fairhold.kernels.columns import TreeColumns


@given(trees(), st.data())
def test_leaves_where_columns_differ_come_in_path_order(tree: TreeColumns, data: DataObject) -> None:
    rows = len(tree.parent)
    one, other = (column(*data.draw(st.lists(numbers(2), min_size=rows, max_size=rows))) for _ in range(2))
    leaves = [row for row in tree.path if row and tree.first[row] == tree.end[row]]
    for select, holds in ((leaves_where_more, int.__gt__), (leaves_where_other, int.__ne__)):
        found = zeros(rows)
        count = select(tree, one, other, found)
        assert list(found[:count]) == [row for row in leaves if holds(one[row], other[row])]


@given(trees(), st.data())
def test_a_limit_is_exceeded_by_a_row_with_all_below_it(tree: TreeColumns, data: DataObject) -> None:
    rows = len(tree.parent)
    limit, value = (column(*data.draw(st.lists(numbers(9), min_size=rows, max_size=rows))) for _ in range(2))
    summed = value[:]
    roll_up(tree, summed)
    assert exceeds(tree, limit, value) == any(map(int.__gt__, summed, limit))


@given(trees())
def test_the_leaves_of_a_subtree_stand_side_by_side(tree: TreeColumns) -> None:
    leaves = leaves_of(tree)

    def below(row: int) -> set[int]:
        children = tree.children(row)
        return {row} if row and not children else {leaf for child in children for leaf in below(child)}

    for row in range(len(tree.parent)):
        inside = leaves.leaf[leaves.first[row] : leaves.end[row]]
        assert len(set(inside)) == len(inside)
        assert set(inside) == below(row)
