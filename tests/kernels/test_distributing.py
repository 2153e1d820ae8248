"""Setting aside and granting against handing out one unit at a time (R-ASIDE-1, R-GRANT-1, R-GRANT-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.kernels.columns import TreeColumns, zeros
from fairhold.kernels.distribute import grant, set_aside
from tests.kernels.trees import columns, is_leaf, numbers, summed, trees
from tests.oracles import distributing as oracle

if TYPE_CHECKING:
    from array import array

    from hypothesis.strategies import DataObject

Columns = dict[str, "array[int]"]


NAMES = ("quota", "limit", "demand", "reserve", "held", "kept")


def draw_columns(data: DataObject, tree: TreeColumns) -> Columns:
    drawn = {name: data.draw(columns(tree, numbers()), name) for name in NAMES}
    drawn["limit"][0] = 10**6
    drawn["held"] = summed(tree, drawn["held"])
    drawn["demand"] = summed(tree, drawn["demand"])
    return drawn


def nodes(tree: TreeColumns, drawn: Columns) -> list[oracle.Node]:
    found = []
    for row in range(len(tree.parent)):
        quota, limit, demand, reserve, held, kept = (drawn[name][row] for name in NAMES)
        found.append(oracle.Node(row, quota, limit, demand, reserve, held, kept))
    for row in tree.child[1:]:
        node = found[row]
        node.above = found[tree.parent[row]]
        node.above.children.append(node)
    return found


def aside_of(tree: TreeColumns, idle: int, drawn: Columns, inside: array[int], own: array[int]) -> int:
    """Set aside by what was drawn, where nobody is bounded together."""
    reserve, held, kept = (drawn[name] for name in ("reserve", "held", "kept"))
    return set_aside(tree, idle, reserve, held, kept, inside, own, zeros(len(tree.parent)), 0)


@given(trees(), numbers(40), st.data())
def test_setting_aside_is_that_of_the_oracle(tree: TreeColumns, idle: int, data: DataObject) -> None:
    drawn = draw_columns(data, tree)
    inside, own = zeros(len(tree.parent)), zeros(len(tree.parent))
    left = aside_of(tree, idle, drawn, inside, own)
    expected = nodes(tree, drawn)
    assert left == oracle.set_aside(expected[0], idle)
    assert list(own) == [node.own for node in expected]
    assert list(inside) == [sum(each.own for each in node.all()) for node in expected]
    assert sum(own) + left == idle


@given(trees(), numbers(40), st.data())
def test_grants_are_those_of_the_oracle(tree: TreeColumns, idle: int, data: DataObject) -> None:
    drawn = draw_columns(data, tree)
    rows = len(tree.parent)
    inside, own, granted = zeros(rows), zeros(rows), zeros(rows)
    common = aside_of(tree, idle, drawn, inside, own)
    room = (zeros(rows), zeros(rows), zeros(rows))
    held = drawn["held"][:]
    left = grant(
        tree, common, drawn["quota"], drawn["limit"], drawn["demand"], held, inside, own, granted, *room, zeros(rows), 0
    )
    expected = nodes(tree, drawn)
    assert left == oracle.grant(expected[0], oracle.set_aside(expected[0], idle))
    assert list(granted) == [node.granted for node in expected]
    assert list(held) == [node.held for node in expected]
    assert list(own) == [node.own for node in expected]
    assert list(inside) == [sum(each.own for each in node.all()) for node in expected]


@given(trees(), numbers(40), st.data())
def test_grants_neither_make_nor_lose_units(tree: TreeColumns, idle: int, data: DataObject) -> None:
    drawn = draw_columns(data, tree)
    rows = len(tree.parent)
    inside, own, granted = zeros(rows), zeros(rows), zeros(rows)
    common = aside_of(tree, idle, drawn, inside, own)
    before, held = drawn["held"][:], drawn["held"][:]
    room = (zeros(rows), zeros(rows), zeros(rows))
    left = grant(
        tree, common, drawn["quota"], drawn["limit"], drawn["demand"], held, inside, own, granted, *room, zeros(rows), 0
    )
    assert sum(granted) + sum(own) + left == idle
    for row in range(rows):
        if is_leaf(tree, row) and granted[row]:
            assert held[row] <= min(drawn["quota"][row], drawn["demand"][row])
        if granted[row] or held[row] > before[row]:
            most = max(drawn["limit"][row], drawn["quota"][row]) if row else held[0]
            assert held[row] <= most
