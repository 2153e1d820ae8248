"""Fair shares of all queues, level by level from the top (SPEC §7, S4.6-8, R-QUEUE-1)."""

from __future__ import annotations

from array import array
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import inf, lcm
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels._jit import fits
from fairhold.kernels.columns import zeros
from fairhold.kernels.queues import QueueColumns, Scratch, divide_queues
from fairhold.rules.queues.as_kai import KaiSiblings, divide_as_kai
from fairhold.rules.queues.dividing import Correction, Siblings, divide
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from fairhold.ledger.queues import Amount, QueueTerms


ROOT = 0


def fair_shares(
    terms: QueueTerms, at: int, total: int, requested: Sequence[int], usage: Mapping[int, Fraction]
) -> list[Amount]:
    """Fair share of every row of one resource; the root's is the total.

    at        : place of the resource
    requested : by row, what is held and waited for
    usage     : row → decayed history as a part of the cluster's capacity
    """
    return FairShares(terms).divide(at, total, requested, usage, ())


class FairShares:
    """Fair shares of all resources from cycle to cycle: only among siblings who have changed is divided again."""

    def __init__(self, terms: QueueTerms) -> None:
        self._terms = terms
        self._known: dict[int, tuple[int, Mapping[int, Fraction], list[int], list[Amount]]] = {}
        """Place of a resource → its total, usage, what rows can use, and their shares, as of before."""
        self._columns: dict[int, Columns] = {}

    def divide(
        self, at: int, total: int, requested: Sequence[int], usage: Mapping[int, Fraction], rows: Collection[int]
    ) -> list[Amount]:
        """As `fair_shares`; rows: those of which another amount is requested than before."""
        terms, known = self._terms, self._known.get(at)
        if terms.settings.division == "kai":
            return _as_kai(terms, at, total, requested, usage)
        if not usage and is_compiled(terms, at, total, requested):
            self._known.pop(at, None)
            return self._in_columns(at, total, requested)
        self._columns.pop(at, None)
        if known is None or known[:2] != (total, usage):
            wanted = usable(terms, at, requested)
            share: list[Amount] = [0] * len(terms.above)
            changed = {row for row, children in enumerate(terms.children) if children}
        else:
            wanted, share = known[2], known[3][:]
            changed = use_again(terms, at, requested, wanted, rows)
        share[ROOT] = total
        self._divide(at, total, usage, wanted, share, changed)
        self._known[at] = total, usage, wanted, share
        return share

    def _in_columns(self, at: int, total: int, requested: Sequence[int]) -> list[Amount]:
        """The same by the kernel."""
        queues, size = columns_of(self._terms, at), len(self._terms.above)
        kept = self._columns.get(at)
        if kept is None or kept.share[ROOT] != total:
            kept = self._columns[at] = Columns(zeros(size), queues.is_parent[:], zeros(size))
            kept.share[ROOT] = total
        scratch = Scratch(zeros(size), zeros(size), zeros(size))
        of_rows = array("q", requested)
        divide_queues.run(True, queues, self._terms.steps[at], UNLIMITED, of_rows, *kept, scratch)  # noqa: FBT003
        return list(kept.share)

    def _divide(  # noqa: PLR0917 - what is divided
        self,
        at: int,
        total: int,
        usage: Mapping[int, Fraction],
        wanted: Sequence[int],
        share: list[Amount],
        changed: set[int],
    ) -> None:
        """Divide again what those have of whose children one can use another amount, and whoever gets another share."""
        terms = self._terms
        divided = below(terms, at, total, wanted, usage) if changed else None
        open_ = list(changed)
        heapify(open_)
        while open_ and divided is not None:
            parent = heappop(open_)  # children stand after their parents
            mine = share[parent]
            assert isinstance(mine, int)
            siblings, correction = divided(parent, mine)
            for row, units in zip(
                terms.children[parent], divide(mine, terms.steps[at], siblings, correction), strict=True
            ):
                if share[row] != units:
                    share[row] = units
                    if terms.children[row] and row not in changed:
                        changed.add(row)
                        heappush(open_, row)


class Columns(NamedTuple):
    """What rows can use, who is to be divided again, and shares, as of before."""

    wanted: array[int]
    again: array[int]
    share: array[int]


def is_compiled(terms: QueueTerms, at: int, total: int, requested: Sequence[int]) -> bool:
    """Whether fair shares of one resource are computed by the compiled kernel, where no history counts."""
    if not fits(len(terms.above), 0):
        return False
    queues = columns_of(terms, at)
    return fits(len(terms.above), max(total, *requested, terms.steps[at]) * sum(queues.weight))


def columns_of(terms: QueueTerms, at: int) -> QueueColumns:
    """The settings of one resource in columns, made once."""
    found = terms.columns.get(at)
    if found is None:
        parent = array("q", [above[1] if len(above) > 1 else ROOT for above in terms.above])
        child, first, end = array("q"), array("q"), array("q")
        for rows in terms.children:
            first.append(len(child))
            child.extend(sorted(rows, key=terms.priority.__getitem__, reverse=True))
            end.append(len(child))
        more = (array("q", each) for each in (terms.priority, terms.weight[at], terms.deserved[at], terms.limit[at]))
        is_parent = array("q", [bool(rows) for rows in terms.children])
        found = terms.columns[at] = QueueColumns(parent, first, end, child, is_parent, *more)
    return found


def use_again(
    terms: QueueTerms, at: int, requested: Sequence[int], wanted: list[int], rows: Collection[int]
) -> set[int]:
    """Put right what rows can use where another amount is requested; parents with a child that can use another one."""
    limit, changed = terms.limit[at], set[int]()
    for row in sorted(rows, reverse=True):
        children = terms.children[row]
        most = sum(map(wanted.__getitem__, children)) if children else requested[row]
        found = min(limit[row], most)
        if found != wanted[row]:
            wanted[row] = found
            if row != ROOT:
                changed.add(terms.above[row][1])
    return changed


def below(
    terms: QueueTerms, at: int, total: int, wanted: Sequence[int], usage: Mapping[int, Fraction]
) -> Callable[[int, int], tuple[Siblings, Correction]]:
    """What says, of a row and its fair share, who divides it and how history counts.

    wanted : by row, what it can use
    """
    k, of = terms.settings.k.numerator, terms.settings.k.denominator
    scale, used = _scaled(usage) if k else (1, {})
    deserved, weight, priority = terms.deserved[at], terms.weight[at], terms.priority

    def divided(parent: int, mine: int) -> tuple[Siblings, Correction]:
        rows = terms.children[parent]
        siblings = Siblings(
            list(map(deserved.__getitem__, rows)),
            list(map(wanted.__getitem__, rows)),
            list(map(weight.__getitem__, rows)),
            list(map(priority.__getitem__, rows)),
            [used.get(row, 0) * total for row in rows] if used else (),
        )
        return siblings, Correction((k, of), mine * scale)

    return divided


def usable(terms: QueueTerms, at: int, requested: Sequence[int]) -> list[int]:
    """By row, what it can use: what is asked for within its limit, and within those of its children (R-QUEUE-1)."""
    limit, children = terms.limit[at], terms.children
    pairs = zip(requested, limit, strict=True)
    found = [mine if mine < most else most for mine, most in pairs]  # noqa: FURB136 - spares a call for every queue
    for row in range(len(requested) - 1, -1, -1):  # children stand after their parents
        rows = children[row]
        if rows:
            found[row] = min(limit[row], sum(map(found.__getitem__, rows)))
    return found


def with_children(terms: QueueTerms, usage: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Usage of every row; a parent's, where it is not given, is its children's sum."""
    found: dict[int, Fraction] = {}
    for row in range(len(terms.above) - 1, -1, -1):
        mine = usage.get(row)
        if mine is None:
            mine = sum((found.get(child, Fraction(0)) for child in terms.children[row]), Fraction(0))
        if mine:
            found[row] = mine
    return found


def _scaled(usage: Mapping[int, Fraction]) -> tuple[int, dict[int, int]]:
    scale = lcm(*(each.denominator for each in usage.values()))
    return scale, {row: int(each * scale) for row, each in usage.items()}


def _as_kai(
    terms: QueueTerms, at: int, total: int, requested: Sequence[int], usage: Mapping[int, Fraction]
) -> list[Amount]:
    """The same as KAI has it: doubles, in steps; a parent's request is not bounded by its children's limits."""
    step, one = terms.steps[at], terms.weight_of_one[at]

    def steps(units: int) -> float:
        return inf if units >= UNLIMITED else units / step

    share = [0.0] * len(terms.above)
    share[ROOT] = steps(total)
    open_ = [ROOT]
    while open_:
        parent = open_.pop()
        rows = terms.children[parent]
        siblings = KaiSiblings(
            [steps(terms.deserved[at][row]) for row in rows],
            [steps(min(terms.limit[at][row], requested[row])) for row in rows],
            [terms.weight[at][row] / one for row in rows],
            [terms.priority[row] for row in rows],
            [float(usage.get(row, 0)) for row in rows],
        )
        given = divide_as_kai(share[parent], siblings, float(terms.settings.k))
        for row, each in zip(rows, given, strict=True):
            share[row] = each
            open_.append(row)
    return [Fraction(each) * step for each in share]
