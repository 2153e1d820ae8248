"""The first cycle after a switch between `ownership` and `hybrid` (SPEC §9; R-SWITCH-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.decision import Withdrawal
from fairhold.ledger.rows import in_other_window
from fairhold.ledger.snapshot import WINDOW
from fairhold.rules.aging import young
from fairhold.rules.victims import choose_victims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def give_up_at_a_switch(snapshot: Snapshot, draft: CycleContext) -> None:
    """Units of every leaf that are reclaimed because its policy, or that of its lender, has changed (R-SWITCH-1).

    Units already under notice count, and can no longer be withdrawn. A leaf that may only borrow because of its budget
    counts with its owned slots: a used-up budget alone stops no unit. What a gang loses so is known before slots are
    granted: one that would be below its minimum even with its grants gets none.
    """
    books, rows = snapshot.books, snapshot.rows
    if not books.before:
        return
    before = in_other_window(rows, books.before)
    was = [before.entries[before.chosen[node]].policy for node in range(len(rows))]
    now = [rows.entries[at].policy for at in rows.chosen]

    def shares_now(row: int) -> bool:
        return was[row].owns_exactly and now[row].scales_owned

    borrowed: dict[int, int] = {}
    for (borrower, lender), units in books.borrowed.items():
        if shares_now(borrower) or shares_now(lender):
            borrowed[borrower] = borrowed.get(borrower, 0) + units
    scale_num, scale_den = snapshot.scale
    pins: list[Withdrawal] = []
    for leaf in rows.leaves:
        held, owned = snapshot.held[leaf], rows.stated(leaf).owned
        units = borrowed.get(leaf, 0)
        if shares_now(leaf):
            units = max(units, held - (owned * scale_num // scale_den if scale_den else 0))
        elif was[leaf].scales_owned and now[leaf].owns_exactly:
            units = max(units, held - owned)
        units = min(units, held)
        if units > 0 and not rows.settings(leaf).observe_only:
            draft.switched[leaf] = units
            draft.bound[leaf] = max(draft.bound[leaf], units)
            mine = [*_pins(snapshot, leaf, min(units, snapshot.noticed[leaf]) - snapshot.pinned[leaf])]
            pins += mine
            if leaf in books.requests.gangs:
                _leave(snapshot, draft, leaf, mine)
    draft.switched[0] = sum(draft.switched[1:])
    draft.decision = draft.decision._replace(pins=tuple(pins))


def _leave(snapshot: Snapshot, draft: CycleContext, leaf: int, pins: list[Withdrawal]) -> None:
    """Which requests of a leaf lose how many units, were their gangs granted all that they want."""
    books, notices, allocations = snapshot.books, snapshot.books.notices, snapshot.books.allocations
    units = max(0, draft.switched[leaf] - snapshot.noticed[leaf])
    requests = books.requests
    most = {row: requests.count[row] - requests.held[row] for row in requests.holders[leaf] if requests.minimum[row]}
    new = choose_victims(books, leaf, units, young(snapshot, leaf), fresh=most) if units else []
    for allocation, count in [*new, *((notices.allocation[pin.notice], pin.units) for pin in pins)]:
        request = allocations.request[allocation]
        draft.leaving[request] = draft.leaving.get(request, 0) + count


def _pins(snapshot: Snapshot, leaf: int, units: int) -> Iterator[Withdrawal]:
    """Further notices to count for the switch, earliest deadline first, where pinned ones are not enough."""
    books = snapshot.books
    notices = books.notices
    mine = [
        notice
        for request in (books.requests.holders.get(leaf, ()) if units > 0 else ())
        for allocation in books.allocations.by_request.get(request, ())
        for notice in notices.by_allocation.get(allocation, ())
        if notices.reason[notice] != WINDOW
    ]
    mine.sort(key=lambda notice: (notices.deadline[notice], notices.serial[notice]))
    for notice in mine:
        count = min(units, notices.units[notice])
        if count > 0:
            yield Withdrawal(notice, count)
            units -= count
