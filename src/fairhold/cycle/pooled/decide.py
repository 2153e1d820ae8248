"""Both sweeps of a policy entry, limited by its controls (SPEC §8; R-CONTROL-6).

A leaf misses as many units as it would reclaim without controls. They are found by a trial on separate books.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.open import open_settled
from fairhold.cycle.queued.queue_ledger import QueueLedger
from fairhold.ledger.pool_terms import terms_of
from fairhold.ledger.restraint import Restraint
from fairhold.model.state import Shortage
from fairhold.rules.pools.reservations import Reservations
from fairhold.rules.pools.rest import is_at_rest
from fairhold.rules.pools.sweeps import Sweeps, run_sweeps, sweeps_at_rest
from fairhold.rules.queues.round import run_queues

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairhold.cycle.pooled.open import Opening
    from fairhold.cycle.pooled.pool_ledger import News, PoolLedger
    from fairhold.ledger.pools import PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.model.plan import Plan, PolicyEntry, PolicySettings
    from fairhold.model.state import State

    Members = Collection[int] | None


@dataclass(frozen=True, slots=True)
class Decided:
    """What a cycle of one entry decides.

    books     : after it
    stops     : (request, host, units) that were stopped because their grace had run out
    observed  : units that would get notice, only reported (R-CONTROL-4)
    shortages : leaf → instant since which it misses units, where that matters
    queues    : under `fair_share`, gives the amounts of queues before it
    due       : earliest instant at which a unit spared by controls can get notice, None = none was spared
    """

    books: PoolBooks
    stops: list[tuple[str, str, int]]
    sweeps: Sweeps
    observed: list[Unit]
    shortages: tuple[Shortage, ...]
    due: int | None
    queues: Callable[[], Queues] | None = None


def decide(  # noqa: PLR0917 - what a cycle is of
    plan: Plan,
    entry: PolicyEntry,
    state: State,
    members: Members = None,
    ledger: PoolLedger | None = None,
    news: News | None = None,
) -> Decided:
    """Settle, adjust, both sweeps.

    ledger, news : of a live cluster, books of the cycle before, and what was touched since; then `state` has no
        requests and allocations
    """
    settings = entry.settings
    may_wait = settings.dead_zone or settings.await_ends
    if news is not None and (may_wait or settings.observe_only):  # several books of one state
        state, ledger, news = news.whole(), None, None
    shortages = _shortages(plan, entry, state, members) if may_wait else {}
    most = 0 if settings.max_reclaims is not None and state.previous_cycle == state.now else settings.max_reclaims
    takers = frozenset(leaf for leaf, short in shortages.items() if short.is_taking) if may_wait else None
    restraint = Restraint(most, takers, spares_young=any(terms_of(plan, entry).min_runtime))
    decided = _sweep(plan, entry, state, restraint, members, ledger, news)
    observed: list[Unit] = []
    if settings.observe_only:
        observed = decided.sweeps.noticed
        decided = _sweep(plan, entry, state, Restraint(is_still=True), members)
    waits = {asked.leaf for asked in decided.books.asked.values() if asked.waiting} if shortages else set[int]()
    left = {leaf: short for leaf, short in shortages.items() if leaf in waits}
    ripe = [short.since + settings.await_ends for short in left.values() if not short.is_taking]
    dues = [
        each
        for each in (decided.books.restraint.due, *ripe, _adjusting(decided, settings))
        if each and each > state.now
    ]
    return Decided(
        books=decided.books,
        stops=decided.stops,
        sweeps=decided.sweeps,
        observed=observed,
        shortages=tuple(left[leaf] for leaf in decided.books.terms.leaves if leaf in left),
        due=None if settings.observe_only else min(dues, default=None),
        queues=decided.queues,
    )


def _adjusting(decided: Decided, settings: PolicySettings) -> int | None:
    """When ownership is adjusted next, if workloads may have changed by then (R-ADJUST-5)."""
    last = decided.books.adjusted
    if last is None or (last.at == decided.books.now and not decided.sweeps.placed):
        return None
    return last.at + settings.rebalance_interval


def _sweep(  # noqa: PLR0917 - what a cycle is of
    plan: Plan,
    entry: PolicyEntry,
    state: State,
    restraint: Restraint,
    members: Members,
    ledger: PoolLedger | None = None,
    news: News | None = None,
) -> Decided:
    """A cycle under one restraint."""
    if ledger is None or news is None:
        return _sweep_books(state, members, restraint, *open_settled(plan, entry, state))
    opened = ledger.open(plan, entry, state, news)
    books = opened.books
    decided = _sweep_books(state, members, restraint.anew(), opened, [])
    ledger.swept(decided.sweeps)
    if books.backlog.is_short:
        decided = _sweep_books(state, members, restraint, ledger.open_all(), [])
        ledger.swept(decided.sweeps)
    return decided


def _sweep_books(
    state: State, members: Members, restraint: Restraint, opened: Opening, stops: list[tuple[str, str, int]]
) -> Decided:
    """The same on books, which are changed."""
    books = opened.books
    books.restraint = restraint
    if state.previous_cycle == state.now:
        books.sure.update(unit for unit in books.units() if unit.started >= books.now)
    is_moving = not is_at_rest(books, are_queues=opened.entry.policy.has_queues)
    if not opened.entry.policy.has_queues:
        sweeps = run_sweeps(books) if is_moving else sweeps_at_rest(books)
        return Decided(books, stops, sweeps, [], (), None)
    before = partial(_stood, opened, state, members)
    if not is_moving:
        return Decided(books, stops, Sweeps(books, Reservations(books)), [], (), None, before)
    queues = before()
    assert opened.queues is not None
    sweeps = run_queues(books, queues.anew(), opened.queues.classes)
    return Decided(books, stops, sweeps, [], (), None, lambda: queues)


def _stood(opened: Opening, state: State, members: Members) -> Queues:
    """How queues stand when a cycle begins."""
    if opened.queues is None:
        opened.queues = QueueLedger(opened.plan, opened.entry, state, opened.books, members)
    found = opened.queues.open(opened.books, state, opened.uncounted)
    opened.uncounted = {}
    return found


def _shortages(plan: Plan, entry: PolicyEntry, state: State, members: Members) -> dict[int, Shortage]:
    """Leaf → the instant since which it misses units, and whether it reclaims now (R-CONTROL-2, R-CONTROL-3).

    It misses the units that would be on their way to it without controls.
    """
    settings, group = entry.settings, entry.resource_groups[0]
    before = {
        short.consumer: short for short in state.shortages if plan.resource_groups[short.resource_group].shares_vectors
    }
    free = _sweep(plan, entry, state, Restraint(is_trial=True), members)
    missing: dict[int, int] = {}
    for asked in free.books.asked.values():
        units = free.sweeps.reservations.units(asked)
        if units:
            missing[asked.leaf] = missing.get(asked.leaf, 0) + units
    found: dict[int, Shortage] = {}
    for leaf, units in missing.items():
        known = before.get(leaf)
        since = known.since if known else state.now
        is_ripe = units > settings.dead_zone and since + settings.await_ends <= state.now
        found[leaf] = Shortage(leaf, group, since, is_ripe or (known is not None and known.is_taking))
    return found
