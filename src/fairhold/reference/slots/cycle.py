"""One cycle of a group of slots, from the rules, by path."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.reference.quotas import entitled_in
from fairhold.reference.slots.claiming import claims_of
from fairhold.reference.slots.granting import grant
from fairhold.reference.slots.owners import loans_after
from fairhold.reference.slots.reclaiming import Reclaim
from fairhold.reference.slots.reports import free_slots, on_their_way
from fairhold.reference.slots.restraint import at_most, shortages_after, waived
from fairhold.reference.slots.settling import settle
from fairhold.reference.slots.switching import leaving, switched
from fairhold.reference.windows import earliest_deadline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation, Unit
    from fairhold.reference.slots.claiming import Claims

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
    held          : (host, gang) → slots that are held for it after the cycle (R-HOLD-1)
    claims        : what goes on which hosts, and for whom nothing can (R-SITE-4)
    loans         : (borrower, lender) → units after the cycle (R-LEND-4)
    shortages     : leaf → since when it misses units, and whether it takes them back (R-CONTROL-2, R-CONTROL-3)
    are_hosts_open : whether the rules leave open which requests of a leaf are granted units, and where
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
    held: Counter[tuple[str, str]]
    claims: Claims
    loans: dict[tuple[str, str], int]
    shortages: dict[str, tuple[int, bool]]
    are_hosts_open: bool

    def reasons(self, leaf: str) -> tuple[str, ...]:
        """Reasons that a notice of a leaf for nobody may have."""
        after = self.after
        found = []
        if self.by_switch.get(leaf, 0):
            found.append("window")
        above = after.consumers.above(leaf)
        if self.fills_limit or any(after.held[path] > after.consumers[path].limit for path in above):
            found.append("limit")
        if after.held["/"] > after.slots:
            found.append("lost")
        return (*found, "quota")


def cycle_of_slots(situation: Situation) -> SlotCycle:
    """Settle, quotas, grants, reclaims. situation : as a state says it."""
    before, stopped = settle(situation)
    entitled = entitled_in(before)
    granted = grant(before, entitled, leaving(before, switched(before, before)))
    after = before.with_grants(granted.places.units)
    aside = granted.handing.aside
    by_switch = switched(after, before)
    _, first = Reclaim(after, entitled, aside, {}).asked({})
    late = waived(after, first.missing)
    _, missed = Reclaim(after, entitled, aside, late).asked(by_switch)
    claims = claims_of(after, missed)
    goes, found = Reclaim(after, entitled, aside, late, switched=by_switch, claims=claims).goes()
    nothing = replace(entitled, reserve=dict.fromkeys(entitled.reserve, 0))  # so that nobody misses any
    in_any_case, _ = Reclaim(after, nothing, aside, first.missing, switched=by_switch).goes()
    noticed = {at for at, unit in enumerate(after.units) if unit.notice is not None}
    new = at_most(after, [at for at in goes if at not in noticed], in_any_case)
    observed = [at for at in new if after.consumers[after.units[at].leaf].entry.settings.observe_only]
    return SlotCycle(
        before,
        after,
        entitled,
        _rows(stopped),
        _rows(after.units[len(before.units) :]),
        _rows([after.units[at] for at in new if at not in observed]),
        _rows([after.units[at] for at in observed]),
        _rows([after.units[at] for at in noticed.difference(goes)]),
        on_their_way(after, found.missing, new, [at for at in goes if at in noticed], by_switch),
        {leaf: _deadline(after, leaf) for leaf in after.consumers.leaves},
        free_slots(after, entitled),
        max(0, after.slots - after.held["/"]),
        any(found.must[path] > 0 for path in after.consumers.order if path != "/"),
        dict(by_switch),
        +granted.places.collected,
        claims,
        loans_after(after, entitled),
        shortages_after(after, first.missing, late),
        granted.is_open,
    )


def _rows(units: Iterable[Unit]) -> Counter[Row]:
    return Counter((unit.wish, unit.host) for unit in units)


def _deadline(situation: Situation, leaf: str) -> int:
    """R-GRACE-1, R-WINDOW-3: now + the holder's grace, not before the window in force opens."""
    consumers = situation.consumers
    opens = earliest_deadline(consumers.plan, consumers.group, situation.now)
    return max(situation.now + consumers[leaf].grace, opens)
