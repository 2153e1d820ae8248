"""Who lends to whom: sums that agree, level by level (S1.6-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.ledger.layout import lay_tree
from fairhold.model.state import State
from fairhold.model.tree import ConsumerTree
from fairhold.orchestrator.lending import Lenders, lending
from fairhold.orchestrator.spans import LENT, Key, apportion, span_of
from tests.runtime.support import plan_document, read_document

if TYPE_CHECKING:
    from random import Random

    from fairhold.ledger.books import Books

OWNED = {"/A": {"owned": 4}, "/B": {"owned": 3, "reserved": 2}, "/C": {"owned": 3}}
Numbers = dict[str, int]


def books_of(slots: int, consumers: dict[str, dict[str, int]], held: Numbers) -> Books:
    plan = read_document(plan_document(slots, consumers))
    counts = {(plan.tree.rows[path], "compute"): units for path, units in held.items()}
    return open_books(plan, State(now=0, demand=counts, allocated=counts))["compute"]


def told(books: Books) -> tuple[Numbers, Numbers, Numbers]:
    found = lending(books)
    borrowed, lent, used = ({books.rows.path(row): units for row, units in each.items()} for each in found)
    return borrowed, lent, used


@pytest.mark.parametrize(
    ("slots", "held", "borrowed", "lent"),
    [
        (10, {}, {}, {}),
        (10, {"/A": 4, "/B": 3, "/C": 3}, {}, {}),
        (10, {"/A": 8}, {"/A": 4}, {"/B": 1, "/C": 3}),  # /B keeps what it reserves
        (10, {"/A": 6}, {"/A": 2}, {"/B": 1, "/C": 1}),  # 1/2 and 3/2: whole parts, then in order
        (12, {"/A": 6}, {"/A": 2}, {}),  # the plan's 10 are scaled: 4.8, 3.6, 3.6; two whole slots are nobody's
        (12, {"/A": 8}, {"/A": 4}, {"/B": 1, "/C": 1}),
        (5, {"/A": 5}, {"/A": 3}, {"/C": 1}),
        (10, {"/A": 2, "/C": 5}, {"/C": 2}, {"/A": 2}),
    ],
)
def test_lending(slots: int, held: Numbers, borrowed: Numbers, lent: Numbers) -> None:
    assert told(books_of(slots, OWNED, held))[:2] == (borrowed, lent)


def test_a_parents_balance_is_borrowed_before_its_children_lend() -> None:
    consumers = {"/A": {"owned": 6}, "/A/X": {"owned": 2}, "/A/Y": {"owned": 2}}
    for held, lent, used in ((2, {}, {}), (4, {}, {"/A": 2}), (5, {"/A/Y": 1}, {"/A": 2}), (6, {"/A/Y": 2}, {"/A": 2})):
        borrowed = {"/A/X": held - 2} if held > 2 else {}
        assert told(books_of(6, consumers, {"/A/X": held})) == (borrowed, lent, used)


def test_a_sibling_that_borrows_nothing_is_lent_nothing() -> None:
    """What /B uses within what it owns comes of its parent, whatever its sibling leaves."""
    consumers = {"/T": {"owned": 6}, "/T/a": {"owned": 4}, "/T/b": {"owned": 2}, "/R": {"owned": 4}}
    assert told(books_of(10, consumers, {"/T/b": 2, "/R": 4})) == ({}, {}, {})
    borrowed, lent, used = told(books_of(10, consumers, {"/T/b": 2, "/R": 6}))
    assert (borrowed, lent, used) == ({"/R": 2}, {"/T": 2, "/T/a": 2}, {})


@st.composite
def forests(draw: st.DrawFn) -> tuple[ConsumerTree, list[int], list[int], list[int], int]:
    """A tree, what is owned, reserved and held (leaves), and what there is."""
    rows = draw(st.integers(2, 12))
    parent = [-1, *(draw(st.integers(0, row - 1)) for row in range(1, rows))]
    tree = ConsumerTree(["", *(f"c{row}" for row in range(1, rows))], parent, [None] * rows, [None] * rows)
    owned = [0] * rows
    for row in range(rows - 1, -1, -1):
        owned[row] = sum(owned[child] for child in tree.children[row]) + draw(st.integers(0, 4))
    there = owned[0] + draw(st.integers(0, 3))
    reserved = [draw(st.integers(0, own)) if tree.is_leaf(row) else 0 for row, own in enumerate(owned)]
    for row in range(rows - 1, 0, -1):
        if tree.children[row]:
            reserved[row] = sum(reserved[child] for child in tree.children[row])
    held, left = [0] * rows, there
    for row in draw(st.permutations(range(1, rows))):
        if tree.is_leaf(row):
            others = sum(max(0, reserved[each] - held[each]) for each in range(1, rows) if tree.is_leaf(each))
            most = max(0, left - others + max(0, reserved[row] - held[row]))
            held[row] = draw(st.integers(0, most))
            left -= held[row]
    return tree, owned, reserved, held, there


def by_path(
    tree: ConsumerTree, owned: list[int], reserved: list[int], held: list[int], there: int
) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """The same from the top, written down once more."""
    whole = [0] * len(tree)
    for row in range(len(tree) - 1, -1, -1):
        whole[row] = held[row] + sum(whole[child] for child in tree.children[row])
    borrowed = {row: whole[row] - owned[row] for row in range(1, len(tree)) if whole[row] > owned[row]}
    lent: dict[int, int] = {}
    used: dict[int, int] = {}

    def go(row: int, has: int) -> None:
        children = tree.children[row]
        wanted = sum(borrowed.get(child, 0) for child in children)
        balance = has - sum(owned[child] for child in children)
        room = [max(0, owned[child] - max(whole[child], reserved[child])) for child in children]
        parts = apportion(wanted - balance, room)
        lent.update({child: part for child, part in zip(children, parts, strict=True) if part})
        mine = borrowed.get(row, 0) - lent.get(row, 0)
        if children and wanted - sum(parts) > mine:
            used[row] = wanted - sum(parts) - mine
        for child in children:
            go(child, owned[child] + borrowed.get(child, 0) - lent.get(child, 0))

    go(0, there)
    return borrowed, lent, used


@given(forests(), st.randoms(use_true_random=False))
def test_all_that_leaves_borrow_is_lent_by_somebody(
    drawn: tuple[ConsumerTree, list[int], list[int], list[int], int], dice: Random
) -> None:
    tree, owned, reserved, held, there = drawn
    columns = lay_tree(tree, [0] * len(tree))
    lenders = Lenders(columns, owned, reserved, there)
    for leaf in (row for row in range(1, len(tree)) if tree.is_leaf(row)):
        lenders.hold(leaf, dice.randint(0, 9))
        lenders.hold(leaf, held[leaf])
    found = lenders.now()
    assert (found.borrowed, found.lent, found.used) == by_path(*drawn)
    leaves = [row for row in range(1, len(tree)) if tree.is_leaf(row)]
    assert sum(found.borrowed.get(leaf, 0) for leaf in leaves) == sum(found.lenders(columns).values())
    assert found.borrowed.keys().isdisjoint(found.lent)
    for row, units in found.lent.items():
        assert units <= owned[row] - max(lenders.held[row], reserved[row])
    if not any(reserved):
        for row, units in found.used.items():
            below = sum(owned[child] for child in tree.children[row])
            assert units <= (there if row == 0 else owned[row]) - below


def test_what_earlier_spans_say_of_lenders_is_read() -> None:
    """They have what is lent together and the room of every leaf, whenever it was another: 3 by 4 and 2, then 1."""
    lots = [[0, 3, [[0, 4], [1, 2]]], [10, 1, []], [30, 0, [[1, 0]]]]
    span = span_of([1000, 1040, [], [], [["compute", ["/A", "/B"], lots]], {"/A": 40, "/B": 10}])
    a, b = (Key(path, "", "", LENT, "") for path in ("/A", "/B"))
    assert span.totals() == {a: 40, b: 10}
    assert span.totals(1005, 1012) == {a: 12, b: 5}
    assert span_of(span.document()) == span
