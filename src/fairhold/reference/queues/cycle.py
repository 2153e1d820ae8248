"""One cycle of queues: both sweeps, until nothing changes (R-SWEEP-1 to R-SWEEP-3, R-CONTROL-1 to R-CONTROL-4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.reference.queues.cluster import told_by
from fairhold.reference.queues.opening import count_waiting, open_cluster, settle
from fairhold.reference.queues.report import table_document
from fairhold.reference.queues.restraint import Restraint, restraint_of, shortages_of
from fairhold.reference.queues.serving import Serving, next_served
from fairhold.reference.queues.siting import Siting
from fairhold.reference.queues.sparing import spare
from fairhold.reference.queues.table import Table
from fairhold.reference.queues.taking import Taking
from fairhold.reference.queues.trimming import open_ways, trim
from fairhold.reference.windows import earliest_deadline

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import Shortage, State
    from fairhold.reference.queues.cluster import Ask, Unit
    from fairhold.reference.sharing import Share

MOST_ROUNDS = 20


class QueueCycle:
    """What a cycle decides for an entry, if takes are held back so far.

    stops   : units of which the grace had run out
    is_over : the bound on rounds did not end it
    """

    def __init__(self, plan: Plan, share: Share, state: State, restraint: Restraint) -> None:
        """The whole of it."""
        self.plan, self.share, self.state = plan, share, state
        self.cluster = open_cluster(plan, share, state)
        self.stops = settle(self.cluster, state)
        self.never = count_waiting(self.cluster, plan, share)
        self.short = {ask: self.cluster.missing(ask) for ask in self.never}
        self.table = Table(plan, share, state, self.cluster)
        self.told_table = table_document(plan, self.table)
        self.siting = Siting(self.cluster, share.entry.settings.packing)
        self.serving = Serving(self.cluster, self.table, self.siting)
        if state.previous_cycle == state.now:
            self.serving.sure |= {unit for unit in self.cluster.units if unit.started >= state.now}
        earliest = max(earliest_deadline(plan, group, state.now) for group in share.groups)
        self.taking = Taking(self.cluster, self.table, self.siting, self.serving, restraint, earliest)
        open_ways(self.cluster, [(row.request, row.host, row.units) for row in state.held], state.freed)
        self.serving.grant_held()
        self.is_over = False
        for _ in range(MOST_ROUNDS):
            if not self.round():
                self.is_over = True
                break

    def round(self) -> bool:
        """Both sweeps; whether they have to run again."""
        before = self.print()
        self.serving.serve()
        trim(self.cluster, self.table)
        self.sweep()
        trim(self.cluster, self.table)
        is_spared = spare(self.cluster, self.table, self.taking)
        open_ways(self.cluster, self.held_rows(), ())
        return is_spared or before != self.print()

    def print(self) -> object:
        """What a round may change."""
        units = self.cluster.units
        told = [unit.told and (unit.told.taker, unit.told.deadline) for unit in units]
        return self.held_rows(), list(units), told

    def held_rows(self) -> list[tuple[str, str, int]]:
        """What is held, in the order in which the state after the cycle says it."""
        ways = self.cluster.coming.items()
        return [(ask.id, host, units) for ask, hosts in ways for host, units in hosts.items()]

    def sweep(self) -> None:
        """R-SWEEP-2: takers in the order of serving, all asked again after every take; then inside queues."""
        while self._take_once(is_inside=False) or self._take_once(is_inside=True):
            pass

    def _take_once(self, *, is_inside: bool) -> bool:
        tried: set[Ask] = set()
        self.taking.count()
        while (ask := next_served(self.cluster, self.table, self.taking.wants, tried)) is not None:
            if self.taking.take(ask, is_inside=is_inside):
                return True
            tried.add(ask)
        return False


@dataclass(frozen=True)
class Decided:
    """What a cycle decides for an entry. observed : what would be told to go (R-CONTROL-4)."""

    cycle: QueueCycle
    observed: list[Unit]
    shortages: list[Shortage]


def decide(plan: Plan, share: Share, state: State) -> Decided:
    """One cycle, held back as the entry says."""
    settings = share.entry.settings
    shortages: dict[str, Shortage] = {}
    if settings.dead_zone or settings.await_ends:
        free = QueueCycle(plan, share, state, Restraint(is_trial=True)).cluster
        missing: Counter[str] = Counter()
        for ask in free.asks.values():
            missing[ask.leaf] += free.on_way(ask)
        shortages = shortages_of(plan, share, state, missing)
    found = QueueCycle(plan, share, state, restraint_of(share, state, shortages))
    observed: list[Unit] = []
    if settings.observe_only:
        observed = told_by(found.cluster)
        found = QueueCycle(plan, share, state, Restraint(most=0))
    waits = {ask.leaf for ask in found.cluster.asks.values() if found.cluster.waiting(ask)}
    missing_ones = [shortages[leaf] for leaf in found.table.leaves if leaf in shortages and leaf in waits]
    return Decided(found, observed, missing_ones)
