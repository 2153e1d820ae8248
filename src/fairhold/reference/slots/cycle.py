"""One cycle of a group of slots, from the rules, by path."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.reference.quotas import entitled_in
from fairhold.reference.slots.granting import grant
from fairhold.reference.slots.reclaiming import Reclaim
from fairhold.reference.slots.reports import free_slots, on_their_way
from fairhold.reference.slots.restraint import at_most, waived
from fairhold.reference.slots.settling import settle
from fairhold.reference.slots.switching import switched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation, Unit

Row = tuple[str, str]
"""A request, or the leaf where a state has plain counts, and a host."""


@dataclass(frozen=True)
class SlotCycle:
    """What a cycle decides.

    before, after : as it is after the stops, and with what is granted
    new           : row → units that newly get notice; observed: of those that nobody is told
    takers        : (holder, leaf that they go to, or nobody) → new notices
    deadlines     : leaf → the deadline of a notice that it gets now
    fills_limit   : whether a limit wants units
    by_switch     : leaf → units that a switch of windows takes
    """

    before: Situation
    after: Situation
    entitled: Entitlement
    stops: Counter[Row]
    grants: Counter[Row]
    new: Counter[Row]
    observed: Counter[Row]
    withdrawn: Counter[Row]
    takers: Counter[tuple[str, str]]
    deadlines: dict[str, int]
    free: dict[str, int]
    idle: int
    fills_limit: bool
    by_switch: dict[str, int]


def cycle_of_slots(situation: Situation) -> SlotCycle:
    """Settle, quotas, grants, reclaims. situation : as a state says it."""
    before, stopped = settle(situation)
    entitled = entitled_in(before)
    granted = grant(before, entitled)
    after = before.with_units(granted.places.units)
    aside = granted.handing.aside
    plain = Reclaim(after, entitled, aside, {})
    _, first = plain.asked({})
    by_switch = switched(after, before)
    goes, found = Reclaim(after, entitled, aside, waived(after, first.missing), by_switch).goes()
    in_any_case, _ = Reclaim(after, entitled, aside, first.missing, by_switch).goes()
    noticed = {at for at, unit in enumerate(after.units) if unit.notice is not None}
    wanted = [at for at in goes if at not in noticed]
    new = at_most(after, wanted, in_any_case)
    observed = [at for at in new if after.consumers[after.units[at].leaf].entry.settings.observe_only]
    told = [at for at in new if at not in observed]
    stays = [at for at in goes if at in noticed]
    return SlotCycle(
        before,
        after,
        entitled,
        _rows(stopped),
        _rows(after.units[len(before.units) :]),
        _rows([after.units[at] for at in told]),
        _rows([after.units[at] for at in observed]),
        _rows([after.units[at] for at in noticed.difference(goes)]),
        on_their_way(after, found.missing, new, stays, by_switch),
        {leaf: _deadline(after, leaf) for leaf in after.consumers.leaves},
        free_slots(after, entitled),
        max(0, after.slots - after.held["/"]),
        any(found.must[path] > 0 for path in after.consumers.order if path != "/"),
        dict(by_switch),
    )


def _rows(units: Iterable[Unit]) -> Counter[Row]:
    return Counter((unit.wish, unit.host) for unit in units)


def _deadline(situation: Situation, leaf: str) -> int:
    """R-GRACE-1, R-WINDOW-3: now + the holder's grace, not before the window in force opens."""
    consumers = situation.consumers
    calendar = consumers.plan.calendar
    own = situation.now + consumers[leaf].grace
    if calendar is None or consumers.group not in calendar.windows.tracks:
        return own
    return max(own, calendar.opening(consumers.group, situation.now))
