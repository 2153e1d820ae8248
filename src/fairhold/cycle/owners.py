"""What is true of every cycle in which some own exactly, alone or beside `hybrid` (SPEC §4, §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.violation import Violation
from fairhold.kernels.columns import zeros

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def who_owns_exactly_has_no_more_than_there_is(result: CycleResult) -> Iterator[Violation]:
    """Quotas of `ownership` fit into its slots; each is its own, balances, loans and a share; all loans are lent."""
    draft, rows = result.draft, result.snapshot.rows
    if draft.owning is None:
        return
    name = "who_owns_exactly_has_no_more_than_there_is"
    slots = min(result.snapshot.slots, rows.apart) if rows.is_mixed else result.snapshot.slots
    leaves = [leaf for leaf in rows.leaves if rows.is_owner[leaf]]
    if (total := sum(draft.quota[leaf] for leaf in leaves)) > slots:
        yield Violation(name, "", f"quotas of {total} in {slots} slots")
    lent, used = zeros(len(rows)), zeros(len(rows))
    for borrower, lender, most, units in zip(*rows.lists, draft.owning.lent, strict=True):
        lent[lender] += units
        used[borrower] += units
        if not 0 <= units <= most:
            yield Violation(name, rows.path(borrower), f"borrows {units} of {rows.path(lender)}, at most {most}")
    for leaf in leaves:
        # Who only gets what others leave lends all that it owns, and uses the rest (R-BUDGET-3).
        mine = draft.owning.own[leaf] if rows.controls.comes_after[leaf] else draft.needs.need[leaf]
        offer = max(0, rows.plan.owned[leaf] - mine)
        if lent[leaf] > offer:
            yield Violation(name, rows.path(leaf), f"lends {lent[leaf]} of {offer}")
        parts = draft.owning.own[leaf] + draft.owning.balance[leaf] + used[leaf]
        if parts > draft.quota[leaf] or (parts < draft.quota[leaf] and not rows.ratio[leaf]):
            yield Violation(name, rows.path(leaf), f"quota {draft.quota[leaf]}, its parts are {parts}")


def hybrid_leaves_ownership_its_slots(result: CycleResult) -> Iterator[Violation]:
    """Beside `ownership`, hybrid leaves are granted no more than its slots leave (R-MIX-3)."""
    rows, leaf_of = result.snapshot.rows, result.snapshot.books.requests.leaf
    units = sum(given.units for given in result.decision.grants if rows.bounded[leaf_of[given.request]])
    if units > result.snapshot.budget:
        text = f"{units} granted, {result.snapshot.budget} to spare"
        yield Violation("hybrid_leaves_ownership_its_slots", "", text)


def nobody_lends_and_borrows_at_once(result: CycleResult) -> Iterator[Violation]:
    """No leaf uses slots of others while others use its own, by the quotas and by the loans after the cycle.

    So it is in circles of lenders, too. It is not true of who only gets what others leave, as its budget is used up: it
    lends all that it owns and then borrows (R-BUDGET-3).
    """
    draft, rows = result.draft, result.snapshot.rows
    if draft.owning is None:
        return
    loans = result.snapshot.books.borrowed if result.decision.loans is None else result.decision.loans
    planned = {pair[:2]: pair[2] for pair in zip(*rows.lists[:2], draft.owning.lent, strict=True) if pair[2]}
    for said, pairs in (("by its quota", planned), ("after the cycle", loans)):
        lenders = {lender for _, lender in pairs}
        for borrower in {borrower for borrower, _ in pairs} & lenders:
            if not rows.controls.comes_after[borrower]:
                text = f"it lends and borrows at once {said}"
                yield Violation("nobody_lends_and_borrows_at_once", rows.path(borrower), text)


OF_OWNERS = (
    who_owns_exactly_has_no_more_than_there_is,
    nobody_lends_and_borrows_at_once,
    hybrid_leaves_ownership_its_slots,
)
