"""The controls of a policy entry on what one cycle takes back (R-CONTROL-1 to R-CONTROL-6)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.controls import Restraint
from fairhold.cycle.verify.pooled.opening import open_settled
from fairhold.cycle.verify.pooled.sweeps import Sweeps
from fairhold.cycle.verify.queued.cycle import Queued
from fairhold.cycle.verify.queued.report import oversubscribed_rows, queue_rows
from fairhold.cycle.verify.queued.table import make_table
from fairhold.model.state import Shortage

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.force import Share
    from fairhold.cycle.verify.pooled.stock import Stock, Unit
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


@dataclass
class Decided:
    """What a cycle of one entry decides.

    stops    : (request, host) → units of which the grace had run out
    observed : units that would get notice, which is not given
    queues   : how queues stood before it, None = there are none
    """

    stock: Stock
    stops: Counter[tuple[str, str]]
    sweeps: Sweeps | Queued
    observed: list[Unit]
    shortages: list[Shortage]
    queues: dict[str, Any] | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)


def decide(plan: Plan, share: Share, state: State) -> Decided:
    """One cycle, held back as the entry says."""
    settings = share.entry.settings
    restraint = Restraint(settings.max_reclaims, spares_young=True)
    if settings.max_reclaims is not None and state.previous_cycle == state.now:
        restraint.most = 0
    shortages: dict[str, Shortage] = {}
    if settings.dead_zone or settings.await_ends:
        shortages = _shortages(plan, share, state)
        restraint.takers = frozenset(leaf for leaf, short in shortages.items() if short.is_taking)
    found = _sweep(plan, share, state, restraint)
    if settings.observe_only:
        observed = found.sweeps.noticed
        found = _sweep(plan, share, state, Restraint(is_still=True))
        found.observed = observed
    waits = {asked.leaf for asked in found.stock.asked.values() if asked.waiting}
    found.shortages = [shortages[leaf] for leaf in found.stock.terms.leaves if leaf in shortages and leaf in waits]
    return found


def _sweep(plan: Plan, share: Share, state: State, restraint: Restraint) -> Decided:
    stock, stops = open_settled(plan, share, state)
    if state.previous_cycle == state.now:
        stock.sure.update(unit for unit in stock.units() if unit.started >= state.now)
    if not share.entry.policy.has_queues:
        return Decided(stock, stops, Sweeps(stock, restraint), [], [])
    table = make_table(plan, share, state, stock)
    told = queue_rows(plan, table, stock)
    warnings = oversubscribed_rows(plan, table)
    return Decided(stock, stops, Queued(stock, table, restraint), [], [], told, warnings)


def _shortages(plan: Plan, share: Share, state: State) -> dict[str, Shortage]:
    """Leaf → since when it misses what would be on its way if nothing were held back (R-CONTROL-2, R-CONTROL-3)."""
    settings, paths = share.entry.settings, plan.tree.paths
    before = {paths[each.consumer]: each for each in state.shortages if each.resource_group in share.groups}
    free = _sweep(plan, share, state, Restraint(is_trial=True))
    missing: Counter[str] = Counter()
    for asked in free.stock.asked.values():
        missing[asked.leaf] += free.sweeps.coming.units(asked)
    found = {}
    for leaf, units in missing.items():
        known = before.get(leaf)
        since = known.since if known else state.now
        is_ripe = units > settings.dead_zone and state.now - since >= settings.await_ends
        is_taking = is_ripe or (known is not None and known.is_taking)
        if units:
            found[leaf] = Shortage(plan.tree.rows[leaf], share.groups[0], since, is_taking)
    return found
