"""How many units each leaf gives back under `ownership` (SPEC §4; R-LEND-3, R-OWN-4, R-OWN-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.kernels.reclaim import Balance
from fairhold.rules.lacking import settle_lack
from fairhold.rules.lending import take_back
from fairhold.rules.reclaiming import holdings, is_quiet, keep_spared, protect_rounded
from fairhold.rules.stopping import take_units

if TYPE_CHECKING:
    from fairhold.kernels.reclaim import Holdings
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def reclaim_for_owners(snapshot: Snapshot, draft: CycleContext) -> None:
    """Decide how many units every leaf gives, and give notice to them."""
    have = holdings(snapshot, draft)
    if is_quiet(snapshot, draft, have):
        return
    weigh_owners(snapshot, draft, have)
    take_units(snapshot, draft, have.bound, lambda: weigh_owners(snapshot, draft, have))


def weigh_owners(snapshot: Snapshot, draft: CycleContext, have: Holdings | None = None) -> None:
    """Compute what every consumer misses, can give, must give and gives, before units are chosen."""
    have = holdings(snapshot, draft) if have is None else have
    _keep_for_themselves(snapshot, draft, have)
    draft.keep, draft.protected = have.keep, have.protected
    _Return(snapshot, draft, have, draft.balance).run()


def keep_of_owners(snapshot: Snapshot, draft: CycleContext) -> Holdings:
    """The holdings, with nothing kept where a limit allows nothing to be kept (R-RECLAIM-2)."""
    have = holdings(snapshot, draft)
    _keep_for_themselves(snapshot, draft, have)
    scratch = _Return(snapshot, draft, have, Balance(*(zeros(len(snapshot.rows)) for _ in Balance._fields)))
    scratch.leaves()
    scratch.limits()
    return have


def _keep_for_themselves(snapshot: Snapshot, draft: CycleContext, have: Holdings) -> None:
    have.keep[:] = draft.quota
    keep_spared(snapshot, have)
    have.protected[:] = protect_rounded(snapshot, draft)


class _Return:
    """The numbers of one reclaim.

    spare : (rows,) of a leaf, units above what it keeps that it does not give yet
    least : (rows,) of a branch, what it gives at least because of its limit
    """

    def __init__(self, snapshot: Snapshot, draft: CycleContext, have: Holdings, out: Balance) -> None:
        self.snapshot, self.rows, self.draft, self.have = snapshot, snapshot.rows, draft, have
        self.out = out
        self.spare = zeros(len(self.rows))
        self.least = zeros(len(self.rows))

    def run(self) -> None:
        """Limits and what is under notice first, then lenders, then the worst paths (R-OWN-4)."""
        out, lost = self.out, self.snapshot.lost
        for column in out:
            column[:] = zeros(len(column))
        self.leaves()
        self.limits()
        wanted = out.missing[0] + lost
        going = sum(out.gives[leaf] for leaf in self.rows.leaves)
        if going > wanted:
            self.spare_in_path_order(going - wanted)
        elif going < wanted:
            self.take(wanted - going)
        self.add_up()
        out.lack[0] = max(0, wanted - out.can[0])
        settle_lack(self.snapshot, self.draft.firm, self.have, out)
        self.add_up()

    def leaves(self) -> None:
        """What every leaf misses and gives in any case: what is under notice, up to its excess (R-OWN-5)."""
        have, out = self.have, self.out
        for leaf in self.rows.leaves:
            above = max(0, have.held[leaf] - have.keep[leaf])
            out.missing[leaf] = max(0, have.entitled[leaf] - have.whole[leaf])
            out.must[leaf] = max(0, have.held[leaf] - have.limit[leaf], have.bound[leaf])
            out.gives[leaf] = max(out.must[leaf], min(have.noticed[leaf], above))
            self.spare[leaf] = max(0, above - out.gives[leaf])
        self.add_up()

    def add_up(self) -> None:
        """Sums of all branches; what a leaf can give is all above its quota, but for what rounding alone put there."""
        have, out, tree = self.have, self.out, self.rows.tree
        for row in range(len(self.rows) - 1, -1, -1):
            if not row or not self.rows.is_leaf(row):
                for column in (out.missing, out.gives, out.can, out.must):
                    column[row] = tree.total(column, row)
                out.must[row] = max(out.must[row], self.least[row])
            else:
                able = 0 if have.protected[row] else have.held[row] - have.keep[row]
                out.can[row] = max(out.must[row], out.gives[row], able)

    def limits(self) -> None:
        """A branch above its limit gives from the worst path inside, deepest branches first."""
        rows, have, out = self.rows, self.have, self.out
        for row in range(len(rows) - 1, 0, -1):
            over = have.whole[row] + out.missing[row] - have.limit[row]
            if rows.is_leaf(row) or over <= 0:
                continue
            first = rows.position[row]
            inside = [at for at in rows.tree.path[first : first + rows.size[row]] if rows.is_leaf(at)]
            given = sum(out.gives[leaf] for leaf in inside)
            if over > given + sum(self.spare[leaf] for leaf in inside if not have.protected[leaf]):
                for leaf in inside:
                    have.protected[leaf], have.keep[leaf] = 0, have.quota[leaf]
                    self.spare[leaf] = max(0, have.held[leaf] - have.quota[leaf] - out.gives[leaf])
            given += self.give_from_the_worst(inside, over - given)
            self.least[row] = min(over, given)

    def give_from_the_worst(self, leaves: list[int] | tuple[int, ...], units: int) -> int:
        """Units more from leaves in path order, the last first; returns how many were found."""
        left = units
        for leaf in reversed(leaves):
            taken = 0 if self.have.protected[leaf] else min(left, self.spare[leaf])
            if taken > 0:
                self.spare[leaf] -= taken
                self.out.gives[leaf] += taken
                left -= taken
        return units - left

    def spare_in_path_order(self, units: int) -> None:
        """If more is under notice than is missing, reduce it in path order, down to what is above a limit (R-OWN-5)."""
        out, parent = self.out, self.rows.tree.parent
        self.add_up()
        for leaf in self.rows.leaves:
            less, row = min(units, out.gives[leaf] - out.must[leaf]), parent[leaf]
            while row > 0:
                less = min(less, out.gives[row] - self.least[row])
                row = parent[row]
            row = leaf if less > 0 else 0
            while row > 0:
                out.gives[row] -= less
                row = parent[row]
            units -= max(0, less)

    def take(self, units: int) -> None:
        """Count noticed units for missing leaves in path order; then lenders reclaim, then the worst path gives."""
        out, rows = self.out, self.rows
        going = sum(out.gives[leaf] for leaf in rows.leaves)
        missing: dict[int, int] = {}
        for leaf in rows.leaves:
            covered = min(going, out.missing[leaf])
            going -= covered
            if out.missing[leaf] > covered:
                missing[leaf] = out.missing[leaf] - covered
        able = [0 if kept else units for kept, units in zip(self.have.protected, self.spare, strict=True)]
        for leaf, back in take_back(rows, self.snapshot.books.borrowed, missing, able).items():
            out.gives[leaf] += back
            self.spare[leaf] -= back
            units -= back
        self.give_from_the_worst(rows.leaves, units)
