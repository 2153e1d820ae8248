"""Units that lenders take back, and loans after the cycle (SPEC §4: R-LEND-3, R-LEND-4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.counting import is_under
from fairhold.cycle.verify.owning import pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.owning import Parts
    from fairhold.cycle.verify.sheet import Sheet


def taken_back(sheet: Sheet, missing: Counter[str], spare: Counter[str]) -> Counter[str]:
    """Leaf → units that lenders take back from it; reduces both arguments by them."""
    taken: Counter[str] = Counter()
    for lender in sheet.leaves:
        for borrower in reversed(sheet.leaves):
            units = min(sheet.loans.get((borrower, lender), 0), missing[lender], spare[borrower])
            if units > 0:
                taken[borrower] += units
                missing[lender] -= units
                spare[borrower] -= units
    return taken


def loans_after(
    sheet: Sheet, parts: Parts, quota: Mapping[str, int], held: Mapping[str, int]
) -> dict[tuple[str, str], int]:
    """(borrower, lender) → units that a leaf holds above its own, the balance and the share that it uses.

    Loans stay as before, then follow the order of the lists; no lender lends more than it owns and does not hold.
    """
    leaves = [leaf for leaf in sheet.leaves if sheet.policies[leaf].owns_exactly]
    last = {leaf for leaf in leaves if is_under(sheet, leaf, "borrow_only")}
    mine = {leaf: parts.own[leaf] if leaf in last else sheet.owned[leaf] for leaf in leaves}
    unused = Counter({leaf: max(0, sheet.owned[leaf] - min(held[leaf], mine[leaf])) for leaf in leaves})
    used: Counter[str] = Counter()
    for (borrower, _), units in parts.lent.items():
        used[borrower] += units
    above = Counter({leaf: held[leaf] - mine[leaf] - (quota[leaf] - parts.own[leaf] - used[leaf]) for leaf in leaves})
    found: dict[tuple[str, str], int] = {}
    place = {leaf: at for at, leaf in enumerate(leaves)}
    before = [pair for pair in sheet.loans if pair[0] in place and pair[1] in place]
    before.sort(key=lambda pair: (place[pair[0]], place[pair[1]]))
    asked = [(*pair, sheet.loans[pair]) for pair in before]
    for borrower, lender, most in [*asked, *pairs(sheet, leaves)]:
        units = min(above[borrower], unused[lender], most - found.get((borrower, lender), 0))
        if units > 0:
            found[borrower, lender] = found.get((borrower, lender), 0) + units
            above[borrower] -= units
            unused[lender] -= units
    return found
