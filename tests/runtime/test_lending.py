"""Who lends to whom: sums that agree (S1.6-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.runtime.clock import WallClock
from fairhold.runtime.lending import lending
from tests.runtime.support import plan_document, read_document

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

OWNED = {"/A": {"owned": 4}, "/B": {"owned": 3, "reserved": 2}, "/C": {"owned": 3}}


def books_of(slots: int, consumers: dict[str, dict[str, int]], held: dict[str, int]) -> Books:
    plan = read_document(plan_document(slots, consumers))
    counts = {(plan.tree.rows[path], "compute"): units for path, units in held.items()}
    return open_books(plan, State(now=0, demand=counts, allocated=counts))["compute"]


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
def test_lending(slots: int, held: dict[str, int], borrowed: dict[str, int], lent: dict[str, int]) -> None:
    books = books_of(slots, OWNED, held)
    found = lending(books)
    paths = {row: books.rows.path(row) for row in books.rows.leaves}
    assert {paths[row]: units for row, units in found.borrowed.items()} == borrowed
    assert {paths[row]: units for row, units in found.lent.items()} == lent


def test_the_balance_above_the_leaves_is_borrowed_before_anybody_lends() -> None:
    consumers = {"/A": {"owned": 6}, "/A/X": {"owned": 2}, "/A/Y": {"owned": 2}}
    plan = plan_document(6, consumers)
    books = open_books(read_document(plan), State(now=0))["compute"]
    assert lending(books).borrowed == {}
    for held, lent in ((4, 0), (5, 1), (6, 2)):
        found = lending(books_of(6, consumers, {"/A/X": held}))
        assert sum(found.borrowed.values()) == held - 2
        assert sum(found.lent.values()) == lent


def test_the_clock_never_goes_back_and_starts_at_the_time_of_day() -> None:
    clock = WallClock()
    instants = [clock.now() for _ in range(1000)]
    assert instants == sorted(instants)
    assert instants[0] > 1_700_000_000_000_000
