"""Quotas: of the `hybrid` policy (SPEC §3.1-3) here, consumer by consumer; of `share_ratio` in `ratios`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairhold.cycle.verify.filling import Row, fill, round_by_rank
from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from fairhold.cycle.verify.sheet import Sheet


@dataclass(frozen=True)
class Quotas:
    """The quotas and their inputs, by path.

    owned_now  : owned, scaled with the group, exact (R-SCALE-1)
    reserve    : reserve now (R-SCALE-2)
    need       : R-NEED-1, R-NEED-2
    guaranteed : min(need, owned, ⌊owned now⌋), what a consumer may count on (§10)
    least      : floor in the fill (R-QUOTA-3)
    quota      : whole numbers
    most       : the share where every level is rounded up (R-PROTECT-1)
    entitled   : for a leaf, units up to which it reclaims; for a branch, units it may hold before others take any
    planned    : exact planned shares of `share_ratio` (R-SHARE-3)
    planned_slots : these rounded, where they are fixed (R-SHARE-7)
    """

    owned_now: dict[str, Fraction]
    reserve: dict[str, int]
    need: dict[str, int]
    guaranteed: dict[str, int]
    least: dict[str, int]
    quota: dict[str, int]
    most: dict[str, int]
    entitled: dict[str, int]
    planned: dict[str, Fraction] = field(default_factory=dict)
    planned_slots: dict[str, int] = field(default_factory=dict)


def compute_quotas(sheet: Sheet) -> Quotas:
    """All quotas of one group."""
    scale = Fraction(sheet.slots, sheet.configured) if sheet.configured else Fraction(0)
    owned_now = {path: sheet.owned[path] * scale for path in sheet.paths}
    reserve = _reserves(sheet, owned_now)
    need = _needs(sheet, reserve)
    guaranteed = {path: min(need[path], sheet.owned[path], floor(owned_now[path])) for path in sheet.paths}
    least = _floors(sheet, reserve, guaranteed)
    made = Quotas(owned_now, reserve, need, guaranteed, least, quota={TOP: sheet.slots}, most={}, entitled={})
    made.most[TOP] = sheet.slots
    for path in sheet.paths:
        below = sheet.children[path]
        if below:
            made.quota.update(round_by_rank(_divide(sheet, made, path, Fraction(made.quota[path])), below))
            highest = _divide(sheet, made, path, Fraction(made.most[path]))
            made.most.update({child: ceil(share) for child, share in highest.items()})
    made.quota[TOP] = sum(made.quota[path] for path in sheet.children[TOP])
    made.entitled.update(made.quota)
    return made


def _reserves(sheet: Sheet, owned_now: dict[str, Fraction]) -> dict[str, int]:
    reserve: dict[str, int] = {}
    for path in reversed(sheet.paths):
        own = min(sheet.reserved[path], floor(owned_now[path]))
        reserve[path] = max(own, sum(reserve[child] for child in sheet.children[path]))
    return reserve


def _needs(sheet: Sheet, reserve: dict[str, int]) -> dict[str, int]:
    need: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sheet.children[path]
        wanted = sum(need[child] for child in below) if below else sheet.usable.get(path, 0)
        need[path] = min(sheet.limit[path], max(wanted, reserve[path]))
    return need


def _floors(sheet: Sheet, reserve: dict[str, int], guaranteed: dict[str, int]) -> dict[str, int]:
    least: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sum(least[child] for child in sheet.children[path])
        least[path] = min(sheet.limit[path], max(reserve[path], guaranteed[path], below))
    return least


def _divide(sheet: Sheet, made: Quotas, path: str, amount: Fraction) -> dict[str, Fraction]:
    """One parent's amount over its children, exact (R-QUOTA-2; even mode R-QUOTA-4)."""
    below = sheet.children[path]
    owners = [child for child in below if sheet.owned[child] > 0]
    others = [child for child in below if sheet.owned[child] == 0]
    kept_for_others = sum(made.least[child] for child in others)
    even = sheet.settings.distribute_evenly
    caps = {child: _even_cap(sheet, made, child) if even else Fraction(made.need[child]) for child in owners}
    rows: dict[str, Row] = {child: (sheet.owned[child], made.least[child], caps[child]) for child in owners}
    shares = fill(amount - kept_for_others, rows)
    if not even:
        rest = amount - sum(shares.values(), Fraction(0))
        return shares | fill(rest, {child: (1, made.least[child], made.need[child]) for child in others})
    shares |= {child: Fraction(made.least[child]) for child in others}
    rest = amount - sum(shares.values(), Fraction(0))
    added = fill(rest, {child: (1, 0, made.need[child] - shares[child]) for child in below})
    return {child: shares[child] + added[child] for child in below}


def _even_cap(sheet: Sheet, made: Quotas, child: str) -> Fraction:
    owned = max(Fraction(sheet.owned[child]), made.owned_now[child])
    return max(Fraction(made.least[child]), min(Fraction(made.need[child]), owned))
