"""Quotas of the `share_ratio` policy (SPEC §5), consumer by consumer, in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairhold.cycle.verify.filling import fill
from fairhold.cycle.verify.quotas import Quotas
from fairhold.cycle.verify.sheet import TOP
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.sheet import Sheet

    Exact = dict[str, Fraction]


def compute_shares(sheet: Sheet) -> Quotas:
    """All quotas of one group."""
    need = needs(sheet, sheet.usable)
    without_bound = needs(sheet, dict.fromkeys(sheet.leaves, UNLIMITED))
    planned = _shares(sheet, without_bound, {})
    nothing = dict.fromkeys(sheet.paths, 0)
    least = nothing
    if not sheet.is_flat:
        least = {path: min(need[path], floor(planned[path])) for path in sheet.paths}
    if sheet.is_fixed:
        exact = {path: min(planned[path], Fraction(need[path])) for path in sheet.paths}
        planned_slots = _round_down(sheet, planned)
        entitled = {path: min(planned_slots[path], need[path]) for path in sheet.paths}
        entitled |= {leaf: min(entitled[leaf], sheet.most[leaf]) for leaf in sheet.leaves}
        quota = sheet.summed({leaf: entitled[leaf] for leaf in sheet.leaves})
    else:
        planned_slots = nothing
        exact = _shares(sheet, need, least)
        quota = _round_down(sheet, exact) if sheet.is_flat else _level_by_level(sheet, need, least)
        entitled = dict(quota)
        if sheet.settings.entitlement == "planned":
            entitled |= {leaf: min(quota[leaf], ceil(planned[leaf])) for leaf in sheet.leaves}
    if sheet.is_flat or sheet.is_fixed:
        most = {path: ceil(exact[path]) for path in sheet.paths}
    else:
        most = _highest(sheet, need, least)
    owned = dict.fromkeys(sheet.paths, Fraction(0))
    sure = {path: min(need[path], floor(planned[path])) for path in sheet.paths}
    return Quotas(owned, nothing, need, sure, least, quota, most, entitled, planned, planned_slots)


def needs(sheet: Sheet, wanted: Mapping[str, int]) -> dict[str, int]:
    """The need of every consumer; 0 for consumers with ratio 0 and all below them (R-SHARE-2).

    wanted : leaf → units
    """
    takes = {TOP: True}
    for path in sheet.paths:
        if path in sheet.parent:
            takes[path] = takes[sheet.parent[path]] and sheet.ratio[path] > 0
    need: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sheet.children[path]
        whole = sum(need[child] for child in below) if below else wanted.get(path, 0)
        need[path] = min(sheet.limit[path], whole) if takes[path] else 0
    return need


def _shares(sheet: Sheet, need: Mapping[str, int], least: Mapping[str, int]) -> Exact:
    """Exact amounts by the rule of the level in force (R-SHARE-4, R-SHARE-5)."""
    if sheet.is_flat:
        return _over_leaves(sheet, need)
    exact = {TOP: Fraction(min(sheet.slots, need[TOP]))}
    for path in sheet.paths:
        below = sheet.children[path]
        exact |= fill(exact[path], {c: (sheet.ratio[c], least.get(c, 0), need[c]) for c in below}) if below else {}
    return exact


def _over_leaves(sheet: Sheet, need: Mapping[str, int]) -> Exact:
    """One filling over all leaves; leaves of a branch that reaches its limit stop there (R-SHARE-4).

    The deepest branches come first: their leaves are filled up to the branch's limit, which is then their maximum.
    """
    weight = {TOP: Fraction(1)}
    for path in sheet.paths:
        below = sheet.children[path]
        total = max(1, sum(sheet.ratio[child] for child in below))
        weight |= {child: weight[path] * sheet.ratio[child] / total for child in below}
    most = {leaf: Fraction(need[leaf]) for leaf in sheet.leaves}
    inside: dict[str, list[str]] = {leaf: [leaf] for leaf in sheet.leaves}
    for path in reversed(sheet.paths):
        below = sheet.children[path]
        if below:
            inside[path] = [leaf for child in below for leaf in inside[child]]
            limit = sheet.slots if path == TOP else sheet.limit[path]
            if limit <= sheet.slots and sum(need[child] for child in below) > limit:
                most |= fill(limit, {leaf: (weight[leaf], 0, most[leaf]) for leaf in inside[path] if most[leaf] > 0})
    exact = dict(most)
    for path in reversed(sheet.paths):
        if sheet.children[path]:
            exact[path] = sum((exact[child] for child in sheet.children[path]), Fraction(0))
    exact.setdefault(TOP, Fraction(0))
    return exact


def _round_down(sheet: Sheet, exact: Exact) -> dict[str, int]:
    """Exact amounts as whole numbers, from the root down (R-ROUND-1)."""
    whole = {TOP: floor(exact[TOP])}
    for path in sheet.paths:
        whole |= _round(exact, whole[path], sheet.children[path])
    return whole


def _round(exact: Exact, amount: int, order: tuple[str, ...]) -> dict[str, int]:
    whole = {path: floor(exact[path]) for path in order}
    left = amount - sum(whole.values())
    for path in order:
        if left > 0 and whole[path] != exact[path]:
            whole[path] += 1
            left -= 1
    return whole


def _highest(sheet: Sheet, need: Mapping[str, int], least: Mapping[str, int]) -> dict[str, int]:
    """The units of each consumer if every level were rounded up (R-PROTECT-1)."""
    most = {TOP: sheet.slots}
    for path in sheet.paths:
        rows = {child: (sheet.ratio[child], least[child], need[child]) for child in sheet.children[path]}
        most |= {child: ceil(share) for child, share in fill(most[path], rows).items()} if rows else {}
    return most


def _level_by_level(sheet: Sheet, need: Mapping[str, int], least: Mapping[str, int]) -> dict[str, int]:
    """Every parent's whole amount, filled over its children and rounded (R-SHARE-5)."""
    quota = {TOP: min(sheet.slots, need[TOP])}
    for path in sheet.paths:
        below = sheet.children[path]
        if below:
            rows = {child: (sheet.ratio[child], least[child], need[child]) for child in below}
            quota |= _round(fill(quota[path], rows), min(quota[path], sum(need[c] for c in below)), below)
    return quota
