"""Of whom a leaf may borrow and to whom it may lend, how much it is now, and why it is no more (SPEC §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import Loan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.draft import Owning


def loans_of(result: CycleResult, row: int) -> Iterator[Loan]:
    """Every pair of the lists in which a leaf lends or borrows, in the order in which they are looked at."""
    rows, decision = result.snapshot.rows, result.decision
    if not rows.is_owner[row] or not rows.is_leaf(row):
        return
    now = result.snapshot.books.borrowed if decision.loans is None else decision.loans
    for pair, (borrower, lender, most) in enumerate(zip(*rows.lists, strict=True)):
        if row in {borrower, lender}:
            units = _owning(result).lent[pair]
            held, bound = now.get((borrower, lender), 0), bound_of_loan(result, pair)
            yield Loan(rows.path(borrower), rows.path(lender), most, units, held, bound)


def lack_slots(result: CycleResult, row: int) -> bool:
    """Whether a lender of a leaf would lend it more, and there are no slots for it."""
    snapshot, rows = result.snapshot, result.snapshot.rows
    if snapshot.slots >= sum(rows.plan.owned[top] for top in rows.tree.children(0) if rows.is_owner[top]):
        return False
    pairs = (pair for pair, borrower in enumerate(rows.lists.borrower) if borrower == row)
    return any(bound_of_loan(result, pair) == "slots" for pair in pairs)


def bound_of_loan(result: CycleResult, pair: int) -> str:
    """Why a leaf borrows no more of another: see `Loan`."""
    rows, draft, owning = result.snapshot.rows, result.draft, _owning(result)
    borrower, lender, most = (column[pair] for column in rows.lists)
    if draft.quota[borrower] >= draft.needs.need[borrower]:
        return "demand"
    if owning.lent[pair] >= most:
        return "lists"
    used = owning.own[lender] if rows.controls.comes_after[lender] else draft.needs.need[lender]
    lent = sum(units for other, units in zip(rows.lists.lender, owning.lent, strict=True) if other == lender)
    if rows.plan.owned[lender] - used <= lent:
        return "lent" if lent else "needed"
    above = borrower
    while above > 0:
        if draft.quota[above] >= rows.plan.limit[above]:
            return "limit"
        above = rows.tree.parent[above]
    return "slots"


def _owning(result: CycleResult) -> Owning:
    assert result.draft.owning is not None
    return result.draft.owning
