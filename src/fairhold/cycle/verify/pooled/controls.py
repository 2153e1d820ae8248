"""How far one cycle may take back, and how much of that it has done (R-CONTROL-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Unit


@dataclass
class Restraint:
    """What holds a cycle back (R-CONTROL-6).

    most    : units that are told to go at most, None = any number; takers: leaves that take, None = all
    is_still : nobody is told to go; spares_young: who has not run long enough stays
    is_trial : what this cycle places may be told to go
    gone    : units told to go so far; is_full: what was next was too much
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
        """Whether some were granted at this instant on what was held for them (R-SERVE-3)."""
        return not self.is_trial and not sure.isdisjoint(units)

    def go(self, units: int) -> bool:
        """Whether so many go together; more than may go in a cycle only first and alone."""
        is_too_much = self.most is not None and self.gone > 0 and self.gone + units > self.most
        self.is_full |= is_too_much
        self.gone += 0 if is_too_much else units
        return not is_too_much
