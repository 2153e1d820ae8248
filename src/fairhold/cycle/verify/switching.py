"""The first cycle after a switch between `ownership` and `hybrid` (SPEC §9; R-SWITCH-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Batch
from fairhold.cycle.verify.victims import choose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet


def given_up(sheet: Sheet, held: Mapping[str, int]) -> Counter[str]:
    """Leaf → units that go because the leaf, or their lender, has another policy since this cycle.

    held : before the grants
    """
    shares_now = {path for path in sheet.was if sheet.was[path].owns_exactly and sheet.policies[path].scales_owned}
    borrowed: Counter[str] = Counter()
    for (borrower, lender), units in sheet.loans.items():
        if {borrower, lender} & shares_now:
            borrowed[borrower] += units
    found: Counter[str] = Counter()
    for leaf in sheet.leaves if sheet.was else ():
        above = 0
        if leaf in shares_now:
            above = held[leaf] - _owned_now(sheet, leaf)
        elif sheet.was[leaf].scales_owned and sheet.policies[leaf].owns_exactly:
            above = held[leaf] - sheet.stated_owned[leaf]
        if not sheet.switches[leaf].observe_only:
            found[leaf] = max(0, min(held[leaf], max(above, borrowed[leaf])))
    return +found


def leaving(sheet: Sheet, books: Books, gone: Counter[str]) -> Counter[str]:
    """Request → units that leave for a switch, of this cycle or of an earlier one, were gangs granted all they want.

    gone : leaf → units of this cycle's switch
    """
    held = books.held_by_request()
    most = {key: each.count - held[key] for key, each in sheet.requests.items() if each.min_count and held[key]}
    fresh = Counter({Batch(key, "", sheet.now): units for key, units in most.items()})
    trial = replace(books, notices=list(books.notices), fresh=fresh)
    pin(trial, gone)
    found: Counter[str] = Counter()
    for notice in trial.notices:
        found[notice.request] += notice.units if notice.reason == "window" else 0
    noticed = books.noticed()
    for leaf, units in gone.items():
        for piece in choose(trial, sheet, leaf, max(0, units - noticed[leaf])):
            for place, count in piece.parts:
                found[place.request] += count
    return found


def _owned_now(sheet: Sheet, leaf: str) -> int:
    """Whole slots that a consumer of `hybrid` owns now, whether or not its budget is used up (R-SCALE-1, R-MIX-2)."""
    apart = sheet.apart if sheet.is_mixed else 0
    configured = sheet.configured - apart
    return sheet.stated_owned[leaf] * max(0, sheet.slots - apart) // configured if configured else 0


def pin(books: Books, gone: Counter[str]) -> None:
    """Give notices that count for the switch its reason, those of the earliest deadline first."""
    left = gone.copy()
    for notice in books.notices:
        if notice.reason == "window":
            left[books.place(notice).consumer] -= notice.units
    parts: dict[int, int] = {}
    for at in sorted(range(len(books.notices)), key=lambda at: (books.notices[at].deadline, at)):
        notice = books.notices[at]
        leaf = books.place(notice).consumer
        if notice.reason != "window" and left[leaf] > 0:
            parts[at] = min(left[leaf], notice.units)
            left[leaf] -= parts[at]
    books.notices = [
        part
        for at, notice in enumerate(books.notices)
        for part in (
            replace(notice, units=parts.get(at, 0), reason="window"),
            replace(notice, units=notice.units - parts.get(at, 0)),
        )
        if part.units
    ]
