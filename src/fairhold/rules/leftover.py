"""Idle slots that fixed planned shares leave: first come, first served (SPEC §5; R-SHARE-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.distribute import take
from fairhold.ledger.decision import Grant
from fairhold.rules.serving import serve_leaf
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


class Trial(NamedTuple):
    """Columns that the passes change: units held, and what is set aside in the subtree and for the row itself."""

    held: array[int]
    inside: array[int]
    own: array[int]


def share_leftover(
    snapshot: Snapshot, draft: CycleContext, wanted: array[int], trial: Trial, *, granted: array[int], common: int
) -> None:
    """Hand idle slots to the leaves whose waiting requests were submitted first, in place; ties go in path order.

    At parent level first branch by branch, deepest first, up to the branch's planned share; then to all. While a leaf
    could be given missing units but cannot use them, because a gang needs more at once, no leaf gets more than its
    quota: the units would be reclaimed at once.

    wanted  : (rows,) what a leaf can use
    granted : (rows,) units granted so far
    common  : idle units that are not set aside
    """
    rows = snapshot.rows
    left = _Leftover(snapshot, draft, wanted, trial, granted=granted, common=common)
    if any(left.room(leaf, draft.quota[leaf]) > 0 for leaf in rows.leaves):
        return
    waiting = _waiting(snapshot, granted)
    if not rows.is_flat:
        branches = [row for row in range(1, len(rows)) if not rows.is_leaf(row)]
        branches.sort(key=lambda row: (-rows.depths[row], rows.position[row]))
        inside: dict[int, list[_Waiting]] = {}
        for request in waiting:
            row = rows.tree.parent[request.leaf]
            while row > 0:
                inside.setdefault(row, []).append(request)
                row = rows.tree.parent[row]
        for branch in branches:
            left.hand_out(inside.get(branch, []), draft.planned_slots[branch] - trial.held[branch])
    left.hand_out(waiting, snapshot.idle)


class _Waiting:
    """Units that a request waits for."""

    __slots__ = ("leaf", "units")

    def __init__(self, leaf: int, units: int) -> None:
        self.leaf = leaf
        self.units = units


class _Leftover:
    """The books of one hand-out."""

    def __init__(
        self,
        snapshot: Snapshot,
        draft: CycleContext,
        wanted: array[int],
        trial: Trial,
        *,
        granted: array[int],
        common: int,
    ) -> None:
        self.rows = snapshot.rows
        self.need = draft.needs.need
        self.wanted = wanted
        self.trial = trial
        self.granted = granted
        self.common = common

    def hand_out(self, waiting: list[_Waiting], units: int) -> None:
        """Give at most `units` to the requests, in their order."""
        for request in waiting:
            if units <= 0:
                return
            most = min(self.need[request.leaf], self.wanted[request.leaf])
            more = min(request.units, units, self.room(request.leaf, most), self._reach(request.leaf))
            if more > 0:
                held, inside, own = self.trial
                self.common = take(self.rows.tree, request.leaf, more, self.common, held, inside, own)
                self.granted[request.leaf] += more
                request.units -= more
                units -= more

    def _reach(self, leaf: int) -> int:
        """Idle units for a leaf: what is set aside for it counts with the leftover, never alone."""
        reach, row = self.common, leaf
        while row > 0 and self.common > 0:
            reach += self.trial.own[row]
            row = self.rows.tree.parent[row]
        return reach

    def room(self, leaf: int, most: int) -> int:
        """Units that a leaf lacks up to `most`, within the limits above it."""
        held, inside, own = self.trial
        room, row, near = most - held[leaf], leaf, 0
        while row > 0 and room > 0:
            near += own[row]
            below = self.rows.plan.limit[row] - held[row]
            room = min(room, below, near + max(0, below - inside[row]))
            row = self.rows.tree.parent[row]
        return room


class _Counted:
    """Stands for hosts where only the number of units counts."""

    def room(self, request: int) -> int:  # noqa: ARG002 - one for any request
        return UNLIMITED

    def take(self, request: int, units: int) -> None:
        pass

    def place(self, request: int, units: int) -> list[Grant]:
        return [Grant(request, -1, units)]


def _waiting(snapshot: Snapshot, granted: array[int]) -> list[_Waiting]:
    """What requests still wait for when their leaves have what they are granted: first submitted first."""
    books, requests = snapshot.books, snapshot.books.requests
    by_leaf = requests.by_leaf
    found: list[tuple[int, int, str, _Waiting]] = []
    for place, leaf in enumerate(snapshot.rows.leaves):
        given: dict[int, int] = {}
        for grant in serve_leaf(books, leaf, granted[leaf], _Counted()):
            given[grant.request] = given.get(grant.request, 0) + grant.units
        for request in by_leaf.get(leaf, ()):
            units = requests.count[request] - requests.held[request] - given.get(request, 0)
            if units > 0:
                found.append((requests.submitted[request], place, requests.id[request], _Waiting(leaf, units)))
    found.sort(key=lambda entry: entry[:3])
    return [entry[3] for entry in found]
