"""Quotas of `share_ratio` (R-SHARE-1 to R-SHARE-7)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairhold.reference.filling import fill, freeze, rounded
from fairhold.reference.needs import takes_no_part
from fairhold.reference.quotas.level import rounded_up, top_down, unrounded
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.consumers import Consumers
    from fairhold.reference.quotas.level import Entitlement


def weights_of(consumers: Consumers) -> dict[str, Fraction]:
    """R-SHARE-1: leaf → the product of ratio / sum of the siblings' ratios on its path."""
    found = {}
    for leaf in consumers.leaves:
        weight = Fraction(1)
        for path in consumers.above(leaf):
            among = sum(consumers[each].ratio or 0 for each in consumers[consumers[path].parent].children)
            weight *= Fraction(consumers[path].ratio or 0, among) if among else 0
        found[leaf] = weight
    return found


def over_leaves(consumers: Consumers, slots: int, caps: Mapping[str, int]) -> dict[str, Fraction]:
    """R-SHARE-4: path → exact amount, of a branch the sum of its leaves."""
    branches = [(consumers[path].limit, consumers.inside(path)) for path in consumers.deepest_first]
    found = freeze(slots, weights_of(consumers), caps, branches)
    for path in (*consumers.deepest_first, "/"):
        found[path] = sum((found[leaf] for leaf in consumers.inside(path)), Fraction(0))
    return found


def _whole(consumers: Consumers, exact: Mapping[str, Fraction]) -> dict[str, int]:
    """The exact amounts of children are rounded to the whole number of their parent, from the root down."""
    found = {"/": floor(exact["/"])}
    for parent in consumers.order:
        children = {path: exact[path] for path in consumers[parent].children}
        found |= rounded(children, found[parent], consumers.rank)
    return found


def _open(consumers: Consumers) -> dict[str, int]:
    """Path → the most that it could ever use: its limit, and what all below it could."""
    found: dict[str, int] = {}
    for path in consumers.upward:
        mine = consumers[path]
        below = sum(found[child] for child in mine.children) if mine.children else UNLIMITED
        found[path] = 0 if takes_no_part(consumers, path) else min(mine.limit, below)
    return found


def planned_shares(consumers: Consumers, slots: int) -> tuple[dict[str, Fraction], dict[str, int]]:
    """R-SHARE-3: path → exact planned share; the same in whole numbers, level by level (R-SHARE-7)."""
    most = _open(consumers)
    if by_leaf(consumers):
        exact = over_leaves(consumers, slots, most)
        return exact, _whole(consumers, exact)

    def share(parent: str, amount: int | Fraction) -> dict[str, Fraction]:
        ratios = {path: consumers[path].ratio or 0 for path in consumers[parent].children}
        return fill(amount, ratios, {}, most)

    exact = unrounded("/", slots, share)
    return exact, _whole(consumers, exact | {"/": sum((exact[path] for path in consumers["/"].children), Fraction(0))})


def by_leaf(consumers: Consumers) -> bool:
    """Whether ratios hold over all leaves at once (`enforce: leaf`)."""
    return consumers["/"].entry.settings.enforce == "leaf"


def divide_by_ratio(consumers: Consumers, slots: int, found: Entitlement) -> None:
    """R-SHARE-4, R-SHARE-5 or R-SHARE-7, as the entry says."""
    found.planned, found.planned_whole = planned_shares(consumers, slots)
    entitlement = consumers["/"].entry.settings.entitlement
    if entitlement == "fixed":
        for path in consumers.upward:
            children = consumers[path].children
            below = sum(found.quota[child] for child in children)
            found.quota[path] = below if children else min(found.planned_whole[path], found.need[path])
            planned = found.planned[path] if path != "/" else Fraction(slots)
            found.exact[path] = min(planned, Fraction(found.need[path]))
            found.ceiling[path] = ceil(found.exact[path])
    elif by_leaf(consumers):
        found.exact = over_leaves(consumers, slots, found.need)
        found.quota = _whole(consumers, found.exact)
        found.ceiling = {path: ceil(exact) for path, exact in found.exact.items()}
    else:
        _by_parent(consumers, slots, found)


def _by_parent(consumers: Consumers, slots: int, found: Entitlement) -> None:
    """R-SHARE-5: a parent's number is filled by ratio, and what a child needs of its planned share is sure."""

    def share(parent: str, amount: int | Fraction) -> dict[str, Fraction]:
        children = consumers[parent].children
        ratios = {path: consumers[path].ratio or 0 for path in children}
        sure = {path: min(found.need[path], floor(found.planned[path])) for path in children}
        return fill(amount, ratios, sure, found.need)

    found.quota |= top_down(consumers, "/", slots, share)
    found.exact |= unrounded("/", slots, share)
    found.ceiling |= rounded_up("/", slots, share)
