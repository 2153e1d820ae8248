"""Units that are still missing after the division, and who gives them (SPEC §8.4, step 5: R-RECLAIM-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from fairhold.cycle.verify.reclaiming import Reclaim


def lacking(case: Reclaim, going: dict[str, int]) -> dict[str, int]:
    """Leaf → units that it gives: `going`, plus what protected leaves give, node by node from the bottom up."""
    return _Giving(case, going).run()


class _Giving:
    """The books of step 5.

    gives  : leaf → units that it gives so far
    spare  : protected leaf → units it may still give
    served : leaf → which of its missing units (1, 2, …) one was taken for
    """

    def __init__(self, case: Reclaim, going: dict[str, int]) -> None:
        leaves = case.sheet.leaves
        self.case = case
        self.gives = {leaf: going[leaf] for leaf in leaves}
        self.spare = {leaf: case.held[leaf] - case.keep(leaf) for leaf in leaves if case.protected(leaf)}
        self.served: dict[str, set[int]] = {leaf: set() for leaf in leaves}
        self.position = {leaf: index for index, leaf in enumerate(leaves)}

    def run(self) -> dict[str, int]:
        case = self.case
        for path in reversed(case.sheet.paths):
            lack = case.claims[path].lack
            if lack == 0 or not case.sheet.children[path]:
                continue
            lost = max(0, case.lost - case.claims[TOP].can_go) if path == TOP else 0
            here = set(case.sheet.inside(path))
            inside = [leaf for leaf in case.sheet.leaves if leaf in here]
            for leaf, first in self.last_missing(inside, lack - lost):
                self.meet(leaf, first, inside)
            self.replace_lost(lost, inside)
        return self.gives

    def last_missing(self, inside: list[str], lack: int) -> list[tuple[str, int]]:
        """Find the last `lack` missing units not yet served, as (leaf, the first of its units), in path order."""
        found: list[tuple[str, int]] = []
        for leaf in reversed(inside):
            missing, served = self.case.claims[leaf].missing, self.served[leaf]
            here = min(lack, missing - len(served))
            if here <= 0:
                continue
            first = missing - here + 1
            while missing - first + 1 - sum(1 for each in served if each >= first) < here:
                first -= 1
            found.append((leaf, first))
            lack -= here
        return found[::-1]

    def meet(self, leaf: str, first: int, inside: list[str]) -> None:
        """Find a giver for each missing unit of a leaf from `first` on, and stop at the first unit without a giver."""
        case = self.case
        for unit in range(first, case.claims[leaf].missing + 1):
            if unit in self.served[leaf]:
                continue
            owed = case.whole[leaf] + unit - 1 < case.quotas.guaranteed[leaf]
            able = [each for each in inside if self.spare.get(each, 0) > 0]
            giver = self.giver(able if owed else [each for each in able if self.ranks_worse(each, leaf)])
            if giver is None:
                return
            self.take(giver)
            self.served[leaf].add(unit)

    def giver(self, among: list[str]) -> str | None:
        """The next giver: leaves with units under notice first, then the worst path."""
        able = [leaf for leaf in among if self.spare.get(leaf, 0) > 0]
        return max(able, key=lambda leaf: (self.on_notice(leaf) > 0, self.position[leaf]), default=None)

    def on_notice(self, leaf: str) -> int:
        """Units under notice beyond those that go already."""
        return self.case.noticed.get(leaf, 0) - self.gives[leaf]

    def take(self, leaf: str) -> None:
        self.gives[leaf] += 1
        self.spare[leaf] -= 1

    def ranks_worse(self, leaf: str, than: str) -> bool:
        """Whether a leaf is of strictly worse rank where the two paths first differ (S1.26)."""
        sheet = self.case.sheet
        mine, other = list(sheet.chain(leaf))[::-1], list(sheet.chain(than))[::-1]
        for one, two in zip(mine, other, strict=False):
            if one != two:
                return sheet.rank[one] > sheet.rank[two]
        return False

    def replace_lost(self, lost: int, inside: list[str]) -> None:
        """Take lost units from protected leaves, then from leaves that hold more than their quota (§3.4)."""
        while lost > 0 and (giver := self.giver(inside)) is not None:
            self.take(giver)
            lost -= 1
        kept = {leaf: max(self.case.quotas.quota[leaf], self.case.stranded.get(leaf, 0)) for leaf in inside}
        above = {leaf: self.case.held[leaf] - kept[leaf] for leaf in inside}
        for noticed_only in (True, False):
            for leaf in reversed(inside):
                most = min(lost, above[leaf] - self.gives[leaf])
                units = max(0, min(most, self.on_notice(leaf)) if noticed_only else most)
                self.gives[leaf] += units
                lost -= units
