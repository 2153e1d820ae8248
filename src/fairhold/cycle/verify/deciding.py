"""The units that a cycle takes back: the number for each leaf, and which units inside it (SPEC §8.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.verify.lacking import lacking
from fairhold.cycle.verify.reclaiming import Reclaim, divide, make_claims, total
from fairhold.cycle.verify.restraint import Piece, units_of
from fairhold.cycle.verify.returning import claim_and_give
from fairhold.cycle.verify.sheet import TOP
from fairhold.cycle.verify.victims import choose, claimed_already, spared_units, stranded_units, withdraw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.cycle.verify.books import Books, Place
    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet

Taken = tuple[dict[str, list[Piece]], Counter["Place"], list[str]]


class _Taking(NamedTuple):
    """The units that go: claims, units of each leaf, chosen units, withdrawn notices, and the books after that."""

    case: Reclaim
    gives: Mapping[str, int]
    pieces: dict[str, list[Piece]]
    withdrawn: Counter[Place]
    books: Books

    @property
    def total(self) -> int:
        return sum(self.gives[leaf] for leaf in self.case.sheet.leaves)


def decide(  # noqa: PLR0917 - what a cycle knows, in its order
    sheet: Sheet,
    quotas: Quotas,
    books: Books,
    held: Mapping[str, int],
    whole: Mapping[str, int],
    gone: Mapping[str, int],
    waived: Mapping[str, int],
) -> tuple[Reclaim, dict[str, list[Piece]], Counter[Place]]:
    """The new notices and the withdrawn notices; updates the books.

    A gang that is stopped whole may give more than was asked of its leaf. Its leaf must then give all of that,
    the claims are made again, and of the same total others give less (R-VICTIM-1); one leaf after another, in path
    order, first those where units must go in any case. Where there are several such leaves, or where a gang is under
    notice as a whole beyond what its leaf can give, each in path order is asked again without that, and all give as
    then where these are fewer units, and nobody is told for who was told before (R-VICTIM-3).

    gone   : leaf → units that must go because of a switch of windows or a lender beside `hybrid`
    waived : path → units that are missed and not taken back in this cycle
    """
    least = books.switching()
    for leaf, units in gone.items():
        least[leaf] = max(least[leaf], units)
    lost = max(0, held["/"] - sheet.slots)
    spared = {leaf: spared_units(books, sheet, leaf) for leaf in sheet.leaves}
    left = {leaf: stranded_units(books, sheet, leaf) for leaf in sheet.leaves}
    noticed = books.noticed()

    def claims_with(bound: Mapping[str, int]) -> Reclaim:
        return Reclaim(sheet, quotas, held, whole, noticed, dict(bound), lost, spared, waived, left)

    first, asked = claims_with(least), None
    if _is_owned(sheet):
        claim_and_give(first)
    else:
        make_claims(first)
        asked = total(first)
    stopping = _stopping_beyond(first, books)
    bound = least | stopping
    found = _settled(claims_with, books, bound, asked)
    raised = [leaf for leaf in sheet.leaves if bound[leaf] > least[leaf]]
    waiting = raised if stopping or len(raised) > 1 else []
    while waiting:
        leaf, *waiting = waiting
        other_bound = Counter(bound | {leaf: least[leaf]})
        other = _settled(claims_with, books, other_bound, asked)
        is_new = found.gives[leaf] > noticed[leaf]
        more = any(other.gives[each] > max(found.gives[each], noticed[each]) for each in sheet.leaves)
        if other.total < found.total and (is_new or not more):
            found, bound = other, other_bound
            waiting = [each for each in sheet.leaves if bound[each] > least[each]]
    books.notices = found.books.notices
    return found.case, found.pieces, found.withdrawn


def _stopping_beyond(case: Reclaim, books: Books) -> Counter[str]:
    """Leaf → units that stay under notice as a gang stops whole, where they exceed what the leaf can or must give."""
    found: Counter[str] = Counter()
    for leaf in case.sheet.leaves:
        most = max(case.claims[leaf].must_go, case.held[leaf] - case.keep(leaf))
        more = case.noticed.get(leaf, 0) - most
        if more > 0:
            trial = replace(books, notices=list(books.notices))
            withdraw(trial, case.sheet, leaf, more, Counter(), Counter())
            if trial.noticed()[leaf] > most:
                found[leaf] = trial.noticed()[leaf]
    return found


def _is_owned(sheet: Sheet) -> bool:
    return sheet.owns_exactly and not sheet.is_mixed


def _settled(
    claims_with: Callable[[Mapping[str, int]], Reclaim], books: Books, bound: dict[str, int], asked: int | None
) -> _Taking:
    """The units that go after `bound` is raised to what the gangs of each leaf give."""
    while True:
        case = claims_with(bound)
        if asked is None:
            gives = lacking(case, claim_and_give(case))
        else:
            make_claims(case)
            gives = lacking(case, divide(case, asked))
        trial = replace(books, notices=list(books.notices))
        pieces, withdrawn, more = _take(case.sheet, trial, gives)
        if not more:
            return _Taking(case, gives, pieces, withdrawn, trial)
        first = next((leaf for leaf in more if _must_give(case, leaf)), more[0])
        bound[first] = max(bound.get(first, 0), _going(trial, pieces, first))


def _must_give(case: Reclaim, leaf: str) -> bool:
    return any(case.claims[path].must_go for path in case.sheet.chain(leaf) if path != TOP)


def _take(sheet: Sheet, books: Books, gives: Mapping[str, int]) -> Taken:
    """Choose units and withdraw notices inside each leaf, by the difference to the notices in force (R-NOTICE-1).

    The third value: leaves that give more than was asked of them.
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
