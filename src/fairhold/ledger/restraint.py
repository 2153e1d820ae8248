"""Limits on what one cycle of a policy entry reclaims (SPEC §8)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Restraint:
    """How much a cycle may reclaim, and what it has left for later cycles.

    most    : maximum number of units that get notice, None = any number (R-CONTROL-1)
    takers  : leaves that may reclaim, None = all (R-CONTROL-2, R-CONTROL-3)
    is_still     : no unit gets notice (R-CONTROL-4)
    is_trial     : only finds what would be reclaimed; a unit just placed may get notice at once (R-SWEEP-3)
    spares_young : units that have not run long enough get no notice (R-CONTROL-5)
    gone    : units that got notice so far
    is_full : the limit is reached; the next unit and all after it are left for a later cycle
    due     : earliest instant at which a unit that was left can get notice, None = no unit was left
    """

    most: int | None = None
    takers: frozenset[int] | None = None
    is_still: bool = False
    is_trial: bool = False
    spares_young: bool = False
    gone: int = 0
    is_full: bool = False
    due: int | None = None

    def anew(self) -> Restraint:
        """The same bounds at the begin of a cycle."""
        return Restraint(self.most, self.takers, self.is_still, self.is_trial, self.spares_young)

    def not_after(self, instant: int) -> None:
        """Another cycle is due at an instant."""
        self.due = instant if self.due is None else min(self.due, instant)
