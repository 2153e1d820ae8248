"""Loans: which leaf uses which lender's slots, and reclaims by lenders (SPEC §4; R-LEND-3, R-LEND-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.rules.aging import spared_units, young

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, MutableSequence

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot


def take_back(
    rows: Rows,
    borrowed: Mapping[tuple[int, int], int],
    missing: MutableMapping[int, int],
    spare: MutableSequence[int],
) -> dict[int, int]:
    """Units that borrowers give back to their lenders: row → units (R-LEND-3).

    Lenders come in path order. Each takes from its borrower with the worst path first, up to what it has lent there.

    missing : lender → units that it misses, lowered; spare : (rows,) units that each can still give, lowered
    """
    borrowers: dict[int, list[tuple[int, int]]] = {}
    for (borrower, lender), units in borrowed.items():
        if missing.get(lender, 0) > 0:
            borrowers.setdefault(lender, []).append((borrower, units))
    taken: dict[int, int] = {}
    place = rows.position
    for lender in sorted(borrowers, key=place.__getitem__):
        for borrower, lent in sorted(borrowers[lender], key=lambda loan: -place[loan[0]]):
            units = min(missing[lender], lent, spare[borrower])
            if units > 0:
                taken[borrower] = taken.get(borrower, 0) + units
                missing[lender] -= units
                spare[borrower] -= units
    return taken


def count_loans(snapshot: Snapshot, draft: CycleContext) -> None:
    """The loans after the grants: (borrower, lender) → units (R-LEND-4).

    Borrowed is what a leaf holds beyond its own slots, the balance and the share that it uses. Loans stay with the
    lenders they had; the rest goes to its lenders in the order of its list, up to both limits. No lender lends more
    than it owns and does not hold.
    """
    rows, owning, held = snapshot.rows, draft.owning, draft.held
    assert owning is not None
    lent = zeros(len(rows))
    for pair, borrower in enumerate(rows.lists.borrower):
        lent[borrower] += owning.lent[pair]

    last = rows.controls.comes_after

    def above_own(leaf: int) -> int:
        beside = draft.quota[leaf] - owning.own[leaf] - lent[leaf]
        own = owning.own[leaf] if last[leaf] else rows.plan.owned[leaf]
        return max(0, held[leaf] - own - beside)

    def unused(leaf: int) -> int:
        used = min(held[leaf], owning.own[leaf]) if last[leaf] else held[leaf]
        return max(0, rows.plan.owned[leaf] - used)

    before = snapshot.books.borrowed
    above = {row: above_own(row) for row in (*rows.lists.borrower, *(row for row, _ in before))}
    free = {row: unused(row) for row in (*rows.lists.lender, *(row for _, row in before))}
    loans: dict[tuple[int, int], int] = {}

    def book(borrower: int, lender: int, most: int) -> None:
        units = min(above[borrower], free[lender], most)
        if units > 0:
            loans[borrower, lender] = loans.get((borrower, lender), 0) + units
            above[borrower] -= units
            free[lender] -= units

    for borrower, lender in sorted(before, key=lambda loan: (rows.position[loan[0]], rows.position[loan[1]])):
        if rows.is_owner[borrower] and rows.is_owner[lender]:
            book(borrower, lender, before[borrower, lender])
    for borrower, lender, most in zip(*rows.lists, strict=True):
        book(borrower, lender, most - loans.get((borrower, lender), 0))
    _keep(snapshot, draft, loans)


def return_loans(snapshot: Snapshot, draft: CycleContext) -> None:
    """Beside `hybrid` borrowers give at least what their lenders take back, whatever is under notice (R-MIX-4)."""
    loans = snapshot.books.borrowed if draft.decision.loans is None else draft.decision.loans
    missing = {lender: draft.entitled[lender] - draft.held[lender] - draft.inside[lender] for _, lender in loans}
    spare = [max(0, held - quota) for held, quota in zip(draft.held, draft.quota, strict=True)]
    for leaf, _ in loans:
        spare[leaf] = min(spare[leaf], draft.held[leaf] - spared_units(snapshot.books, young(snapshot, leaf)))
    for leaf, units in take_back(snapshot.rows, loans, missing, spare).items():
        draft.bound[leaf] = max(draft.bound[leaf], units)


def drop_loans(snapshot: Snapshot, draft: CycleContext) -> None:
    """Drop all loans where no consumer owns an exact number of slots (R-LEND-4)."""
    _keep(snapshot, draft, {})


def _keep(snapshot: Snapshot, draft: CycleContext, loans: dict[tuple[int, int], int]) -> None:
    if loans != snapshot.books.borrowed:
        draft.decision = draft.decision._replace(loans=loans)
