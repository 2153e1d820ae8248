"""What a switch of windows between `ownership` and `hybrid` takes back (R-SWITCH-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.reference.consumers import Consumers
from fairhold.reference.quotas import owned_now
from fairhold.reference.situation import Situation
from fairhold.reference.slots.owners import loans_of
from fairhold.reference.slots.victims import choose

if TYPE_CHECKING:
    from collections.abc import Mapping


def leaving(situation: Situation, by_switch: Mapping[str, int]) -> Counter[str]:
    """Gang → units of it that leave for a switch, were gangs granted all that they want.

    situation : before the grants; by_switch : leaf → units that the switch takes
    """
    wishes = [
        replace(wish, minimum=max(0, wish.minimum - max(0, wish.count - situation.held_by(wish.id))))
        for wish in situation.wishes.values()
    ]
    trial = Situation(situation.consumers, situation.state, wishes, situation.units)
    gone = {at for leaf, units in by_switch.items() for at in choose(trial, leaf, units)}
    gone |= {at for at, unit in enumerate(situation.units) if unit.notice and unit.notice.reason == "window"}
    names = [situation.units[at].wish for at in gone]
    return Counter(name for name in names if situation.wishes[name].is_gang)


def switched(situation: Situation, before_grants: Situation) -> Counter[str]:
    """Leaf → units that have to be under notice as its policy has changed since the cycle before, or earlier."""
    state, now = situation.state, situation.consumers
    found = Counter(unit.leaf for unit in situation.units if unit.notice is not None and unit.notice.reason == "window")
    if state.previous_cycle is None or now.plan.calendar is None:
        return found
    then = Consumers(now.plan, now.group, state.previous_cycle, state)
    scale = owned_now(now, situation.slots, with_budgets=False)
    loans = loans_of(situation)

    def becomes_hybrid(leaf: str) -> bool:
        return then[leaf].entry.policy.owns_exactly and now[leaf].entry.policy.scales_owned

    for leaf in now.leaves:
        if now[leaf].entry.settings.observe_only:  # R-CONTROL-4: nothing is taken from it
            continue
        mine = {lender: units for (borrower, lender), units in loans.items() if borrower == leaf}
        held = before_grants.held[leaf]
        if becomes_hybrid(leaf):
            found[leaf] = max(found[leaf], sum(mine.values()), held - int(scale[leaf]))
        elif then[leaf].entry.policy.scales_owned and now[leaf].owns_exactly:
            found[leaf] = max(found[leaf], held - now[leaf].always_owned)
        lent = sum(units for lender, units in mine.items() if becomes_hybrid(lender))
        found[leaf] = max(found[leaf], lent)
    return +Counter({leaf: min(units, before_grants.held[leaf]) for leaf, units in found.items()})
