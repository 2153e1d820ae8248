"""Quotas of `hybrid`: by what siblings own (R-QUOTA-2 to R-QUOTA-4)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.reference.filling import fill_owners_first, raised_equally
from fairhold.reference.quotas.level import rounded_up, top_down, unrounded

if TYPE_CHECKING:
    from fairhold.reference.consumers import Consumers
    from fairhold.reference.quotas.level import Entitlement


def floors(consumers: Consumers, found: Entitlement) -> dict[str, int]:
    """R-QUOTA-3: what is sure; of a parent at least its children's, at most its limit."""
    sure: dict[str, int] = {}
    for path in consumers.upward:
        mine = consumers[path]
        wanted = min(found.need[path], mine.owned, found.whole_scale(path))
        below = sum(sure[child] for child in mine.children)
        sure[path] = min(mine.limit, max(found.reserve[path], wanted, below))
    return sure


def divide_by_owned(consumers: Consumers, slots: int, found: Entitlement) -> None:
    """R-QUOTA-1: the slots that `hybrid` has are divided among its consumers, from the root down."""
    sure = floors(consumers, found)

    def share(parent: str, amount: int | Fraction) -> dict[str, Fraction]:
        children = [path for path in consumers[parent].children if not consumers[path].owns_exactly]
        weights = {path: consumers[path].owned for path in children}
        caps = {path: found.need[path] for path in children}
        if not children or not consumers[children[0]].entry.settings.distribute_evenly:
            return fill_owners_first(amount, weights, sure, caps)
        first: dict[str, int | Fraction] = dict(sure)
        for path in (each for each in children if weights[each]):
            wanted = min(Fraction(caps[path]), max(Fraction(weights[path]), found.scale[path]))
            first[path] = max(Fraction(sure[path]), wanted)
        have = fill_owners_first(amount, weights, sure, first)
        return raised_equally(max(Fraction(0), amount - sum(have.values())), have, caps)

    found.quota |= top_down(consumers, "/", slots, share)
    found.exact |= unrounded("/", slots, share)
    found.ceiling |= rounded_up("/", slots, share)
