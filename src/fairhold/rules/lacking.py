"""Covers what is still lacking with units that only rounding put above a quota (SPEC §8.4.5; R-RECLAIM-5)."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.rules.victims import stranded_units

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from fairhold.kernels.reclaim import Balance, Holdings
    from fairhold.ledger.snapshot import Snapshot

Span = tuple[int, int]
"""Missing units of a leaf, first and last of them, counted from 1."""


def settle_lack(snapshot: Snapshot, firm: array[int], have: Holdings, out: Balance) -> None:
    """Take from protected leaves what is lacking, node by node from the deepest; raises `out.gives` of leaves.

    firm : (rows,) what a leaf may hold for sure, whatever rounding says
    """
    rows = snapshot.rows
    if not snapshot.lost and not any(out.lack):
        return
    none = zeros(len(rows))
    givers = [leaf for leaf in snapshot.leaves_where_more(have.protected, none) if _spare(leaf, have, out) > 0]
    lost_lacking = max(0, snapshot.lost - out.can[0])
    if givers:
        lack = _Lack(snapshot, firm, have, out, givers)
        for row in range(len(rows) - 1, 0, -1):
            if out.lack[row] > 0:
                lack.settle(row, out.lack[row])
        lack.settle(0, out.lack[0] - lost_lacking)
        for _ in range(lost_lacking):
            giver = lack.find_giver(0, len(rows), None, 0)
            if giver is None:
                break
            lack.give(giver)
            lost_lacking -= 1
    if lost_lacking:
        _take_lost(snapshot, have, out, lost_lacking)


def _spare(leaf: int, have: Holdings, out: Balance) -> int:
    """Units that a protected leaf holds above what is kept for it, beyond what it gives already."""
    return have.held[leaf] - have.keep[leaf] - out.gives[leaf]


def _take_lost(snapshot: Snapshot, have: Holdings, out: Balance, units: int) -> None:
    """Lost units that no protected leaf could give: from what leaves hold above their quota, noticed ones first."""
    for only_noticed in (True, False):
        for leaf in reversed(snapshot.rows.leaves):
            kept = max(have.quota[leaf], stranded_units(snapshot.books, leaf))
            above = have.held[leaf] - kept - out.gives[leaf]
            if only_noticed:
                above = min(above, have.noticed[leaf] - out.gives[leaf])
            taken = max(0, min(units, above))
            out.gives[leaf] += taken
            units -= taken


class _Lack:
    """The missing units of the leaves, less those for which one was taken already."""

    def __init__(self, snapshot: Snapshot, firm: array[int], have: Holdings, out: Balance, givers: list[int]) -> None:
        self.rows = rows = snapshot.rows
        self.firm = firm
        self.have = have
        self.out = out
        short = list(snapshot.leaves_where_more(out.missing, zeros(len(rows))))
        self.open: dict[int, list[Span]] = {leaf: [(1, out.missing[leaf])] for leaf in short}
        # Leaves stand in path order, so that those of a subtree are a slice, found by their places.
        self.givers, self.giver_places = givers, [rows.position[leaf] for leaf in givers]
        self.taken = 0
        self.has_notices = any(have.noticed[giver] > out.gives[giver] for giver in givers)
        self.short, self.short_places = short, [rows.position[leaf] for leaf in short]

    def settle(self, node: int, units: int) -> None:
        """Serve the last `units` missing ones of a subtree, in path order, from protected leaves inside it."""
        start = self.rows.position[node]
        end = start + self.rows.size[node]
        for leaf, first, last in self._last(start, end, units):
            for number in range(first, last + 1):
                giver = self.find_giver(start, end, leaf, number)
                if giver is None:
                    break
                self.give(giver)
                self._close(leaf, number)

    def give(self, giver: int) -> None:
        """One unit more from a giver."""
        self.out.gives[giver] += 1
        self.taken += _spare(giver, self.have, self.out) <= 0

    def _last(self, start: int, end: int, units: int) -> list[tuple[int, int, int]]:
        """The last `units` open missing units of the leaves at positions start..end, in path order."""
        found: list[tuple[int, int, int]] = []
        inside = slice(bisect_left(self.short_places, start), bisect_left(self.short_places, end))
        for leaf in reversed(self.short[inside]):
            for first, last in reversed(self.open[leaf]):
                if units <= 0:
                    return found[::-1]
                count = min(units, last - first + 1)
                found.append((leaf, last - count + 1, last))
                units -= count
        return found[::-1]

    def _close(self, leaf: int, number: int) -> None:
        spans = []
        for first, last in self.open[leaf]:
            if first <= number <= last:
                spans += [span for span in ((first, number - 1), (number + 1, last)) if span[0] <= span[1]]
            else:
                spans.append((first, last))
        self.open[leaf] = spans

    def find_giver(self, start: int, end: int, leaf: int | None, number: int) -> int | None:
        """The leaf that gives a unit for the `number`-th missing one of a leaf (None: a lost one); None: no leaf may.

        Leaves with units under notice come first, then the worst path.
        """
        may_take_any = leaf is None or self.have.whole[leaf] + number - 1 < self.firm[leaf]
        if not may_take_any and not (leaf is not None and self.rows.has_worse[leaf]):
            return None
        best = None
        for giver in self._givers_inside(start, end):
            if _spare(giver, self.have, self.out) <= 0:
                continue
            if not may_take_any and not (leaf is not None and self._is_worse(giver, leaf)):
                continue
            if self.have.noticed[giver] > self.out.gives[giver]:
                return giver
            if best is None:
                best = giver
                if not self.has_notices:
                    break
        return best

    def _givers_inside(self, start: int, end: int) -> Iterator[int]:
        """Givers at positions start..end, worst path first."""
        # Who has nothing left to give any more is dropped, once half of them are such.
        if 2 * self.taken > len(self.givers):
            self.givers = [giver for giver in self.givers if _spare(giver, self.have, self.out) > 0]
            self.giver_places = [self.rows.position[giver] for giver in self.givers]
            self.taken = 0
        first, last = bisect_left(self.giver_places, start), bisect_left(self.giver_places, end)
        return (self.givers[place] for place in range(last - 1, first - 1, -1))

    def _is_worse(self, giver: int, leaf: int) -> bool:
        """Whether the giver's path has strictly worse rank where the two paths first differ."""
        parent, rank, depths = self.rows.tree.parent, self.rows.tree.rank, self.rows.depths
        one, other = giver, leaf
        while parent[one] != parent[other]:
            if depths[one] < depths[other]:
                other = parent[other]
            else:
                one = parent[one]
        return rank[one] > rank[other]
