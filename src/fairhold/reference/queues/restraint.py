"""How much a cycle takes back, and for whom (R-CONTROL-1 to R-CONTROL-4, R-CONTROL-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.model.state import Shortage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.reference.sharing import Share


@dataclass
class Restraint:
    """What holds takes back.

    most     : units that may be told to go, None = any number
    takers   : leaves that may take, None = all
    is_trial : only who misses something is looked for: what this cycle has placed counts as taken
    told     : units that were told to go; is_ended: the first take that was too much ends it
    """

    most: int | None = None
    takers: frozenset[str] | None = None
    is_trial: bool = False
    told: int = 0
    is_ended: bool = False

    def lets(self, leaf: str) -> bool:
        """Whether a leaf may take now."""
        return not self.is_ended and self.most != 0 and (self.takers is None or leaf in self.takers)

    def count(self, units: int) -> bool:
        """R-CONTROL-1: whether so many go together; more than may go at all go first and alone."""
        if self.most is not None and self.told and self.told + units > self.most:
            self.is_ended = True
            return False
        self.told += units
        return True


def restraint_of(share: Share, state: State, shortages: Mapping[str, Shortage]) -> Restraint:
    """What an entry says. shortages : leaf → its deficit, where the entry looks at it."""
    settings = share.entry.settings
    most = 0 if settings.max_reclaims is not None and state.previous_cycle == state.now else settings.max_reclaims
    is_patient = settings.dead_zone or settings.await_ends
    takers = frozenset(leaf for leaf, short in shortages.items() if short.is_taking)
    return Restraint(most, takers if is_patient else None)


def shortages_of(plan: Plan, share: Share, state: State, missing: Mapping[str, int]) -> dict[str, Shortage]:
    """R-CONTROL-2, R-CONTROL-3: leaf → since when it misses what would be on its way if nothing were held back."""
    settings, paths = share.entry.settings, plan.tree.paths
    before = {paths[each.consumer]: each for each in state.shortages if each.resource_group in share.groups}
    found = {}
    for leaf, units in missing.items():
        if not units:
            continue
        since = before[leaf].since if leaf in before else state.now
        is_ripe = units > settings.dead_zone and state.now - since >= settings.await_ends
        is_taking = is_ripe or (leaf in before and before[leaf].is_taking)
        found[leaf] = Shortage(plan.tree.rows[leaf], share.groups[0], since, is_taking)
    return found
