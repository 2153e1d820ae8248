"""Quotas of `ownership`, one slot after another (R-OWN-1 to R-OWN-3, R-LEND-1, R-LEND-2, R-BUDGET-3)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairhold.reference.filling import freeze

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.reference.consumers import Consumers
    from fairhold.reference.quotas.level import Entitlement


class _Division:
    """What has been given so far; every slot passes through `gives`."""

    def __init__(self, consumers: Consumers, slots: int, found: Entitlement) -> None:
        self.consumers, self.found, self.left = consumers, found, slots
        self.leaves = [leaf for leaf in consumers.leaves if consumers[leaf].owns_exactly]
        self.has: Counter[str] = Counter()

    def lacks(self, leaf: str) -> int:
        """What it needs and has not, within the limits on its way."""
        rooms = [self.consumers[path].limit - self.has[path] for path in self.consumers.above(leaf)]
        return max(0, min(self.found.need[leaf] - self.has[leaf], *rooms))

    def gives(self, leaf: str, most: int) -> int:
        """So many slots at most, while there are any."""
        given = max(0, min(most, self.left, self.lacks(leaf)))
        self.left -= given
        for path in self.consumers.above(leaf):
            self.has[path] += given
        return given


def divide_owned(consumers: Consumers, slots: int, found: Entitlement, *, unowned: int) -> None:
    """All steps in their order. unowned : slots beyond all that is owned (R-OWN-3)."""
    run = _Division(consumers, slots - unowned, found)
    sober = [leaf for leaf in run.leaves if not consumers[leaf].only_borrows]
    for leaf in sober:
        found.own[leaf] = run.gives(leaf, consumers[leaf].owned)
    for branch in consumers.deepest_first:
        balance = consumers[branch].owned - sum(consumers[child].owned for child in consumers[branch].children)
        for leaf in consumers.inside(branch):
            if consumers[branch].owns_exactly and leaf in sober:
                given = run.gives(leaf, balance)
                balance -= given
                found.balance[leaf] = found.balance.get(leaf, 0) + given
    _lend(run)
    run.left += unowned
    before = dict(run.has)
    exact = _share_unowned(run, unowned)
    for path in consumers.order:
        if path == "/" or not consumers[path].owns_exactly:
            continue
        found.quota[path] = run.has[path]
        inside = [leaf for leaf in consumers.inside(path) if leaf in run.leaves]
        found.exact[path] = before.get(path, 0) + sum((exact.get(leaf, Fraction(0)) for leaf in inside), Fraction(0))
        found.ceiling[path] = ceil(found.exact[path])


def lenders_of(consumers: Consumers, borrower: str) -> Iterator[tuple[str, int]]:
    """R-LEND-1: (lender, the smaller of both limits) in the order in which a leaf asks."""
    tree = consumers.plan.tree
    mine = consumers[borrower]
    for peer in mine.stated.borrow_from:
        lender = consumers[tree.paths[peer.consumer]]
        for back in lender.stated.lend_to:
            if lender.owns_exactly and tree.paths[back.consumer] == borrower:
                yield lender.path, min(peer.limit, back.limit)


def _lend(run: _Division) -> None:
    """R-LEND-2, R-BUDGET-3: borrowers in path order; who only borrows is served last, first of its own."""
    consumers, found = run.consumers, run.found
    offers = {}
    for leaf in run.leaves:
        mine = consumers[leaf]
        kept = 0 if mine.only_borrows else max(found.need[leaf], mine.reserved)
        offers[leaf] = max(0, mine.owned - kept)
    late = [leaf for leaf in run.leaves if consumers[leaf].only_borrows]
    for leaf in [*(each for each in run.leaves if each not in late), *late]:
        if leaf in late:
            found.own[leaf] = run.gives(leaf, offers[leaf])
            offers[leaf] -= found.own[leaf]
        elif found.need[leaf] < consumers[leaf].owned:
            continue
        for lender, limit in lenders_of(consumers, leaf):
            given = run.gives(leaf, min(limit, offers[lender]))
            offers[lender] -= given
            if given:
                found.loans[leaf, lender] = given


def _share_unowned(run: _Division, amount: int) -> dict[str, Fraction]:
    """R-OWN-3: what nobody owns, by ratio among the leaves that state one; leaf → its exact part above whole slots."""
    consumers, found = run.consumers, run.found
    ratios = {leaf: consumers[leaf].ratio or 0 for leaf in run.leaves if consumers[leaf].ratio}
    caps = {leaf: found.need[leaf] - run.has[leaf] for leaf in ratios}
    branches = [
        (consumers[path].limit - run.has[path], [leaf for leaf in consumers.inside(path) if leaf in ratios])
        for path in consumers.deepest_first
    ]
    exact = freeze(amount, ratios, caps, branches)
    for leaf in ratios:
        run.gives(leaf, floor(exact[leaf]))
    over = int(sum(exact.values())) - sum(floor(each) for each in exact.values())
    for leaf in ratios:
        if over and exact[leaf] % 1:
            over -= run.gives(leaf, 1)
    return exact
