"""The exact share: the result of filling without rounding (R-EXACT-1); also the result with every level rounded up.

It is needed only where rounding matters (R-PROTECT-1, `explain`), so it is computed on demand, one sibling group at a
time. The fractions get longer with the depth of the tree.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels._jit import SAFE
from fairhold.kernels.columns import zeros
from fairhold.kernels.fill import filled
from fairhold.kernels.share import fill_group

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence, Sequence

    from fairhold.kernels.columns import Needs, TreeColumns
    from fairhold.ledger.snapshot import Snapshot


class Filling(NamedTuple):
    """The filling of one sibling group, in 1/unit slots.

    phase  : who shares, one of the PHASE constants
    num, den : water level; den 0 = every child at its cap
    base, weight, floor, cap : one entry a child
    """

    phase: int
    unit: int
    num: int
    den: int
    base: Sequence[int]
    weight: Sequence[int]
    floor: Sequence[int]
    cap: Sequence[int]

    def share(self, child: int) -> Fraction:
        """The exact amount of one child, in slots."""
        scale = max(self.den, 1)
        top = filled(self.num, self.den, self.weight[child], self.floor[child], self.cap[child])
        return Fraction(self.base[child] * scale + top, self.unit * scale)


class ExactShares:
    """Exact shares of consumers that share level by level, each sibling group filled once when it is first asked for.

    top  : slots that are divided
    fill : how a parent's amount is filled over its children
    up   : every amount is rounded up before it is filled over the children below
    """

    def __init__(
        self, tree: TreeColumns, top: Fraction, fill: Callable[[int, Fraction], Filling], *, up: bool = False
    ) -> None:
        self.tree = tree
        self.fill = fill
        self.up = up
        self._amount: dict[int, Fraction] = {0: top}
        self._filling: dict[int, Filling] = {}

    def whole(self, row: int) -> int:
        """The amount of a consumer in whole slots, rounded up."""
        return ceil(self.amount(row))

    def amount(self, row: int) -> Fraction:
        """Exact share of a consumer in slots; where all is rounded up, a whole number."""
        tree = self.tree
        above = []
        while row not in self._amount:
            above.append(row)
            row = tree.parent[row]
        for child in reversed(above):
            parent = tree.parent[child]
            if parent not in self._filling:
                self._filling[parent] = self.fill(parent, self._amount[parent])
            share = self._filling[parent].share(tree.children(parent).index(child))
            self._amount[child] = Fraction(ceil(share)) if self.up else share
        return self._amount[above[0]] if above else self._amount[row]


def fill_children(snapshot: Snapshot, needs: Needs, parent: int, amount: Fraction) -> Filling:
    """Fill a parent's exact amount over its children."""
    rows, compiled = snapshot.rows, snapshot.compiled
    children = rows.tree.children(parent)
    columns = (rows.scaled.owned, needs.sure, needs.need)
    owned, sure, need = (array("q", [column[child] for child in children]) for column in columns)
    evenly = rows.entry.settings.distribute_evenly
    scale_num, scale_den = snapshot.scale[0], max(snapshot.scale[1], 1)
    scale = scale_den if evenly else 1
    unit, whole = amount.denominator * scale, amount.numerator * scale
    # What the layouts form: need, sure and owned slots, and in even mode the slots owned now, in 1/unit slots.
    owned_now = max(owned) * scale_num * (unit // scale_den) if evenly else 0
    largest = max(whole, max(need) * unit, max(sure) * unit, max(owned) * unit, owned_now, 1)
    fits = compiled and largest * max(sum(owned), len(children)) < SAFE
    layout: list[MutableSequence[int]] = [zeros(len(children)) if fits else [0] * (len(children)) for _ in range(4)]
    phase, num, den = fill_group.run(fits, whole, unit, evenly, scale_num, scale_den, owned, sure, need, *layout)
    base, weight, floor, cap = layout
    return Filling(phase, unit, num, den, base, weight, floor, cap)
