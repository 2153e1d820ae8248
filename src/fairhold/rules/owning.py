"""Quotas of `ownership`: own slots, balances of ancestors, borrowed slots and unowned slots (SPEC §4)."""

from __future__ import annotations

from array import array
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from fairhold.kernels.columns import Needs, zeros
from fairhold.kernels.leaves import fill_leaves
from fairhold.kernels.owning import lend, use_balances, use_owned
from fairhold.kernels.rollup import needs
from fairhold.ledger.draft import Owning

if TYPE_CHECKING:
    from fairhold.kernels.amounts import Amounts
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot


def assess_needs_of_owners(snapshot: Snapshot, draft: CycleContext) -> None:
    """Need and reserve where owned slots are never scaled (R-OWN-1, R-NEED-1, R-NEED-2)."""
    rows = snapshot.rows
    found = Needs(*(zeros(len(rows)) for _ in Needs._fields))
    needs.run(snapshot.compiled, rows.tree, rows.plan, 1, 1, snapshot.usable, found)
    for row in range(1, len(rows)):
        if rows.is_owner[row]:
            draft.needs.reserve[row], draft.needs.need[row] = found.reserve[row], found.need[row]
            draft.needs.sure[row] = 0
    for column in (draft.needs.need, draft.needs.reserve):
        column[0] = rows.tree.total(column, 0)


def divide_by_lists(snapshot: Snapshot, draft: CycleContext) -> None:
    """The quota of every consumer that owns exactly (R-OWN-1, R-OWN-2, R-LEND-2, R-OWN-3; R-BUDGET-3)."""
    rows, need, quota = snapshot.rows, _needs_of_first(snapshot.rows, draft.needs.need), draft.quota
    limit, compiled, lists = rows.plan.limit, snapshot.compiled, rows.lists
    owning = draft.owning = Owning(zeros(len(rows)), zeros(len(rows)), zeros(len(lists.borrower)))
    slots = min(snapshot.slots, rows.apart) if rows.is_mixed else snapshot.slots
    columns = (rows.is_owner, rows.plan.owned, limit, need, quota, owning.own)
    left = use_owned.run(compiled, rows.tree, slots, *columns)
    places = (*rows.balances, rows.position, rows.size)
    left = use_balances.run(compiled, rows.tree, left, *places, limit, need, quota, owning.balance)
    offer = array("q", (max(0, owned - wanted) for owned, wanted in zip(rows.plan.owned, need, strict=True)))
    left = lend.run(compiled, rows.tree, left, *lists, offer, limit, need, quota, owning.lent)
    rest = _serve_last(snapshot, draft, owning, offer, left)
    whole = quota[:]
    shared = None if rows.is_mixed else _share_unowned(snapshot, draft)
    draft.entitled = quota[:]
    for leaf in rows.leaves:
        if rows.is_owner[leaf]:
            draft.entitled[leaf] -= owning.balance[leaf] + rest[leaf]
            draft.needs.sure[leaf] = owning.own[leaf] - rest[leaf]
    draft.firm = draft.needs.sure
    exact = draft.exact

    def exact_of_owner(row: int) -> Fraction:
        if rows.is_mixed and not rows.is_owner[row]:
            return exact(row)
        return whole[row] + (Fraction(0) if shared is None else shared.exact(row))

    most = draft.most
    draft.exact = exact_of_owner
    draft.most = lambda row: ceil(exact_of_owner(row)) if rows.is_owner[row] or not rows.is_mixed else most(row)


def _needs_of_first(rows: Rows, need: array[int]) -> array[int]:
    """(rows,) need; 0 for consumers that only get what others leave (R-BUDGET-3)."""
    if not rows.spent:
        return need
    return array("q", (0 if last else units for last, units in zip(rows.controls.comes_after, need, strict=True)))


def _serve_last(snapshot: Snapshot, draft: CycleContext, owning: Owning, offer: array[int], left: int) -> array[int]:
    """Serve leaves that only get what others leave: the rest of their own slots, then borrowed ones (R-BUDGET-3).

    offer : (rows,) slots of each that are not borrowed, lowered; left : slots of the group that are left
    Returns (rows,) their own slots that they use: they do not reclaim any.
    """
    rows, quota, compiled = snapshot.rows, draft.quota, snapshot.compiled
    rest, more = zeros(len(rows)), zeros(len(rows.lists.borrower))
    if not rows.spent:
        return rest
    last, limit = rows.controls.comes_after, rows.plan.limit
    left = use_owned.run(compiled, rows.tree, left, last, offer, limit, draft.needs.need, quota, rest)
    for row, units in enumerate(rest):
        offer[row] -= units
        owning.own[row] += units
    need = array("q", (draft.needs.need[row] if last[row] else quota[row] for row in range(len(rows))))
    lend.run(compiled, rows.tree, left, *rows.lists, offer, limit, need, quota, more)
    for pair, units in enumerate(more):
        owning.lent[pair] += units
    return rest


def _share_unowned(snapshot: Snapshot, draft: CycleContext) -> Amounts | None:
    """Slots that nobody owns, over the leaves that state a share ratio (R-OWN-3); None where none does."""
    rows, quota, need = snapshot.rows, draft.quota, draft.needs.need
    tree, ratio = rows.tree, rows.ratio[:]
    unowned = snapshot.slots - tree.total(rows.plan.owned, 0)
    if unowned <= 0 or not any(ratio):
        return None
    # A branch stands for its leaves, so that the weight of a leaf among all is its own ratio.
    for row in range(len(rows) - 1, 0, -1):
        if not rows.is_leaf(row):
            ratio[row] = tree.total(ratio, row)
    cap = array("q", (need[row] - quota[row] if rows.is_leaf(row) and ratio[row] else 0 for row in range(len(rows))))
    room = array("q", (limit - units for limit, units in zip(rows.plan.limit, quota, strict=True)))
    amounts = fill_leaves(tree, rows.position, rows.size, unowned, ratio, cap, room)
    given = _round_in_path_order(rows, amounts, room)
    for row in range(1, len(rows)):
        quota[row] += given[row]
    return amounts


def _round_in_path_order(rows: Rows, amounts: Amounts, room: array[int]) -> list[int]:
    """Whole slots of every row: whole parts first, then one each to leaves with a fraction, within the limits above.

    room : (rows,) slots up to the limits
    """
    parent, given = rows.tree.parent, [0] * len(rows)
    for leaf in rows.leaves:
        given[leaf] = amounts.whole[leaf]
    for row in range(len(given) - 1, 0, -1):
        given[parent[row]] += given[row]
    for leaf in rows.leaves:
        if given[0] >= amounts.whole[0]:
            break
        line = [leaf]
        while parent[line[-1]] > 0:
            line.append(parent[line[-1]])
        if amounts.broken[leaf] and all(given[row] < room[row] for row in line):
            for row in (*line, 0):
                given[row] += 1
    return given
