"""Who lends to whom right now, pair by pair.

Slots have no names, so beyond the sums of `orchestrator.lending` who has whose slots is a convention, too. Consumers
are looked at from the deepest to the root. Each pairs those below it that still lend with those below it that still
borrow: what is left of each goes up to the next. Lenders stand in path order, first of all the consumer itself with its
balance; borrowers in path order; the first lender lends to the first borrower until one of both has no more, and so on.

So leaves borrow of their siblings before they borrow of anybody farther away, and the pairs across the border of a
consumer are together what it borrows or lends by the sums. `/` lends what nobody owns.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.kernels.columns import TreeColumns
    from fairhold.orchestrator.lending import Lending


NO_LOANS: Mapping[tuple[int, int], int] = MappingProxyType({})


class Pair(NamedTuple):
    """Rows of a lender, 0 = nobody, and of a leaf that borrows; units."""

    lender: int
    borrower: int
    units: int


Sides = tuple[list[tuple[int, int]], list[tuple[int, int]]]
"""Who still lends and who still borrows, each a row with its units."""


def pairs_of(lending: Lending, tree: TreeColumns, loans: Mapping[tuple[int, int], int] = NO_LOANS) -> list[Pair]:
    """All pairs.

    loans : (borrower, lender) → units that are lent by name (R-LEND-4); they come first, and count on both sides
    """
    found = [Pair(lender, borrower, units) for (borrower, lender), units in loans.items() if units]
    lends, borrows = Counter[int](), Counter[int]()
    for pair in found:
        lends[pair.lender] += pair.units
        borrows[pair.borrower] += pair.units
    sides: dict[int, Sides] = {}
    for row in range(len(tree.parent) - 1, -1, -1):
        if tree.first[row] == tree.end[row]:
            side = _some(row, lending.lent, lends), _some(row, lending.borrowed, borrows)
        else:
            pairs, side = _paired(_side_of(row, lending, tree, sides))
            found += pairs
        if side[0] or side[1]:
            sides[row] = side
    return found + [Pair(0, row, units) for row, units in sides.get(0, ([], []))[1]]


def _side_of(row: int, lending: Lending, tree: TreeColumns, sides: dict[int, Sides]) -> Sides:
    """Of a branch and all below it."""
    below = [sides.pop(child) for child in tree.children(row) if child in sides]
    lent = [each for side, _ in below for each in side]
    return [*_some(row, lending.used, {}), *lent], [each for _, side in below for each in side]


def _some(row: int, units: Mapping[int, int], told: Mapping[int, int]) -> list[tuple[int, int]]:
    """A row with its units beyond those that are told already; nothing where there are none."""
    left = units.get(row, 0) - told.get(row, 0)
    return [(row, left)] if left > 0 else []


def _paired(side: Sides) -> tuple[list[Pair], Sides]:
    """Pairs, and what is left of both sides; one of them is empty."""
    lent, borrowed, found = side[0][::-1], side[1][::-1], list[Pair]()
    while lent and borrowed:
        (lender, offered), (borrower, asked) = lent.pop(), borrowed.pop()
        units = min(offered, asked)
        found.append(Pair(lender, borrower, units))
        if offered > units:
            lent.append((lender, offered - units))
        if asked > units:
            borrowed.append((borrower, asked - units))
    return found, (lent[::-1], borrowed[::-1])
