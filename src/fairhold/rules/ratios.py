"""Division by share ratio: needs, planned shares, quotas, and what may be taken back (SPEC §5)."""

from __future__ import annotations

from array import array
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.amounts import fill_down, round_from_the_top
from fairhold.kernels.columns import PHASE_OWNERS, zeros
from fairhold.kernels.fill import level
from fairhold.kernels.leaves import fill_leaves
from fairhold.kernels.ratios import needs_by_ratio, share_by_ratio
from fairhold.rules.exact import ExactShares, Filling
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.kernels.amounts import Amounts
    from fairhold.kernels.columns import Needs
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot


def assess_needs_of_sharers(snapshot: Snapshot, draft: CycleContext) -> None:
    """Need of every consumer; ratio 0 needs nothing (R-SHARE-1, R-SHARE-2)."""
    rows = snapshot.rows
    needs_by_ratio.run(snapshot.compiled, rows.tree, rows.ratio, rows.plan.limit, snapshot.usable, draft.needs.need)


def plan_shares(snapshot: Snapshot, draft: CycleContext) -> None:
    """The planned share of every consumer: what it would get if every leaf wanted without bound (R-SHARE-3)."""
    rows = snapshot.rows
    draft.planned = rows.planned.get(snapshot.slots)
    if draft.planned is not None:
        return
    cap = zeros(len(rows))
    wanted = array("q", [UNLIMITED]) * len(rows)
    needs_by_ratio.plain(rows.tree, rows.ratio, rows.plan.limit, wanted, cap)
    draft.planned = _fill(snapshot, cap)
    # The plan's own number: it stays the same from cycle to cycle, as long as no host comes or goes.
    rows.planned.clear()
    rows.planned[snapshot.slots] = draft.planned


def divide_by_ratio(snapshot: Snapshot, draft: CycleContext) -> None:
    """The quota of every consumer, and up to where it takes back (R-SHARE-4, R-SHARE-5, R-SHARE-6, R-SHARE-7).

    Whole slots of its planned share are sure to a leaf, whatever rounding says.
    """
    entitlement = snapshot.rows.entry.settings.entitlement
    for leaf in snapshot.rows.leaves:
        draft.firm[leaf] = min(draft.needs.need[leaf], _planned(draft).whole[leaf])
    if entitlement == "fixed":
        _fix(snapshot, draft)
        return
    if snapshot.rows.is_flat:
        _divide_over_leaves(snapshot, draft)
    else:
        _divide_level_by_level(snapshot, draft)
    draft.entitled = draft.quota
    if entitlement == "planned":
        planned, draft.entitled = _planned(draft), draft.quota[:]
        for leaf in snapshot.rows.leaves:
            draft.entitled[leaf] = min(draft.quota[leaf], planned.up(leaf))


def _planned(draft: CycleContext) -> Amounts:
    assert draft.planned is not None
    return draft.planned


def _fill(snapshot: Snapshot, cap: Sequence[int]) -> Amounts:
    """Exact amounts by the rule of the level in force, without floors.

    cap : (rows,) the most that each takes
    """
    rows = snapshot.rows
    if not rows.is_flat:
        return fill_down(rows.tree, snapshot.slots, rows.ratio, cap)
    return fill_leaves(rows.tree, rows.position, rows.size, snapshot.slots, rows.ratio, cap, rows.plan.limit)


def _divide_over_leaves(snapshot: Snapshot, draft: CycleContext) -> None:
    """One filling over all leaves, rounded from the top (R-SHARE-4)."""
    draft.filled = _fill(snapshot, draft.needs.need)
    round_from_the_top(snapshot.rows.tree, draft.filled, draft.quota)
    draft.exact = draft.filled.exact
    draft.most = draft.filled.up


def _divide_level_by_level(snapshot: Snapshot, draft: CycleContext) -> None:
    """Every parent's amount over its children, the whole slots of its planned share being sure to each (R-SHARE-5)."""
    rows, needs, planned = snapshot.rows, draft.needs, _planned(draft)
    for row in range(1, len(rows)):
        needs.sure[row] = min(needs.need[row], planned.whole[row])
    draft.quota[0] = snapshot.slots
    share_by_ratio.run(snapshot.compiled, rows.tree, rows.ratio, needs.sure, needs.need, zeros(len(rows)), draft.quota)
    fill = partial(fill_sharers, rows, needs)
    draft.exact = ExactShares(rows.tree, Fraction(snapshot.slots), fill).amount
    draft.most = ExactShares(rows.tree, Fraction(snapshot.slots), fill, up=True).whole


def fill_sharers(rows: Rows, needs: Needs, parent: int, amount: Fraction) -> Filling:
    """Fill a parent's exact amount over its children by ratio (R-SHARE-5)."""
    children, unit = rows.tree.children(parent), amount.denominator
    weight = [rows.ratio[child] for child in children]
    floor, cap = ([column[child] * unit for child in children] for column in (needs.sure, needs.need))
    num, den = level(range(len(children)), amount.numerator, weight, floor, cap)
    return Filling(PHASE_OWNERS, unit, num, den, [0] * len(children), weight, floor, cap)


def _fix(snapshot: Snapshot, draft: CycleContext) -> None:
    """Planned shares, rounded level by level, are all that is given and taken back (R-SHARE-7)."""
    rows, need, planned = snapshot.rows, draft.needs.need, _planned(draft)
    round_from_the_top(rows.tree, planned, draft.planned_slots)
    draft.entitled = array("q", map(min, draft.planned_slots, need))
    for leaf in rows.leaves:  # what is left may be enough for a gang that no planned share is
        draft.entitled[leaf] = min(draft.entitled[leaf], snapshot.most[leaf])
    for row in range(len(rows) - 1, -1, -1):
        is_leaf = rows.tree.first[row] == rows.tree.end[row]
        draft.quota[row] = draft.entitled[row] if is_leaf else rows.tree.total(draft.quota, row)
    draft.exact = lambda row: min(planned.exact(row), Fraction(need[row]))
    draft.most = lambda row: min(planned.up(row), need[row])
