"""How many units each leaf gives (R-RECLAIM-4, R-RECLAIM-5, R-SHARE-9)."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.reference.slots.deficits import is_one_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.deficits import Deficits


def split(
    total: int, names: Sequence[str], noticed: Mapping[str, int], must: Mapping[str, int], can: Mapping[str, int]
) -> dict[str, int]:
    """R-RECLAIM-4 at one level. names : in path order."""
    found = {name: max(must[name], min(can[name], noticed[name])) for name in names}
    over = sum(found.values()) - total
    for name in names:
        less = max(0, min(over, found[name] - must[name]))
        found[name] -= less
        over -= less
    left = {name: can[name] - found[name] for name in names}
    rest, room = total - sum(found.values()), sum(left.values())
    if rest <= 0 or not room:
        return found
    for name in names:
        found[name] += floor(Fraction(rest * left[name], room))
    rest = total - sum(found.values())
    largest = sorted(names, key=lambda name: (-(can[name] - found[name]), -names.index(name)))
    for name in [name for name in largest if can[name] > found[name]][:rest]:
        found[name] += 1
    return found


def divide(situation: Situation, entitled: Entitlement, found: Deficits) -> dict[str, int]:
    """Leaf → units that are to go, those under notice included."""
    noticed = under_notice(situation, found)
    if is_one_list(situation):
        goes = _over_leaves(situation, found, noticed)
    else:
        goes = {"/": found.total}
        for parent in situation.consumers.order:
            children = situation.consumers.siblings(parent)
            if children:
                goes |= split(goes[parent], children, noticed, found.must, found.can)
    given = {leaf: goes[leaf] for leaf in situation.consumers.leaves}
    take_what_lacks(situation, entitled, found, given)
    return given


def under_notice(situation: Situation, found: Deficits) -> dict[str, int]:
    """Path → units under notice, of a leaf up to what it can give."""
    result: dict[str, int] = {}
    for path in situation.consumers.upward:
        children = situation.consumers[path].children
        own = sum(unit.leaf == path and unit.notice is not None for unit in situation.units)
        result[path] = sum(result[child] for child in children) if children else min(own, found.can[path])
    return result


def _over_leaves(situation: Situation, found: Deficits, noticed: Mapping[str, int]) -> dict[str, int]:
    """R-SHARE-9: branches raise what their leaves must give; then all leaves are one list."""
    must = dict(found.must)
    for branch in situation.consumers.deepest_first:
        leaves = situation.consumers.inside(branch)
        must |= split(max(found.must[branch], sum(must[leaf] for leaf in leaves)), leaves, noticed, must, found.can)
    return split(found.total, situation.consumers.leaves, noticed, must, found.can)


def sure_of(situation: Situation, entitled: Entitlement, leaf: str) -> int:
    """Up to here a leaf takes also what only rounding put above others' quotas (R-RECLAIM-5, R-SHARE-6)."""
    mine = situation.consumers[leaf]
    if mine.owns_exactly:
        return 0 if mine.only_borrows else entitled.own[leaf]  # R-BUDGET-3
    if mine.entry.policy.divides_by_ratio:
        return min(entitled.need[leaf], floor(entitled.planned[leaf]))
    return min(entitled.need[leaf], mine.owned, entitled.whole_scale(leaf))


def take_what_lacks(situation: Situation, entitled: Entitlement, found: Deficits, given: dict[str, int]) -> None:
    """R-RECLAIM-5: the last missing units come from protected leaves, node by node from below, then the lost ones."""
    consumers = situation.consumers
    taken_for: set[tuple[str, int]] = set()
    nodes = ["/"] if is_one_list(situation) else [*consumers.deepest_first, "/"]
    for node in nodes:
        lost = found.lost_lack if node == "/" else 0
        every = [(leaf, nth) for leaf in consumers.inside(node) for nth in range(1, found.missing[leaf] + 1)]
        open_ones = [each for each in every if each not in taken_for]
        lacking = max(0, found.lack.get(node, 0) - lost)
        for taker, nth in open_ones[len(open_ones) - lacking :] if lacking else []:
            is_sure = found.whole[taker] + nth - 1 < sure_of(situation, entitled, taker)
            if _give(situation, found, given, node, taker, any_rank=is_sure):
                taken_for.add((taker, nth))
        for _ in range(lost):
            if not _give(situation, found, given, node, "", any_rank=True):
                _give_above_quota(situation, entitled, given)


def _givers(situation: Situation, leaves: Sequence[str], given: Mapping[str, int]) -> list[str]:
    """Leaves with units under notice that do not go yet before others, then the worst path."""

    def key(leaf: str) -> tuple[bool, int]:
        own = sum(unit.leaf == leaf and unit.notice is not None for unit in situation.units)
        return own <= given[leaf], -situation.consumers.leaves.index(leaf)

    return sorted(leaves, key=key)


def _give(
    situation: Situation, found: Deficits, given: dict[str, int], node: str, taker: str, *, any_rank: bool
) -> bool:
    """One protected leaf inside a node gives a unit."""
    inside = [leaf for leaf in situation.consumers.inside(node) if leaf in found.protected and leaf != taker]
    for leaf in _givers(situation, inside, given):
        if given[leaf] < situation.held[leaf] - found.keep[leaf] and (
            any_rank or situation.consumers.is_worse(leaf, taker)
        ):
            given[leaf] += 1
            return True
    return False


def _give_above_quota(situation: Situation, entitled: Entitlement, given: dict[str, int]) -> None:
    """A lost unit for which nobody was found is taken from what a leaf holds above its quota."""
    for leaf in _givers(situation, situation.consumers.leaves, given):
        if given[leaf] < situation.held[leaf] - entitled.quota[leaf]:
            given[leaf] += 1
            return
