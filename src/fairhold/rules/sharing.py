"""Every consumer's need, and the division of the slots from the root down, by what siblings own."""

from __future__ import annotations

from array import array
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.columns import Needs, zeros
from fairhold.kernels.rollup import needs
from fairhold.kernels.share import share
from fairhold.rules.exact import ExactShares, fill_children

if TYPE_CHECKING:
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def assess_needs(snapshot: Snapshot, draft: CycleContext) -> None:
    """Reserve, sure slots and need of every consumer (R-SCALE-1, R-SCALE-2, R-SCALE-3, R-NEED-1, R-NEED-2)."""
    rows = snapshot.rows
    needs.run(snapshot.compiled, rows.tree, rows.plan, *snapshot.scale, snapshot.usable, draft.needs)


def needs_of_sharers(snapshot: Snapshot, draft: CycleContext) -> Needs:
    """The needs of those among whom slots are shared: beside `hybrid`, `ownership` takes no part (R-MIX-2)."""
    rows = snapshot.rows
    if not rows.is_mixed:
        return draft.needs
    return Needs(
        *(
            array("q", (0 if exact else units for exact, units in zip(rows.is_owner, column, strict=True)))
            for column in draft.needs
        )
    )


def divide_by_ownership(snapshot: Snapshot, draft: CycleContext) -> None:
    """The quota of every consumer (R-QUOTA-1, R-QUOTA-2, R-QUOTA-3, R-QUOTA-4, R-FILL-1, R-FILL-2, R-ROUND-1)."""
    rows, needs = snapshot.rows, needs_of_sharers(snapshot, draft)
    if draft.known is None or rows.is_mixed:
        _share(snapshot, needs, draft.quota)
    else:
        draft.quota[:] = draft.known
    draft.entitled, draft.firm = draft.quota, draft.needs.sure
    fill = partial(fill_children, snapshot, needs)
    draft.exact = ExactShares(rows.tree, Fraction(snapshot.scale[0]), fill).amount
    draft.most = _RoundedUp(snapshot, needs).most


class _RoundedUp:
    """Shares where every level is rounded up, all of them computed when the first is asked for."""

    def __init__(self, snapshot: Snapshot, needs: Needs) -> None:
        self._snapshot, self._needs = snapshot, needs
        self._units: array[int] | None = None

    def most(self, row: int) -> int:
        """The share of a consumer."""
        if self._units is None:
            self._units = zeros(len(self._snapshot.rows))
            _share(self._snapshot, self._needs, self._units, up=True)
        return self._units[row]


def _share(snapshot: Snapshot, needs: Needs, quota: array[int], *, up: bool = False) -> None:
    rows = snapshot.rows
    # Plain Python lays out in whole numbers of any size, which no column could hold.
    room = [zeros(len(rows)) if snapshot.compiled else [0] * len(rows) for _ in range(4)]
    quota[0] = snapshot.scale[0]
    evenly = rows.entry.settings.distribute_evenly
    share.run(snapshot.compiled, rows.tree, rows.scaled, needs, evenly, up, *snapshot.scale, *room, quota)
