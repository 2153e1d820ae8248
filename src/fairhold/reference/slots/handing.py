"""To whom idle slots go: what is set aside for reserves, and both passes (R-ASIDE-1, R-GRANT-1, R-GRANT-2)."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from fairhold.reference.quotas import is_mixed, of_owners
from fairhold.reference.quotas.ratio import by_leaf
from fairhold.reference.slots.placing import Places
from fairhold.reference.slots.serving import serve
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

    def _wanted(self) -> tuple[dict[str, int], dict[str, int]]:
        """R-ASIDE-1: path → what is to be set aside there and below, with what is kept; what of it is kept."""
        wanted: dict[str, int] = {}
        kept: dict[str, int] = {}
        for path in self.consumers.upward:
            children = self.consumers[path].children
            mine = self.entitled.reserve[path] - self.held[path] if path != "/" else 0
            kept[path] = sum(kept[child] for child in children) + self.kept.get(path, 0)
            wanted[path] = max(sum(wanted[child] for child in children), mine, self.kept.get(path, 0))
        return wanted, kept

    def _set_aside(self) -> None:
        """From the root down in rank order, the children's slots before the parent's own; what is kept is there."""
        wanted, kept = self._wanted()
        part = {"/": min(self.free, wanted["/"] - kept["/"])}
        for path in self.consumers.order:
            left = part[path]
            for child in self.consumers.siblings(path):
                part[child] = min(left, wanted[child] - kept[child])
                if path == "/" and not self.consumers[child].owns_exactly:
                    part[child] = max(0, min(part[child], self.room_of_sharers))
                    self.room_of_sharers -= part[child]
                left -= part[child]
            if path != "/":
                self.aside[path] += left
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


def alone(situation: Situation, entitled: Entitlement, kept: Mapping[str, int], leaf: str, most: int | None) -> int:
    """All that a leaf could ever be handed, were it the only one (R-GRANT-3). most : as in `hand_out`."""
    handing = Handing(situation, entitled, sum(situation.idle.values()), kept)
    settings = situation.consumers["/"].entry.settings
    is_fixed = situation.consumers["/"].entry.policy.divides_by_ratio and settings.entitlement == "fixed"
    wants = (entitled.need if is_fixed else entitled.quota)[leaf], entitled.demand[leaf]
    bound = min(min(wants) - situation.held[leaf], UNLIMITED if most is None else most)
    while handing.handed[leaf] < bound and handing.hand(leaf):
        pass
    return handing.handed[leaf]


def _hand_beyond_quotas(handing: Handing, most: Mapping[str, int]) -> None:
    """R-SHARE-7: what is idle goes to leaves that still have need, whose request was submitted first.

    Enforced at the parents it goes branch by branch first, deepest first, up to the branch's planned number. As long
    as a leaf misses slots of its quota that it cannot use, nobody gets more than that.
    """
    consumers, entitled, held = handing.consumers, handing.entitled, handing.situation.held
    sure = {leaf: min(entitled.quota[leaf], entitled.demand[leaf]) for leaf in consumers.leaves}
    if any(held[leaf] + units < sure[leaf] and handing.source(leaf) for leaf, units in most.items()):
        return
    waits = _waits_after_quotas(handing)
    if not by_leaf(consumers):
        for branch in consumers.deepest_first:
            _hand_inside(handing, branch, entitled.planned_whole[branch], most, waits)
    _hand_inside(handing, "/", UNLIMITED, most, waits)


def _waits_after_quotas(handing: Handing) -> dict[str, list[int]]:
    """Leaf → when what still waits was submitted, unit by unit, if it were served with what it has been handed."""
    situation, entitled = handing.situation, handing.entitled
    places = Places(situation, Counter())
    found = {}
    for leaf in situation.consumers.leaves:
        serve(places, leaf, handing.handed[leaf], entitled.quota[leaf])
        has = Counter(unit.wish for unit in places.units)
        wishes = sorted(situation.wishes_of(leaf), key=lambda wish: wish.submitted)
        instants = [wish.submitted for wish in wishes for _ in range(wish.count - has[wish.id])]
        found[leaf] = [*[0] * handing.handed[leaf], *instants]
    return found


def _hand_inside(
    handing: Handing, branch: str, bound: int, most: Mapping[str, int], waits: Mapping[str, list[int]]
) -> None:
    """Slots to the leaves of a branch while it holds less than a bound."""

    def next_submitted(leaf: str) -> int:
        at = handing.handed[leaf]
        return waits[leaf][at] if at < len(waits[leaf]) else UNLIMITED

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
        handing.hand(min(open_ones, key=lambda leaf: (next_submitted(leaf), consumers.leaves.index(leaf))))
