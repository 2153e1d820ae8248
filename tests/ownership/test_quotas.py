"""Quotas of `ownership` against the reference (R-OWN-1, R-OWN-2, R-OWN-3, R-LEND-1, R-LEND-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from fairhold.cycle.run import quotas
from fairhold.reference.quotas import entitled_in
from fairhold.reference.situation import read_situation
from tests.ownership.strategies import owning
from tests.properties.machinery import books_of
from tests.properties.strategies import GROUP

if TYPE_CHECKING:
    from tests.properties.strategies import Case


@given(owning())
def test_quotas_are_those_of_the_reference(case: Case) -> None:
    for request in case.state_document.get("requests", ()):  # quotas alone: no gangs that never fit (R-GANG-1)
        request["min_count"] = 0
    books = books_of(case)
    rows, draft = books.rows, quotas(books, case.state.now).draft
    situation = read_situation(case.plan, case.state, GROUP)
    expected = entitled_in(situation)
    assert draft.owning is not None
    for row in range(1, len(rows)):
        path = rows.path(row)
        if not rows.is_owner[row]:
            continue
        assert draft.quota[row] == expected.quota[path], path
        if rows.is_leaf(row):
            mine = expected.own[path], expected.balance.get(path, 0)
            assert (draft.owning.own[row], draft.owning.balance[row]) == mine, path
            assert draft.exact(row) == expected.exact[path], path
    lent = {
        (rows.path(borrower), rows.path(lender)): units
        for borrower, lender, units in zip(*rows.lists[:2], draft.owning.lent, strict=True)
        if units
    }
    assert lent == expected.loans
