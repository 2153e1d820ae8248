"""To whom idle slots go: what is set aside for reserves, and both passes (R-ASIDE-1, R-GRANT-1, R-GRANT-2)."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from fairhold.reference.quotas import is_mixed, of_owners
from fairhold.reference.quotas.ratio import by_leaf
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation


class Handing:
    """Who is handed how many idle slots; every slot is handed by itself.

    aside  : path → idle slots that are set aside there and nowhere below
    free   : idle slots that are set aside for nobody
    held   : path → units held, with what has been handed
    handed : leaf → slots
    kept   : leaf → slots that are kept for its requests and that it may come to hold
    """

    def __init__(self, situation: Situation, entitled: Entitlement, idle: int, kept: Mapping[str, int]) -> None:
        """Nothing is handed yet, and what is reserved is set aside."""
        self.situation, self.entitled, self.consumers = situation, entitled, situation.consumers
        self.held = Counter(situation.held)
        self.handed: Counter[str] = Counter()
        self.aside: Counter[str] = Counter()
        self.free = idle - sum(kept.values())
        self.kept = kept
        self.room_of_sharers = _room_beside_owners(situation)
        self._set_aside()
        self.aside.update(kept)

    def _wanted(self, path: str) -> int:
        """R-ASIDE-1: what is to be set aside for a consumer and all below it."""
        children = self.consumers[path].children
        mine = self.entitled.reserve[path] - self.held[path] if path != "/" else 0
        if children:
            return max(sum(self._wanted(child) for child in children), mine, 0)
        return max(0, mine - self.kept.get(path, 0))

    def _set_aside(self) -> None:
        """From the root down in rank order, the children's slots before the parent's own."""

        def give(path: str, amount: int) -> None:
            left = amount
            for child in self.consumers.siblings(path):
                part = min(left, self._wanted(child))
                if path == "/" and not self.consumers[child].owns_exactly:
                    part = max(0, min(part, self.room_of_sharers))
                    self.room_of_sharers -= part
                give(child, part)
                left -= part
            if path != "/":
                self.aside[path] += left

        give("/", min(self.free, self._wanted("/")))
        self.free -= sum(self.aside.values())

    def whole(self, path: str) -> int:
        """What is held and set aside inside."""
        inside = (each for each in self.aside if path == "/" or path in self.consumers.above(each))
        return self.held[path] + sum(self.aside[each] for each in inside)

    def source(self, leaf: str) -> str | None:
        """Where the next slot for a leaf comes from: what is set aside nearest to it, else `/`; None: from nowhere."""
        above = self.consumers.above(leaf)
        source = next((path for path in above if self.aside[path]), "/" if self.free else None)
        if source is None:
            return None
        if source == "/" and not self.consumers[leaf].owns_exactly and self.room_of_sharers <= 0:
            return None
        for path in above:
            comes_from_inside = source != "/" and path in self.consumers.above(source)
            if self.whole(path) + (0 if comes_from_inside else 1) > self.consumers[path].limit:
                return None
        return source

    def hand(self, leaf: str) -> bool:
        """Hand one slot to a leaf, if there is one for it."""
        source = self.source(leaf)
        if source is None:
            return False
        if source == "/":
            self.free -= 1
            self.room_of_sharers -= 0 if self.consumers[leaf].owns_exactly else 1
        else:
            self.aside[source] -= 1
        self.handed[leaf] += 1
        self.held["/"] += 1
        for path in self.consumers.above(leaf):
            self.held[path] += 1
        return True


def _room_beside_owners(situation: Situation) -> int:
    """R-MIX-3: what the leaves of `hybrid` together may still get and have set aside."""
    consumers = situation.consumers
    if not is_mixed(consumers):
        return UNLIMITED
    sharers = [path for path in consumers["/"].children if not consumers[path].owns_exactly]
    return situation.slots - of_owners(consumers) - sum(situation.held[path] for path in sharers)


def both_passes(handing: Handing, most: Callable[[str], int]) -> None:
    """R-GRANT-1, R-GRANT-2. most : leaf → units that it is to hold at most."""
    quota = handing.entitled.quota
    for in_branches in (True, False):
        for leaf in handing.consumers.leaves:
            above = handing.consumers.above(leaf)
            while handing.held[leaf] < most(leaf):
                if in_branches and any(handing.held[path] >= quota[path] for path in above):
                    break
                if not handing.hand(leaf):
                    break


def hand_out(
    situation: Situation, entitled: Entitlement, idle: int, kept: Mapping[str, int], most: Mapping[str, int]
) -> Handing:
    """What everybody is handed. most : leaf → slots at most, as its requests use no more (R-GRANT-3)."""
    handing = Handing(situation, entitled, idle, kept)
    entry = situation.consumers["/"].entry

    def up_to_quota(leaf: str) -> int:
        bound = situation.held[leaf] + most.get(leaf, UNLIMITED)
        return min(entitled.quota[leaf], entitled.demand[leaf], bound)

    if entry.policy.divides_by_ratio and entry.settings.entitlement == "planned":
        both_passes(handing, lambda leaf: min(up_to_quota(leaf), ceil(entitled.planned[leaf])))  # R-SHARE-8
    both_passes(handing, up_to_quota)
    if entry.policy.divides_by_ratio and entry.settings.entitlement == "fixed":
        _hand_beyond_quotas(handing, most)
    return handing


def _hand_beyond_quotas(handing: Handing, most: Mapping[str, int]) -> None:
    """R-SHARE-7: what is idle goes to leaves that still have need, whose request was submitted first.

    Enforced at the parents it goes branch by branch first, deepest first, up to the branch's planned number. As long
    as a leaf misses slots of its quota that it cannot use, nobody gets more than that.
    """
    consumers, entitled, held = handing.consumers, handing.entitled, handing.situation.held
    sure = {leaf: min(entitled.quota[leaf], entitled.demand[leaf]) for leaf in consumers.leaves}
    if any(held[leaf] + units < sure[leaf] and handing.source(leaf) for leaf, units in most.items()):
        return
    if not by_leaf(consumers):
        for branch in consumers.deepest_first:
            _hand_inside(handing, branch, entitled.planned_whole[branch], most)
    _hand_inside(handing, "/", UNLIMITED, most)


def _hand_inside(handing: Handing, branch: str, bound: int, most: Mapping[str, int]) -> None:
    """Slots to the leaves of a branch while it holds less than a bound."""
    consumers, need = handing.consumers, handing.entitled.need
    while handing.held[branch] < bound:
        open_ones = [
            leaf
            for leaf in consumers.inside(branch)
            if handing.held[leaf] < need[leaf]
            and handing.handed[leaf] < most.get(leaf, UNLIMITED)
            and handing.source(leaf)
        ]
        if not open_ones:
            return
        handing.hand(min(open_ones, key=lambda leaf: (_next_submitted(handing, leaf), consumers.leaves.index(leaf))))


def _next_submitted(handing: Handing, leaf: str) -> int:
    """When the request of a leaf was submitted that comes next, were they all in the order of asking."""
    situation, before = handing.situation, handing.handed[leaf]
    for wish in sorted(situation.wishes_of(leaf), key=lambda wish: wish.submitted):
        before -= wish.count - situation.held_by(wish.id)
        if before < 0:
            return wish.submitted
    return UNLIMITED
