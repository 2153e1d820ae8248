"""Usage history of queues of a live cluster, booked at starts and ends, kept over restarts and plans (R-HISTORY-1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.kernels.vectors import less, total
from fairhold.ledger.history import CAPACITY
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amount_text
from fairhold.orchestrator.hosts import what_there_is

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.history import History
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster

    Document = dict[str, Any]


def count_use(cluster: Cluster, attempt: Attempt, units: int, now: int) -> None:
    """An attempt holds its unit from now on, or not any more where `units` is below 0; for its job's leaf."""
    histories = _histories(cluster) if attempt.job.resource_group == POOLED else ()
    if not histories:
        return
    books, host = cluster.books[POOLED], attempt.places[0][0]
    assert books.vectors is not None
    unit = books.vectors.unit(attempt.job.terms.unit)
    assert unit is not None, "a plan in force has the units of all its jobs"
    for history in histories:
        if host in history.hosts:
            if history.meters[CAPACITY].since is None or not cluster.is_open(POOLED, host):
                _look_at(cluster, history, host, now)
            history.hold(books.rows.by_path[attempt.job.consumer], unit, units, now)


def count_capacity(cluster: Cluster, now: int, hosts: Iterable[str]) -> None:
    """Hosts may be there or not from now on."""
    for history in _histories(cluster):
        for host in hosts:
            _look_at(cluster, history, host, now)


def _look_at(cluster: Cluster, history: History, name: str, now: int) -> None:
    """There may be another amount of a host from now on; of the others, what was found last."""
    if not history.there:
        history.there = _what_there_is(cluster, history)
        history.have(_sum(cluster, history.there), now)
        return
    amounts = history.meters[CAPACITY].rate
    if (host := history.hosts.get(name)) is not None:
        before = history.there[name]
        found = history.there[name] = what_there_is(cluster, host, cluster.books[POOLED].rows.source.resources)
        amounts = [rate + more for rate, more in zip(amounts, less(found, before), strict=True)]
    history.have(amounts, now)


def _histories(cluster: Cluster) -> tuple[History, ...]:
    vectors = cluster.books[POOLED].vectors if POOLED in cluster.books else None
    return () if vectors is None else vectors.histories


def _what_there_is(cluster: Cluster, history: History) -> dict[str, Vector]:
    """By host and resource, what there is to divide, overcommitment counted (R-UP-1)."""
    resources = cluster.books[POOLED].rows.source.resources
    return {name: what_there_is(cluster, host, resources) for name, host in history.hosts.items()}


def _sum(cluster: Cluster, there: Mapping[str, Vector]) -> list[int]:
    return list(total(there.values(), len(cluster.books[POOLED].rows.source.resources)))


def usage_now(books: Books, now: int) -> dict[int, tuple[Fraction, ...]]:
    """Row of a leaf → its usage by the entry in force, where history counts (R-QUEUE-4)."""
    vectors = books.vectors
    if vectors is None or not any(history.is_counted for history in vectors.histories):
        return {}
    of_entry = {history.at: history for history in vectors.histories if history.is_counted}
    top = books.rows.source.tree.first_level
    found: dict[int, tuple[Fraction, ...]] = {}
    for force in entries_in_force(books.rows.source, now):
        if force.at in of_entry:
            usage = of_entry[force.at].usage(now)
            found |= {leaf: parts for leaf, parts in usage.items() if top[leaf] in force.members}
    return found


class Borders:
    """When history can change a share by time alone: at the end of a step, while a job waits (R-HISTORY-3)."""

    def __init__(self, books: Books | None) -> None:
        self._books = books
        histories = books.vectors.histories if books is not None and books.vectors is not None else ()
        self._counted = [history for history in histories if history.is_counted]
        self._due: int | None = None
        self.may_come = bool(self._counted)

    def next(self, now: int) -> int | None:
        """The next border; None = nobody waits."""
        if not self._is_waiting():
            return None
        if self._due is None:
            self._due = min(history.steps.of(now)[1] for history in self._counted)
        return self._due

    def take(self, now: int) -> bool:
        """Whether a border has been reached and somebody waits; the next one is looked for then."""
        if self._due is None or now < self._due:
            return False
        self._due = None
        return self._is_waiting()

    def _is_waiting(self) -> bool:
        books = self._books
        return books is not None and sum(books.demand) > sum(books.held)


def count_rates(cluster: Cluster) -> None:
    """What leaves hold now, into empty histories of another plan; `restore_histories` says since when."""
    histories = _histories(cluster)
    held = Counter(
        (attempt.places[0][0], attempt.job.consumer, attempt.job.terms.unit)
        for attempt in (cluster.attempts.values() if histories else ())
        if attempt.job.terms.resource_group == POOLED
    )
    for (host, leaf, told), units in held.items():
        books = cluster.books[POOLED]
        assert books.vectors is not None
        unit = books.vectors.unit(told)
        assert unit is not None, "a plan in force has the units of all its jobs"
        for history in histories:
            if host in history.hosts:
                history.hold(books.rows.source.tree.rows[leaf], unit, units, cluster.now)


# Snapshots


def freeze_histories(cluster: Cluster) -> Document:
    """What was used up to the latest change: by groups, the path of a leaf (`/`: what there was), begin, amounts."""
    histories = _histories(cluster)
    if not histories:
        return {}
    plan = cluster.books[POOLED].rows.source
    found = {}
    for history in histories:
        meters = {}
        for row in sorted(history.meters):
            booked = history.meters[row].until(cluster.now, history.steps)
            if booked or (row == CAPACITY and history.meters[row].since is not None):
                meters[plan.tree.paths[row]] = [[start, *_told(plan, booked[start])] for start in sorted(booked)]
        found[", ".join(history.groups)] = meters
    names = [resource.name for resource in plan.resources]
    return {"usage": {"at": cluster.now, "resources": names, "of": found}}


def _told(plan: Plan, amounts: list[int]) -> list[str]:
    """Amounts times microseconds in declared units: another plan may have other base units."""
    return [amount_text(resource, each) for resource, each in zip(plan.resources, amounts, strict=True)]


def restore_histories(cluster: Cluster, document: Mapping[str, Any], path_of: Callable[[str], str]) -> None:
    """The reverse of `freeze_histories`, as far as groups, leaves and resources are there; what is held counts on.

    path_of : where a consumer is now
    """
    said = document.get("usage")
    started = max((attempt.started for attempt in cluster.attempts.values()), default=0)
    at = started if said is None else said["at"]
    cluster.now = at
    for history in _histories(cluster):
        meters = {} if said is None else said["of"].get(", ".join(history.groups), {})
        for meter in history.meters.values():
            meter.since, meter.booked = at, {}
        for row, booked in _rows(cluster, meters, said, path_of):
            history.carry(row, at, booked)
        capacity = history.meters[CAPACITY]
        # What there is counts from the first use on; before, nothing is said of it.
        has_begun = bool(started) if said is None else "/" in meters
        rate = _sum(cluster, _what_there_is(cluster, history))
        capacity.rate, capacity.since = rate, at if has_begun else None
        history.there = {}  # hosts are looked at again when something happens to one


def _rows(
    cluster: Cluster, meters: Mapping[str, Any], said: Mapping[str, Any] | None, path_of: Callable[[str], str]
) -> Iterator[tuple[int, list[tuple[int, list[int]]]]]:
    plan = cluster.books[POOLED].rows.source
    bases = {resource.name: (at, resource.base) for at, resource in enumerate(plan.resources)}
    for path, booked in meters.items():
        row = plan.tree.rows.get(path_of(path), -1) if path != "/" else CAPACITY
        if row < 0 or said is None:
            continue
        found = []
        for start, *texts in booked:
            amounts = [0] * len(plan.resources)
            for name, text in zip(said["resources"], texts, strict=True):
                if name in bases:
                    at, base = bases[name]
                    amounts[at] = int(Fraction(text) * base)
            found.append((start, amounts))
        yield row, found
