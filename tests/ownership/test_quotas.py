"""Quotas of `ownership` against handing out slot by slot (R-OWN-1, R-OWN-2, R-OWN-3, R-LEND-1, R-LEND-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from fairhold.cycle.run import quotas
from tests.oracles.ownership import Consumer, divide
from tests.ownership.strategies import owning
from tests.properties.machinery import books_of

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from tests.properties.strategies import Case


def consumers(books: Books) -> list[Consumer | None]:
    """By row; None for the root and for who does not own exactly."""
    rows = books.rows
    found: list[Consumer | None] = []
    for row in range(len(rows)):
        if not rows.is_owner[row]:
            found.append(None)
            continue
        stated = rows.entries[rows.chosen[row]].consumers[row]
        plan, parent = rows.plan, found[rows.tree.parent[row]]
        lend_to, borrow_from = (
            {rows.path(peer.consumer): peer.limit for peer in peers} for peers in (stated.lend_to, stated.borrow_from)
        )
        numbers = (plan.owned[row], plan.reserved[row], plan.limit[row], books.demand[row], stated.share_ratio)
        one = Consumer(rows.path(row), parent, *numbers, rows.position[row], lend_to, borrow_from)
        found.append(one)
        if parent is not None:
            parent.children.append(one)
    return found


@given(owning())
def test_quotas_are_those_of_the_oracle(case: Case) -> None:
    for request in case.state_document.get("requests", ()):  # the oracle knows no gangs that never fit (R-GANG-1)
        request["min_count"] = 0
    books = books_of(case)
    rows, draft = books.rows, quotas(books, case.state.now).draft
    found = consumers(books)
    slots = min(books.slots, rows.apart) if rows.is_mixed else books.slots
    divide([each for each in found if each is not None and each.parent is None], slots, is_alone=not rows.is_mixed)
    assert draft.owning is not None
    for row, each in enumerate(found):
        if each is None:
            continue
        assert draft.quota[row] == each.quota, each.path
        if rows.is_leaf(row):
            assert (draft.owning.own[row], draft.owning.balance[row]) == (each.own, each.balance), each.path
            assert draft.exact(row) == each.own + each.balance + sum(each.borrowed.values()) + each.share, each.path
    lent = {
        (rows.path(borrower), rows.path(lender)): units
        for borrower, lender, units in zip(*rows.lists[:2], draft.owning.lent, strict=True)
    }
    assert lent == {(each.path, path): units for each in found if each for path, units in each.borrowed.items()}
