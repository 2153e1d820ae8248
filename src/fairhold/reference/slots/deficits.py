"""What everybody misses, can give and must give (R-RECLAIM-1 to R-RECLAIM-3, R-KEEP-1, R-PROTECT-1, R-SHARE-9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from fairhold.reference.ages import kept_places
from fairhold.reference.quotas.ratio import by_leaf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation


@dataclass
class Deficits:
    """By path. M, U, L and the lack of R-RECLAIM-1 to R-RECLAIM-3.

    whole  : held, and set aside inside
    waived : leaf → what counts as not missed
    """

    waived: Mapping[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    can: dict[str, int] = field(default_factory=dict)
    must: dict[str, int] = field(default_factory=dict)
    lack: dict[str, int] = field(default_factory=dict)
    keep: dict[str, int] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    lost: int = 0
    total: int = 0
    lost_lack: int = 0


def is_one_list(situation: Situation) -> bool:
    """R-SHARE-9: whether all leaves are one list."""
    consumers = situation.consumers
    return consumers["/"].entry.policy.divides_by_ratio and by_leaf(consumers)


def entitled_to(situation: Situation, entitled: Entitlement, leaf: str) -> int:
    """Up to where a leaf takes back (R-SHARE-6; under `ownership` not for the balance, R-OWN-2)."""
    quota, entry = entitled.quota[leaf], situation.consumers[leaf].entry
    if entry.policy.owns_exactly:
        if situation.consumers[leaf].only_borrows:  # R-BUDGET-3: it takes back none of its own
            return quota - entitled.own[leaf]
        return quota - entitled.balance.get(leaf, 0)
    if entry.policy.divides_by_ratio and entry.settings.entitlement == "planned":
        return min(quota, ceil(entitled.planned[leaf]))
    return quota


def quota_of(situation: Situation, entitled: Entitlement, path: str) -> int:
    """The quota; of a branch with fixed shares its own, and not the sum of its children's that is reported."""
    mine = situation.consumers[path]
    if mine.entry.policy.divides_by_ratio and mine.entry.settings.entitlement == "fixed" and mine.children:
        return min(entitled.planned_whole[path], entitled.need[path])
    return entitled.quota[path]


def keeps(situation: Situation, entitled: Entitlement, path: str) -> int:
    """What is not taken for others: the quota, or more (R-KEEP-1, R-SHARE-7)."""
    mine = situation.consumers[path]
    settings = mine.entry.settings
    keep = quota_of(situation, entitled, path)
    if settings.disable_reclaim_own and mine.entry.policy.scales_owned and entitled.scale[path] < mine.owned:
        keep = max(keep, mine.owned)
    return keep


def is_protected(situation: Situation, entitled: Entitlement, leaf: str) -> bool:
    """R-PROTECT-1: whether rounding alone puts a leaf, and every branch above it, above the quota."""
    alone = is_one_list(situation) or situation.consumers[leaf].owns_exactly
    above = [leaf] if alone else situation.consumers.above(leaf)
    return situation.held[leaf] > entitled.quota[leaf] and all(
        situation.held[path] <= entitled.ceiling[path] for path in above
    )


def deficits(
    situation: Situation,
    entitled: Entitlement,
    aside: Mapping[str, int],
    extra_must: Mapping[str, int],
    waived: Mapping[str, int],
) -> Deficits:
    """All of it, from the leaves up.

    situation  : after the grants
    aside      : path → slots set aside there
    extra_must : leaf → more that it must give, whatever its limit is (R-MIX-4, R-SITE-4)
    waived     : leaf → what counts as not missed in this cycle (R-CONTROL-2, R-CONTROL-3, R-SITE-4)
    """
    found = Deficits(waived=waived)
    consumers = situation.consumers
    for path in consumers.order:
        inside = [each for each in aside if path == "/" or path in consumers.above(each)]
        found.whole[path] = situation.held[path] + sum(aside[each] for each in inside)
        found.keep[path] = keeps(situation, entitled, path) if path != "/" else entitled.quota["/"]
    found.protected = {leaf for leaf in consumers.leaves if is_protected(situation, entitled, leaf)}
    for leaf in consumers.leaves:
        found.keep[leaf] = max(found.keep[leaf], len(kept_places(situation, leaf)))
        missing = max(0, entitled_to(situation, entitled, leaf) - found.whole[leaf])
        found.missing[leaf] = max(0, missing - waived.get(leaf, 0))
        found.must[leaf] = max(0, situation.held[leaf] - consumers[leaf].limit, extra_must.get(leaf, 0))
        above = max(found.must[leaf], situation.held[leaf] - found.keep[leaf])
        found.can[leaf] = found.must[leaf] if leaf in found.protected else above
    for path in consumers.deepest_first:
        _branch(situation, entitled, found, path)
    _root(situation, found)
    return found


def _branch(situation: Situation, entitled: Entitlement, found: Deficits, path: str) -> None:
    """R-RECLAIM-2, R-SHARE-9."""
    mine = situation.consumers[path]

    def numbers() -> bool:
        """Whether what can be given inside is enough for the limit of the branch."""
        missing, can, must = (
            sum(of[child] for child in mine.children) for of in (found.missing, found.can, found.must)
        )
        whole, quota = found.whole[path], quota_of(situation, entitled, path)
        if is_one_list(situation):
            found.missing[path], found.can[path] = missing, can
            found.must[path] = max(must, min(can, whole + missing - mine.limit))
            return can >= whole + missing - mine.limit
        inner = min(missing, can)
        outer = min(missing - inner, max(0, quota - whole))
        found.lack[path] = missing - inner - outer
        late = sum(found.waived.get(leaf, 0) for leaf in situation.consumers.inside(path))  # R-CONTROL-2: as if held
        own = entitled.reserve[path] - whole - late + max(0, must - inner) if not mine.owns_exactly else 0
        found.missing[path] = inner + max(outer, own, 0)
        found.can[path] = max(must, min(can, inner + max(0, whole - found.keep[path])))
        over = whole + found.missing[path] - mine.limit
        found.must[path] = max(must, inner, min(found.can[path], over))
        return can >= over

    if not numbers():
        _keep_nothing_inside(situation, entitled, found, path)
        numbers()


def _keep_nothing_inside(situation: Situation, entitled: Entitlement, found: Deficits, branch: str) -> None:
    """Where a branch cannot come below its limit otherwise, nothing inside is protected or kept."""
    consumers = situation.consumers
    for leaf in consumers.inside(branch):
        found.protected.discard(leaf)
        found.keep[leaf] = entitled.quota[leaf]
        found.can[leaf] = max(found.must[leaf], situation.held[leaf] - found.keep[leaf])
    for path in consumers.deepest_first:
        if path != branch and branch in consumers.above(path):
            found.keep[path] = quota_of(situation, entitled, path)
            _branch(situation, entitled, found, path)


def _root(situation: Situation, found: Deficits) -> None:
    """R-RECLAIM-3: what goes in all, and what nobody can give."""
    children = situation.consumers["/"].children
    found.missing["/"], found.can["/"], found.must["/"] = (
        sum(of[child] for child in children) for of in (found.missing, found.can, found.must)
    )
    found.lost = max(0, situation.held["/"] - situation.slots)
    wanted = found.missing["/"] + found.lost
    found.total = max(found.must["/"], min(wanted, found.can["/"]))
    found.lack["/"] = max(0, wanted - found.can["/"])
    found.lost_lack = max(0, found.lost - found.can["/"])
