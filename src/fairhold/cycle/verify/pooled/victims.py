"""Victims inside a leaf: their order, broken gangs, and units that have not run long enough (R-VICTIM-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Unit
    from fairhold.cycle.verify.pooled.terms import Terms


def age(terms: Terms, unit: Unit) -> tuple[int, ...]:
    """Sort key, the smallest gives first: by `victims`, then the request listed last, then the unit placed last."""
    model, victims = unit.asked.model, terms.settings.victims
    young = (-model.submitted, -unit.started)
    orders: dict[str, tuple[int, ...]] = {
        "youngest": young,
        "oldest": (model.submitted, unit.started),
        "lowest_priority": (model.priority, *young),
    }
    return *orders[victims], -unit.asked.place, -unit.at


def bundle_of(unit: Unit, gone: Iterable[Unit]) -> list[Unit]:
    """A unit, or the rest of its gang where the gang falls below its minimum (R-TAKE-4)."""
    if not breaks_gang(unit, gone):
        return [unit]
    return [each for each in unit.asked.units if each.notice is None and each not in gone]


def breaks_gang(unit: Unit, gone: Iterable[Unit]) -> bool:
    """Whether a gang falls below its minimum without a unit."""
    stay = [each for each in unit.asked.units if each.notice is None and each not in gone]
    return 0 < unit.asked.model.min_count > len(stay) - 1


def is_young(terms: Terms, unit: Unit, now: int) -> bool:
    """Whether a unit has run for less than the `min_runtime` of its leaf (R-CONTROL-5)."""
    return unit.started > now - terms.min_runtime[unit.asked.leaf]
