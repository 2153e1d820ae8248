"""What is told after a cycle: free slots, and for whom units go (R-FREE-1, R-FREE-2, R-FOR-1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.reference.filling import fill, rounded
from fairhold.reference.needs import demand_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation


def free_slots(situation: Situation, entitled: Entitlement) -> dict[str, int]:
    """Path → slots that it could have at once. situation : after the grants.

    Somebody wants more if a leaf that does not own exactly does, within all limits on its way.
    """
    consumers = situation.consumers
    wants_more = any(
        not consumers[leaf].owns_exactly
        and demand_of(situation, leaf) > situation.held[leaf]
        and all(situation.held[path] < consumers[path].limit for path in consumers.above(leaf))
        for leaf in consumers.leaves
    )
    found: dict[str, int] = {}
    if wants_more:
        for path in consumers.upward:
            mine = max(0, entitled.reserve[path] - situation.held[path])
            found[path] = max(mine, sum(found[child] for child in consumers[path].children))
        return found
    found["/"] = max(0, situation.slots - situation.held["/"])
    for path in consumers.order:
        children = consumers[path].children
        weights = {
            child: (consumers[child].ratio or 0)
            if consumers[child].entry.policy.divides_by_ratio
            else consumers[child].owned
            for child in children
        }
        if not any(weights.values()):
            weights = dict.fromkeys(children, 1)
        parts = fill(found[path], weights, {}, dict.fromkeys(children, Fraction(found[path])))
        found |= rounded(parts, found[path], consumers.rank)
    return found


def on_their_way(
    situation: Situation,
    missing: Mapping[str, int],
    new: Sequence[int],
    stays: Sequence[int],
    by_switch: Mapping[str, int],
) -> Counter[tuple[str, str]]:
    """R-FOR-1: (holder, leaf that misses units, or nobody) → new notices.

    stays     : places of units under notice before, whose notices hold
    by_switch : leaf → units that a switch of windows takes, for nobody (R-SWITCH-1)
    """
    paths = situation.consumers.plan.tree.paths
    coming: Counter[str] = Counter()
    for at in stays:
        notice = situation.units[at].notice
        if notice is not None and notice.taker >= 0:
            coming[paths[notice.taker]] += 1
    needs = [leaf for leaf in situation.consumers.leaves for _ in range(max(0, missing[leaf] - coming[leaf]))]
    found: Counter[tuple[str, str]] = Counter()
    for leaf in situation.consumers.leaves:
        before = sum(situation.units[at].leaf == leaf for at in stays)
        units = sum(situation.units[at].leaf == leaf for at in new)
        for_nobody = min(units, max(0, by_switch.get(leaf, 0) - before))
        found[leaf, ""] += for_nobody
        for _ in range(units - for_nobody):
            found[leaf, needs.pop(0) if needs else ""] += 1
    return +found
