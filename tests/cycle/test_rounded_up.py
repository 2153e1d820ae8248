"""Shares where every level is rounded up (R-PROTECT-1): those of all rows at once are those of the exact filling."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.run import quotas
from fairhold.rules.exact import ExactShares, fill_children
from fairhold.rules.sharing import needs_of_sharers
from tests.sim.test_slot_ledger import PLANS, random_books


@given(st.integers(0, 2**32), st.integers(0, len(PLANS) - 1))
def test_all_rows_at_once_are_what_each_is_alone(seed: int, plan: int) -> None:
    books = random_books(Random(seed), plan)
    result = quotas(books, 1_000_000)
    snapshot, draft = result.snapshot, result.draft
    if not snapshot.rows.entry.policy.scales_owned or snapshot.rows.is_mixed:
        return
    fill = partial(fill_children, snapshot, needs_of_sharers(snapshot, draft))
    twin = ExactShares(snapshot.rows.tree, Fraction(snapshot.scale[0]), fill, up=True)
    for row in range(len(snapshot.rows)):
        assert draft.most(row) == twin.whole(row)
        assert draft.most(row) >= draft.quota[row]
