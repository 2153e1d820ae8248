"""What happens before a cycle (R-SETTLE-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.reference.situation import Situation, Unit


def settle(situation: Situation) -> tuple[Situation, list[Unit]]:
    """Units whose grace has run out are stopped: the situation without them, and these.

    A second cycle at one instant settles nothing, nor does a cluster that waits for the ends of what it stops.
    """
    state = situation.state
    if state.previous_cycle == state.now or state.is_settled:
        return situation, []
    gone = [unit for unit in situation.units if unit.notice is not None and unit.notice.deadline <= state.now]
    stays = [unit for unit in situation.units if unit.notice is None or unit.notice.deadline > state.now]
    return situation.with_units(stays), gone
