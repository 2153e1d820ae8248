"""Victims on one host for one unit, and the order of such choices (R-TAKE-3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Host, Unit

Order = tuple[tuple[Any, ...], ...]
"""How over-used a leaf is, level by level from the pool down; the most over-used first."""


@dataclass
class Choice:
    """Victims on one host: bundles of units in the order of picking, each with its over-use and age."""

    host: Host
    bundles: list[tuple[list[Unit], tuple[Any, ...], tuple[Any, ...], bool]] = field(default_factory=list)

    @property
    def units(self) -> list[Unit]:
        """All of them."""
        return [unit for bundle, *_ in self.bundles for unit in bundle]

    @property
    def over_use(self) -> Order:
        """The over-use of the first bundle."""
        order: Order = self.bundles[0][1][1]
        return order

    def rank(self, other: Choice) -> bool:
        """Sort key of choices: the most over-used, the fewest broken gangs, the fewest units, then by `victims`."""
        for (_, mine, _, _), (_, theirs, _, _) in zip(self.bundles, other.bundles, strict=False):
            if mine != theirs:
                return mine < theirs
        counts = [(sum(each[3] for each in one.bundles), len(one.units)) for one in (self, other)]
        if counts[0] != counts[1]:
            return counts[0] < counts[1]
        for (_, _, mine, _), (_, _, theirs, _) in zip(self.bundles, other.bundles, strict=False):
            if mine != theirs:
                return mine < theirs
        return False
