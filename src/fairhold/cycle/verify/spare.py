"""Free slots, a report (SPEC §3.5: R-FREE-1, R-FREE-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.filling import round_by_rank
from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet


def free_slots(sheet: Sheet, quotas: Quotas, held: Mapping[str, int]) -> dict[str, int]:
    """Free slots of every consumer, given what each holds."""
    if any(_wants_more(sheet, held, leaf) for leaf in sheet.leaves):
        return _reserved_and_unused(sheet, quotas, held)
    free = {"/": max(0, sheet.slots - held[TOP])}
    for path in sheet.paths:
        below = sheet.children[path]
        shared_by = sheet.ratio if sheet.policy.divides_by_ratio else sheet.owned
        weights = {child: shared_by[child] for child in below}
        if not any(weights.values()):
            weights = dict.fromkeys(below, 1)
        total = sum(weights.values())
        exact = {child: Fraction(free[path] * weights[child], total) for child in below}
        free.update(round_by_rank(exact, below))
    return free


def _wants_more(sheet: Sheet, held: Mapping[str, int], leaf: str) -> bool:
    """Whether a leaf wants one more unit and all limits above it allow it. Leaves of `ownership` do not count."""
    wants = sheet.counted[leaf] > held[leaf] and not sheet.policies[leaf].owns_exactly
    return wants and all(held[path] < sheet.limit[path] for path in sheet.chain(leaf))


def _reserved_and_unused(sheet: Sheet, quotas: Quotas, held: Mapping[str, int]) -> dict[str, int]:
    free: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sum(free[child] for child in sheet.children[path])
        free[path] = max(0, below, quotas.reserve[path] - held[path])
    return free
