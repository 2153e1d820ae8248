"""Accounts for every unit at every instant, computed from the changes of a log (docs/reference/usage.md).

A change moves few units between few accounts, and only these are looked at. Who lends slots, or what queues deserve,
depends on all leaves of a resource group; it is divided again when what a leaf of it holds has changed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.kernels.vectors import add, less, times
from fairhold.ledger.vectors import POOLED
from fairhold.model.price import NO_PRICES
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.accounts import Deserved, Meter, Pool
from fairhold.orchestrator.owned import deserved_now, lent_parts, own_part, owned_slots, unit_held
from fairhold.orchestrator.spans import BORROWED, LENT, LOST, OWN, Key, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fairhold.model.price import PriceList
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.accounts import LeafAccount
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster

YIELDED = "yielded"


class _Held(NamedTuple):
    """What an attempt holds: where, on which two accounts, how many units, since when.

    vector : of one unit, else empty
    host   : the first one
    """

    leaf: LeafAccount
    own: Key
    borrowed: Key
    units: int
    started: int
    vector: Vector
    host: str


class Accounting:
    """Keeps the accounts of a cluster up to date; `note` gets every change, after it was applied.

    begin : instant at which the current span began
    at    : instant of the latest change
    weight : number of entries recorded since the begin; a span's document is that long
    """

    def __init__(self, cluster: Cluster, now: int) -> None:
        self.begin = self.at = now
        self.weight = 0
        self._meters: dict[Key, Meter] = {}
        self._lost: dict[Key, list[tuple[int, int]]] = {}
        self._held: dict[int, _Held] = {}
        self._pools: dict[str, Pool] = {}
        self._stale: dict[LeafAccount, None] = {}
        self.rebuild(cluster, now)

    def rebuild(self, cluster: Cluster, now: int) -> None:
        """The plan changed or the state was recovered: all accounts continue with what the cluster holds now.

        A span has just begun: `cut` comes before.
        """
        self.at = now
        for number in list(self._held):
            self._put_out(number)
        for pool in self._pools.values():
            self._count_all(pool.gone())
            self._count_all(pool.capacity.gone())
        self._pools = {group: Pool(books) for group, books in cluster.books.items()}
        self._look_at_hosts(cluster)
        if POOLED in self._pools:
            self._pools[POOLED].capacity.look_at(cluster)
        self._look_at_queues(cluster)
        for number in sorted(cluster.attempts):
            self._put_in(cluster.attempts[number], cluster)
        self._settle()

    def note(self, changes: Iterable[Change], now: int, cluster: Cluster) -> None:
        """Changes that were decided at one instant, not before the one noted last."""
        if now > self.at:
            self._settle()
            self.at = now
            self._look_at_queues(cluster)
        for change in changes:
            handler = _NOTES.get(type(change))
            if handler is not None:
                handler(self, change, cluster)

    def _start(self, change: say.Started, cluster: Cluster) -> None:
        attempt = cluster.attempts.get(change.attempt)
        if attempt is not None:
            self._put_in(attempt, cluster)
            self._look_at_closed(self._held[change.attempt], cluster)

    def _rebook(self, change: say.Rebooked, cluster: Cluster) -> None:
        self._put_out(change.attempt)
        self._put_in(cluster.attempts[change.attempt], cluster)

    def _on_hosts(
        self, change: say.HostSet | say.MachineSeen | say.MachineMissed | say.MachineShut, cluster: Cluster
    ) -> None:
        self._look_at_hosts(cluster)
        if POOLED in self._pools:
            name = change.host if isinstance(change, say.HostSet) else change.machine or cluster.own
            self._pools[POOLED].capacity.look_at(cluster, (name,))

    def _look_at_closed(self, held: _Held, cluster: Cluster) -> None:
        """A unit came to a host, or left it: where that starts nothing, there is as much as is in use."""
        pool = held.leaf.pool
        if pool.is_pooled and pool.capacity.is_closed(held.host):
            pool.capacity.look_at(cluster, (held.host,))

    def _settle(self) -> None:
        """The changes of the latest instant are complete: record the lenders from this instant on."""
        for leaf in self._stale:
            self._line_up(leaf)
        self._stale.clear()
        for pool in self._pools.values():
            self._count_all(pool.settle())
            self._count_all(pool.capacity.changed())

    def _count_all(self, more: Mapping[Key, int]) -> None:
        for key, amount in more.items():
            self._count(key, amount)

    def _look_at_hosts(self, cluster: Cluster) -> None:
        """Hosts may be closed, or have another number of slots."""
        slots = {group: pool for group, pool in self._pools.items() if not pool.is_pooled}
        mine = [(key, host.slots) for key, host in cluster.hosts.items() if key[0] in slots] if slots else []
        closed = {group for (group, host), _ in mine if not cluster.is_open(group, host)}
        whole = Counter[str]()
        for (group, _), number in mine:
            whole[group] += number
        for group, pool in slots.items():
            pool.shrinks, pool.whole = group in closed, whole[group]
            self._measure(cluster, group)

    def _measure(self, cluster: Cluster, group: str) -> None:
        """A group may have another number of slots."""
        pool, slots = self._pools[group], cluster.books[group].slots
        pool.capacity.look_at_slots(slots, pool.whole)
        if slots == pool.slots:
            return
        pool.slots, pool.lines = slots, None
        owned = owned_slots(pool.rows, slots)
        for leaf, row in zip(pool.leaves, pool.rows.leaves, strict=True):
            leaf.owned = owned[row]
            pool.dirty[leaf] = None
            self._shift(leaf)

    def _look_at_queues(self, cluster: Cluster) -> None:
        """Other entries may be in force, or budgets used up: queues deserve other amounts, or are none."""
        pool = self._pools.get(POOLED)
        if pool is None:
            return
        books = cluster.books[POOLED]
        if pool.forces is not None and pool.rows.source.calendar is None and books.spending is None:
            return
        forces = entries_in_force(pool.rows.source, self.at, books.rows.spent)
        if forces is pool.forces:
            return
        pool.forces = forces
        deserved = deserved_now(pool.rows.source, self.at, books.rows.spent)
        mine = sorted(number for number, held in self._held.items() if held.leaf.pool is pool)
        for number in mine:
            self._put_out(number)
        for leaf in pool.leaves:
            leaf.deserved = Deserved(deserved[leaf.path]) if leaf.path in deserved else None
            leaf.amounts = (0,) * len(pool.rows.source.resources)
        pool.use_queues(deserved)
        for number in mine:
            if number in cluster.attempts:
                self._put_in(cluster.attempts[number], cluster)

    # Units of a leaf

    def _put_in(self, attempt: Attempt, cluster: Cluster) -> None:
        """An attempt holds units; it is the latest of its leaf."""
        job = attempt.job
        books = cluster.books[job.resource_group]
        pool = self._pools[job.resource_group]
        leaf = pool.by_path[job.consumer]
        vector = unit_held(books, attempt) if pool.is_pooled else ()
        unit = pool.unit_text(vector) if vector else ""
        own, borrowed = (Key(leaf.path, job.terms.user, job.name, kind, unit) for kind in (OWN, BORROWED))
        terms = (leaf, own, borrowed, attempt.units, attempt.started, vector, attempt.places[0][0])
        held = self._held[attempt.name] = _Held(*terms)
        if not pool.is_pooled:
            self._put_in_slots(attempt.name, held)
        elif leaf.deserved is None:
            self._count_vector(attempt.name, own_part(books, attempt), lent_parts(books, attempt))
        else:
            self._hold_amounts(leaf, times(vector, attempt.units))
            self._count_vector(attempt.name, leaf.deserved.put_in(attempt.name, vector))
            self._note_stale(leaf)

    def _hold_amounts(self, leaf: LeafAccount, more: Vector) -> None:
        """A queue's leaf holds so much more of every resource."""
        leaf.amounts = add(leaf.amounts, more)
        leaf.pool.dirty[leaf] = None

    def _count_vector(self, number: int, own: Vector, lent: Sequence[tuple[str, Vector]] = ()) -> None:
        """So much of a unit of a vector is own, and the rest borrowed; lent: of whose parcels, where there are any."""
        held = self._held[number]
        leaf, rest = held.leaf, less(held.vector, own)
        lenders = [(Key(path, "", "", LENT, ""), part) for path, part in lent]
        parts = ((held.own, own), (held.borrowed, rest), *lenders)
        keys = tuple(key._replace(unit=leaf.pool.unit_text(part)) for key, part in parts if any(part))
        before = leaf.counted.get(number, ())
        if keys != before:
            leaf.counted[number] = keys
            for key in before:
                self._count(key, -held.units)
            for key in keys:
                self._count(key, held.units)

    def _put_in_slots(self, number: int, held: _Held) -> None:
        leaf = held.leaf
        own = max(0, min(held.units, leaf.owned - leaf.used))
        if own:
            leaf.own[number] = own
            self._count(held.own, own)
        if held.units > own:
            leaf.borrowed[number] = held.units - own
            self._count(held.borrowed, held.units - own)
        leaf.used += own
        leaf.held += held.units
        leaf.pool.dirty[leaf] = None

    def _put_out(self, number: int) -> None:
        """An attempt holds nothing any more; later ones of its leaf move up."""
        held = self._held.pop(number)
        leaf = held.leaf
        if leaf.pool.is_pooled:
            for key in leaf.counted.pop(number):
                self._count(key, -held.units)
            if leaf.deserved is not None:
                self._hold_amounts(leaf, times(held.vector, -held.units))
                leaf.deserved.put_out(number)
                self._note_stale(leaf)
            return
        own, borrowed = leaf.own.pop(number, 0), leaf.borrowed.pop(number, 0)
        if own:
            self._count(held.own, -own)
        if borrowed:
            self._count(held.borrowed, -borrowed)
        leaf.used -= own
        leaf.held -= held.units
        leaf.pool.dirty[leaf] = None
        self._shift(leaf)

    def _shift(self, leaf: LeafAccount) -> None:
        """Bring the border between own and borrowed slots to what the leaf owns."""
        while leaf.used < leaf.owned and leaf.borrowed:
            number, units = next(iter(leaf.borrowed.items()))
            self._pass(leaf, number, min(units, leaf.owned - leaf.used))
        while leaf.used > leaf.owned:
            number, units = next(reversed(leaf.own.items()))
            self._pass(leaf, number, -min(units, leaf.used - leaf.owned))
            leaf.borrowed.move_to_end(number, last=False)

    def _note_stale(self, leaf: LeafAccount) -> None:
        if leaf.deserved is not None and leaf.deserved.is_stale:
            self._stale[leaf] = None

    def _line_up(self, leaf: LeafAccount) -> None:
        """Bring the units of a queue's leaf to where they are by the order of their starts."""
        if leaf.deserved is None:  # it is no queue any more
            return
        leaf.deserved.line_up()
        for number, own in leaf.deserved.own.items():
            self._count_vector(number, own)

    def _pass(self, leaf: LeafAccount, number: int, units: int) -> None:
        """Slots of an attempt become own; below 0: borrowed."""
        leaf.used += units
        held = self._held[number]
        for key, side, count in ((held.own, leaf.own, units), (held.borrowed, leaf.borrowed, -units)):
            side[number] = side.get(number, 0) + count
            if not side[number]:
                del side[number]
            self._count(key, count)

    def _count(self, key: Key, units: int) -> None:
        meter = self._meters.get(key)
        if meter is None:
            meter = self._meters[key] = Meter(self.at)
            self.weight += 1
        self.weight += meter.add(units, self.at)

    def _end(self, change: say.Ended, cluster: Cluster) -> None:
        held = self._held.get(change.attempt)
        if held is None:  # it started at this very instant
            return
        if change.then == say.AGAIN and change.reason != YIELDED and self.at > held.started:
            ends = self._lost.setdefault(held.own._replace(kind=LOST), [])
            ends.append((self.at, held.units * (self.at - held.started)))
            self.weight += 1
        self._put_out(change.attempt)
        self._look_at_closed(held, cluster)
        if held.leaf.pool.shrinks:
            self._measure(cluster, held.leaf.pool.group)

    def _move(self, change: say.JobMoved, cluster: Cluster) -> None:
        """A job's attempts go to another leaf, where each takes its place by its start."""
        record = cluster.jobs.get(change.job)
        if record is None:
            return
        pool = self._pools[record.resource_group]
        to = pool.by_path[record.consumer]
        mine = {number for number in record.attempts if number in self._held}
        again = sorted(mine | to.own.keys() | to.borrowed.keys())
        for number in again:
            self._put_out(number)
        for number in again:
            if number in cluster.attempts:
                self._put_in(cluster.attempts[number], cluster)

    def units(self) -> dict[str, str]:
        """Resource → what amounts of it are in, of the plan in force."""
        pool = self._pools.get(POOLED)
        return {} if pool is None else {each.name: each.unit for each in pool.rows.source.resources}

    def prices(self) -> PriceList:
        """Those of the plan in force."""
        return next((pool.rows.source.prices for pool in self._pools.values()), NO_PRICES)

    # Spans

    def span(self, end: int) -> Span:
        """All since the span began, to before `end`, which is not before the latest change."""
        self._settle()
        every = ((key, meter.until(end)) for key, meter in self._meters.items())
        steps = {key: found for key, found in every if found}
        lost = {key: tuple(ends) for key, ends in self._lost.items()}
        return Span(self.begin, end, steps, lost)

    def cut(self, end: int) -> None:
        """A new span begins; the one before was taken by `span`."""
        assert end >= self.at
        self._settle()
        self.begin = self.at = end
        self.weight = 0
        kept = {key: meter for key, meter in self._meters.items() if meter.rate}
        for meter in kept.values():
            meter.close(end)
            meter.steps = []
        self._meters, self._lost = kept, {}

    # For snapshots

    def freeze(self) -> list[Any]:
        """The current span, which a snapshot of the cluster does not contain."""
        return self.span(self.at).document()

    def thaw(self, span: Span) -> None:
        """Take up the span in which a snapshot was taken, right after this was made of the snapshot's cluster."""
        self.begin = span.begin
        for key, steps in span.steps.items():
            meter = self._meters.setdefault(key, Meter(span.end))
            meter.steps = list(steps)
        self._lost = {key: list(ends) for key, ends in span.lost.items()}
        self.weight = sum(map(len, span.steps.values())) + sum(map(len, span.lost.values()))


_NOTES: dict[type, Callable[[Accounting, Any, Cluster], None]] = {
    say.Started: Accounting._start,
    say.Ended: Accounting._end,
    say.Rebooked: Accounting._rebook,
    say.JobMoved: Accounting._move,
    **dict.fromkeys((say.HostSet, say.MachineSeen, say.MachineMissed, say.MachineShut), Accounting._on_hosts),
}
