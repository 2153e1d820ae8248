"""Runs a cycle of vectors in a live cluster, and records its decisions unit by unit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.close import parts_of
from fairhold.cycle.pooled.merge_results import adjusted_in, run_entries, run_on
from fairhold.ledger.decision import Shortage
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.ledger.vectors import POOLED, Touched
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.attempts import Notice, leave_by
from fairhold.orchestrator.devices import Devices
from fairhold.orchestrator.instructions import Notify, Withdraw
from fairhold.orchestrator.loans import shortages_told
from fairhold.orchestrator.vectors import frame_of, has_strangers, hosts_of, news_of, ownership_told, state_of
from fairhold.rules.pools.notice_reason import rule_of, rule_of_queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cycle.pooled.merge_results import Cycles
    from fairhold.cycle.pooled.pool_ledger import PoolLedger
    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.ledger.pools import Unit
    from fairhold.ledger.vectors import PartsTold
    from fairhold.model.state import State
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.handle import Orchestrator


class VectorCycle:
    """The input and the decisions of a cycle of vectors; now: its instant."""

    def __init__(self, now: int, cycles: Cycles, whole: Callable[[], State]) -> None:
        self.now, self.cycles, self._whole = now, cycles, whole

    @property
    def state(self) -> State:
        """The state before the cycle; read it before anything is carried out."""
        return self._whole()

    @property
    def done(self) -> list[PooledCycle]:
        """What every entry in force decided."""
        return [cycle for _, cycle in self.cycles]

    @property
    def due(self) -> int | None:
        """Instant at which controls ask for another cycle, None = at none."""
        return min((cycle.due for cycle in self.done if cycle.due is not None), default=None)


def run_vectors(cluster: Cluster, now: int) -> VectorCycle:
    """The cycle of a cluster at an instant, on books of its own; nothing is changed."""
    state = state_of(cluster, now)
    return VectorCycle(now, run_entries(cluster.books[POOLED].rows.source, state), lambda: state)


class VectorLedger:
    """The books of vectors of one live cluster, which go on from cycle to cycle."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ledgers: dict[int, PoolLedger] = {}
        self._touched = Touched()
        self._hosts: dict[str, Any] | None = None

    def run(self, now: int) -> VectorCycle:
        """Run the next cycle; the result of the one before must not be read any more."""
        cluster, books, touched = self._cluster, self._cluster.books[POOLED], self._touched
        assert books.vectors is not None
        if books.vectors.touched is not touched:  # nobody has marked anything yet
            self._ledgers.clear()
            touched.are_hosts = True
        self._touched = books.vectors.touched = Touched()
        if self._hosts is None or touched.are_hosts or has_strangers(cluster, now):
            self._hosts = hosts_of(cluster, now)
        whole = partial(state_of, cluster, now)
        frame, news = frame_of(cluster, now, self._hosts), news_of(cluster, touched, whole)
        return VectorCycle(now, run_on(books.rows.source, frame, self._ledgers, news), whole)


def carry_out(live: Orchestrator, cycle: VectorCycle, *, grants: bool, reclaims: bool) -> None:
    """Carry out what a cycle decided, except grants or reclaims that are paused."""
    done = cycle.done
    if reclaims:
        for each in done:
            _withdraw(live, each)
        for each in done:
            _notify(live, each, moves=grants)
    for each in done:
        _rebook(live, each)
    books = live.books[POOLED]
    assert books.vectors is not None
    if grants:
        kept = {(noun.request, noun.host): noun.units for each in done for noun in each.held}
        held = {key: units for key, units in books.vectors.held.items() if key[0] in live.jobs}
        if kept != held or books.vectors.freed:
            live.do(say.Kept(POOLED, tuple((*key, units) for key, units in kept.items())))
        for each in done:
            _grant(live, each)
    _count_shortages(live, done)
    ownership = tuple(parcel for each in done for parcel in each.ownership)
    adjusted = adjusted_in(cycle.cycles)
    entries = tuple(each for cycle in done for each in cycle.own_entries)
    vectors = books.vectors
    if (ownership, adjusted, entries) != (vectors.ownership, vectors.adjusted, vectors.own_entries):
        live.do(ownership_told(books, ownership, adjusted, entries))


def _count_shortages(live: Orchestrator, done: list[PooledCycle]) -> None:
    """Record which leaves miss units and since when, where controls need it (R-CONTROL-3)."""
    books = live.books[POOLED]
    found = {short.consumer: Shortage(short.since, short.is_taking) for cycle in done for short in cycle.shortages}
    if found != books.shortages:
        live.do(say.ShortagesCounted(POOLED, shortages_told(books, found)))


def _withdraw(live: Orchestrator, cycle: PooledCycle) -> None:
    for unit in cycle.sweeps.withdrawn:
        attempt = live.attempts[unit.attempt]
        live.do(say.Withdrawn(attempt.name))
        if attempt.stopping:
            continue
        leaving = attempt.leaving
        live.order(Withdraw(attempt.name) if leaving is None else Notify(attempt.name, *leave_by(leaving)))


def _notify(live: Orchestrator, cycle: PooledCycle, *, moves: bool) -> None:
    """Give notice to attempts.

    moves : also to units that move to a place held for them; while grants are paused no place is held
    """
    for unit in cycle.sweeps.noticed:
        notice = unit.notice
        if notice is None or not unit.attempt or (notice.is_move and not moves):
            continue
        attempt = live.attempts[unit.attempt]
        taker = notice.taker
        path = "" if taker is None else cycle.books.terms.tree.paths[taker.leaf]
        job = "" if taker is None else taker.model.id
        said = Notice(notice.deadline, notice.reason, path, live.cluster.cycles, job)
        rule = rule_of(cycle.books, cycle.sweeps.reservations, unit) if cycle.stood is None else rule_of_queue(unit)
        live.do(say.Noticed(attempt.name, *said, rule))
        assert attempt.told is not None
        if not attempt.stopping:
            live.order(Notify(attempt.name, *attempt.told))


def _rebook(live: Orchestrator, cycle: PooledCycle) -> None:
    """Record units whose pool, or the owners of the parcels they use, have changed."""
    for host in cycle.books.opened:
        for unit in host.units:
            said = unit.said
            if said is None or not said.attempt:
                continue
            if host.is_plain and said.pool == "/" and not said.lenders and not said.parts:  # nobody owns the host
                continue
            attempt = live.attempts[said.attempt]
            stands = _stands(live, cycle, unit)
            if stands != (attempt.pool, attempt.lenders, attempt.parts):
                live.do(say.Rebooked(attempt.name, *stands))


def _stands(live: Orchestrator, cycle: PooledCycle, unit: Unit) -> tuple[str, tuple[str, ...], PartsTold]:
    """The pool of a unit, the owners of what it stands on, and what of whom where they are several; in paths."""
    vectors = live.books[POOLED].vectors
    assert vectors is not None
    paths = cycle.books.terms.tree.paths
    pool = "own" if unit.pool == OWN else "/" if unit.pool == PUBLIC else paths[unit.pool]
    lenders = tuple(paths[row] for row in unit.lenders(cycle.books.terms))
    return pool, lenders, vectors.parts_told(parts_of(unit))


def _grant(live: Orchestrator, cycle: PooledCycle) -> None:
    devices = Devices(live.cluster)
    for unit in cycle.sweeps.placed:
        job, host = live.jobs[unit.asked.model.id], unit.host.name
        pool, lenders, parts = _stands(live, cycle, unit)
        live.start(POOLED, job.request, ((host, 1),), (pool, lenders, devices.take(host, unit.asked.unit), parts))
