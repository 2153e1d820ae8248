"""The controls on what one cycle takes back, and how much it has taken (R-CONTROL-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Unit


@dataclass
class Restraint:
    """The controls of one cycle (R-CONTROL-6).

    most    : units that are told to go at most, None = any number; takers: leaves that take, None = all
    is_still : no notices are given; spares_young: units that have not run long enough stay
    is_trial : units placed in this cycle may get notice
    gone    : units that got notice so far; is_full: the next take was too large
    """

    most: int | None = None
    takers: frozenset[str] | None = None
    is_still: bool = False
    is_trial: bool = False
    spares_young: bool = False
    gone: int = 0
    is_full: bool = False

    def allows(self, leaf: str) -> bool:
        """Whether a leaf may take."""
        is_open = not (self.is_still or self.is_full or self.most == 0)
        return is_open and (self.takers is None or leaf in self.takers)

    def spares(self, units: Iterable[Unit], sure: set[Unit]) -> bool:
        """Whether some of these units were granted at this instant on space held for them (R-SERVE-3)."""
        return not self.is_trial and not sure.isdisjoint(units)

    def go(self, units: int) -> bool:
        """Whether a number of units may go together; more than the limit only as the first take, and alone."""
        is_too_much = self.most is not None and self.gone > 0 and self.gone + units > self.most
        self.is_full |= is_too_much
        self.gone += 0 if is_too_much else units
        return not is_too_much
