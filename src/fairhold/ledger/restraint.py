"""What of all that pools could take back is taken in one cycle of a policy entry (SPEC §8)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Restraint:
    """How far a cycle takes back, and what it has left for later ones.

    most    : units that are told to go at most, None = any number (R-CONTROL-1)
    takers  : leaves that take back, None = all (R-CONTROL-2, R-CONTROL-3)
    is_still     : nobody is told to go (R-CONTROL-4)
    is_trial     : it only finds what would be taken: what is placed may be told to go at once (R-SWEEP-3)
    spares_young : units that have not run long enough stay (R-CONTROL-5)
    gone    : units told to go so far
    is_full : what was to go next is left for a later cycle, and so is all after it
    due     : first instant at which something can go that is left now, None = there is none
    """

    most: int | None = None
    takers: frozenset[int] | None = None
    is_still: bool = False
    is_trial: bool = False
    spares_young: bool = False
    gone: int = 0
    is_full: bool = False
    due: int | None = None

    def not_after(self, instant: int) -> None:
        """Another cycle is due at an instant."""
        self.due = instant if self.due is None else min(self.due, instant)
