"""Who lends to whom, pair by pair: they agree with the sums at the border of every consumer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from fairhold.ledger.layout import lay_tree
from fairhold.orchestrator.lending import Lenders, lending
from fairhold.orchestrator.lending_pairs import pairs_of
from tests.orchestrator.test_lending import OWNED, books_of, forests

if TYPE_CHECKING:
    from fairhold.model.tree import ConsumerTree

Told = list[tuple[str, str, int]]


def told(slots: int, consumers: dict[str, dict[str, int]], held: dict[str, int]) -> Told:
    books = books_of(slots, consumers, held)
    path = books.rows.path
    return [(path(pair.lender), path(pair.borrower), pair.units) for pair in pairs_of(lending(books), books.rows.tree)]


@pytest.mark.parametrize(
    ("slots", "held", "expected"),
    [
        (10, {"/A": 4}, []),
        (10, {"/A": 8}, [("/B", "/A", 1), ("/C", "/A", 3)]),
        (12, {"/A": 6}, [("/", "/A", 2)]),
        (12, {"/A": 8}, [("/", "/A", 2), ("/B", "/A", 1), ("/C", "/A", 1)]),
        (10, {"/A": 1, "/B": 4, "/C": 5}, [("/A", "/B", 1), ("/A", "/C", 2)]),
    ],
)
def test_pairs(slots: int, held: dict[str, int], expected: Told) -> None:
    assert told(slots, OWNED, held) == expected


def test_siblings_come_before_those_farther_away_and_the_balance_above_before_all() -> None:
    consumers = {
        "/T": {"owned": 7},
        "/T/a": {"owned": 2},
        "/T/b": {"owned": 3},
        "/R": {"owned": 3},
    }
    found = told(10, consumers, {"/T/a": 6, "/R": 4})
    assert found == [("/T", "/T/a", 2), ("/T/b", "/T/a", 2), ("/T/b", "/R", 1)]


@given(forests())
def test_pairs_agree_with_the_sums_at_every_border(
    drawn: tuple[ConsumerTree, list[int], list[int], list[int], int],
) -> None:
    tree, owned, reserved, held, there = drawn
    columns = lay_tree(tree, [0] * len(tree))
    lenders = Lenders(columns, owned, reserved, there)
    leaves = [row for row in range(1, len(tree)) if tree.is_leaf(row)]
    for leaf in leaves:
        lenders.hold(leaf, held[leaf])
    sums = lenders.now()
    pairs = pairs_of(sums, columns)
    lent, borrowed = Counter[int](), Counter[int]()
    for lender, borrower, units in pairs:
        assert units > 0
        lent[lender] += units
        borrowed[borrower] += units
    assert borrowed == {leaf: sums.borrowed[leaf] for leaf in leaves if leaf in sums.borrowed}
    assert lent == sums.lenders(columns)
    for row in range(1, len(tree)):
        inside = {each for each in range(1, len(tree)) if f"{tree.paths[each]}/".startswith(f"{tree.paths[row]}/")}
        given = sum(units for lender, borrower, units in pairs if lender in inside and borrower not in inside)
        taken = sum(units for lender, borrower, units in pairs if lender not in inside and borrower in inside)
        assert (given, taken) == (sums.lent.get(row, 0), sums.borrowed.get(row, 0))


def test_loans_by_name_come_first_and_count_on_both_sides() -> None:
    books = books_of(10, OWNED, {"/A": 8})
    a, c = books.rows.by_path["/A"], books.rows.by_path["/C"]
    assert pairs_of(lending(books), books.rows.tree, {(a, c): 3}) == [
        (c, a, 3),
        (books.rows.by_path["/B"], a, 1),
    ]
