"""What a cycle takes back: counts of leaves and the units inside them, made to agree (SPEC §8.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.lacking import lacking
from fairhold.cycle.verify.reclaiming import Reclaim, divide, make_claims, total
from fairhold.cycle.verify.restraint import Piece, kept_young, units_of
from fairhold.cycle.verify.returning import claim_and_give
from fairhold.cycle.verify.sheet import TOP
from fairhold.cycle.verify.victims import choose, claimed_already, not_noticed, withdraw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books, Place
    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet

Taken = tuple[dict[str, list[Piece]], Counter["Place"], list[str]]


def decide(  # noqa: PLR0917 - what a cycle knows, in its order
    sheet: Sheet,
    quotas: Quotas,
    books: Books,
    held: Mapping[str, int],
    whole: Mapping[str, int],
    gone: Mapping[str, int],
    waived: Mapping[str, int],
) -> tuple[Reclaim, dict[str, list[Piece]], Counter[Place]]:
    """Units that are newly noticed and notices that are taken back; the books are moved on.

    A gang that is stopped whole may give more than its leaf was asked. What it gives is then what its leaf must give,
    the claims are made again, and of the same total others give less (R-VICTIM-1); one leaf after another, in path
    order, first those where units must go in any case.

    gone   : leaf → units that go in any case, for a switch of windows or for a lender beside `hybrid`
    waived : path → units that are missed and not taken back in this cycle
    """
    noticed = books.noticed()
    bound = books.switching()
    for leaf, units in gone.items():
        bound[leaf] = max(bound[leaf], units)
    lost = max(0, held["/"] - sheet.slots)
    asked: int | None = None
    spared = {leaf: kept_young(sheet, leaf, not_noticed(books, sheet, leaf)) for leaf in sheet.leaves}
    while True:
        case = Reclaim(sheet, quotas, held, whole, noticed, dict(bound), lost, spared, waived)
        if sheet.owns_exactly and not sheet.is_mixed:
            gives = lacking(case, claim_and_give(case))
        else:
            make_claims(case)
            asked = total(case) if asked is None else asked
            gives = lacking(case, divide(case, asked))
        trial = replace(books, notices=list(books.notices))
        pieces, withdrawn, more = _take(sheet, trial, gives)
        if not more:
            books.notices = trial.notices
            return case, pieces, withdrawn
        first = next((leaf for leaf in more if _must_give(case, leaf)), more[0])
        bound[first] = max(bound[first], _going(trial, pieces, first))


def _must_give(case: Reclaim, leaf: str) -> bool:
    return any(case.claims[path].must_go for path in case.sheet.chain(leaf) if path != TOP)


def _take(sheet: Sheet, books: Books, gives: Mapping[str, int]) -> Taken:
    """Choose and withdraw inside every leaf, by the difference to the notices in force (R-NOTICE-1).

    Returned third: leaves that give more than they were asked.
    """
    noticed = books.noticed()
    pieces: dict[str, list[Piece]] = {}
    withdrawn: Counter[Place] = Counter()
    more: list[str] = []
    for leaf in sheet.leaves:
        wishes, stay = claimed_already(books, sheet, leaf)
        pieces[leaf] = choose(books, sheet, leaf, max(0, gives[leaf] - noticed[leaf]), wishes)
        new = units_of(pieces[leaf])
        surplus = noticed[leaf] + sum(new.values()) - gives[leaf]
        withdrawn += withdraw(books, sheet, leaf, max(0, surplus), new, stay)
        if _going(books, pieces, leaf) > gives[leaf]:
            more.append(leaf)
    return pieces, withdrawn, more


def _going(books: Books, pieces: Mapping[str, list[Piece]], leaf: str) -> int:
    return books.noticed()[leaf] + sum(piece.units for piece in pieces[leaf])
