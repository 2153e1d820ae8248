"""Requested and held amounts of queues, kept from cycle to cycle: only changed requests are counted again."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits, total
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.ledger.queues import Queues, is_preemptible
from fairhold.rules.pools.siting import could_stand, kinds_of_hosts
from fairhold.rules.queues.request_classes import RequestClasses
from fairhold.rules.queues.shares import ROOT, FairShares, with_children

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from fractions import Fraction

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.ledger.queues import QueueTerms
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.siting import Siting
    from fairhold.model.state import State

    Columns = tuple[list[int], ...]
    """Base units by resource and row."""
    Counted = tuple[int, int, bool]
    """Units that a request asks for and holds, and whether they are never taken back."""

MOST_KINDS = 1_000
"""Kinds of units of which it is known whether a host could take one; beyond, all are forgotten, and found again."""
_NOTHING: Counted = (0, 0, False)


class QueueLedger:
    """The numbers of all queues of one entry on one set of hosts.

    terms   : settings of the entry; classes: the requests, equal ones together
    """

    def __init__(
        self, plan: Plan, entry: PolicyEntry, state: State, books: PoolBooks, members: Collection[int] | None
    ) -> None:
        """Nobody asks for anything yet.

        members : first-level consumers that take part, None = all
        """
        terms = self.terms = queue_terms_of(plan, entry, members)
        self.classes = RequestClasses()
        self._kinds = kinds_of_hosts(host for host in books.hosts if not host.is_closed)
        self._totals = _totals(plan, entry, state)
        self._fitting: dict[tuple[Vector, Siting | None], bool] = {}
        self._requested, self._fixed = _columns(terms), _columns(terms)
        self._stated = _stated(terms, entry, state, self._requested)
        self._held = tuple(each[:] for each in self._stated)
        self._counted: dict[PendingRequest, Counted] = {}
        self._fixed_requests = 0
        self._shares = FairShares(terms)
        self._closed = [host for host in books.hosts if host.is_closed]
        open_ = (host.total for host in books.hosts if not host.is_closed)
        self._open = total(chain(open_, self._totals), len(terms.steps))

    def open(self, books: PoolBooks, state: State, requests: Iterable[PendingRequest]) -> Queues:
        """How queues stand when a cycle begins.

        requests : those of which something is another than it was, or that are gone
        """
        requests = [*requests, *self.classes.left]
        self.classes.sort(books, requests)
        rows = self._count(books, requests)
        terms, width = self.terms, len(self.terms.steps)
        booked = (unit.asked.unit for host in self._closed for unit in host.units)  # of a host that starts nothing
        away = chain.from_iterable(there.values() for there in books.away.values())
        have = total((self._open, *booked, *away), width)
        usage = tuple(usage_of(terms, state, at) for at in terms.resources)
        fair = tuple(self._shares.divide(at, have[at], self._requested[at], usage[at], rows) for at in terms.resources)
        return Queues(
            terms,
            have,
            self._requested,
            fair,
            stated=self._stated,
            usage=usage,
            before=self._held,
            fixed_before=self._fixed,
            has_fixed=self._fixed_requests > 0,
        )

    def _count(self, books: PoolBooks, requests: Iterable[PendingRequest]) -> set[int]:
        """Count requests again; rows of which something asks for more or less."""
        sums: dict[tuple[int, Vector], list[int]] = {}
        for asked in requests:
            before = self._counted.pop(asked, _NOTHING)
            now = self._of(asked) if books.asked.get(asked.model.id) is asked else _NOTHING
            if now != _NOTHING:
                self._counted[asked] = now
            self._fixed_requests += now[2] - before[2]
            more = sums.setdefault((asked.leaf, asked.unit), [0, 0, 0])
            more[0] += now[0] - before[0]
            more[1] += now[1] - before[1]
            more[2] += now[1] * now[2] - before[1] * before[2]
        rows: set[int] = set()
        for (leaf, unit), more in sums.items():
            above = self.terms.above[leaf]
            if more[0]:
                rows.update(above)
            for column, units in zip((self._requested, self._held, self._fixed), more, strict=True):
                for at, need in enumerate(unit) if units else ():
                    for row in above if need else ():
                        column[at][row] += need * units
        return rows

    def _of(self, asked: PendingRequest) -> Counted:
        """What a request counts; where no host that is up could take a unit of it, what it holds (R-QUEUE-1)."""
        held = asked.held
        alike = asked.unit, asked.siting
        if alike not in self._fitting:
            if len(self._fitting) >= MOST_KINDS:
                self._fitting.clear()
            fitting = any(fits(asked.unit, each) for each in self._totals)
            self._fitting[alike] = fitting or could_stand(asked, self._kinds)
        if self._fitting[alike]:
            return max(held, min(asked.count, asked.most)), held, not is_preemptible(asked)
        return (held, held, not is_preemptible(asked)) if held else _NOTHING


def _columns(terms: QueueTerms) -> Columns:
    return tuple([0] * len(terms.above) for _ in terms.resources)


def _totals(plan: Plan, entry: PolicyEntry, state: State) -> list[Vector]:
    """What may be used of groups of which only totals are known."""
    groups = (plan.resource_groups[name] for name in entry.resource_groups)
    return [
        tuple(
            int(amount * resource.overcommit)
            for amount, resource in zip(state.capacity.get(group.name, group.capacity), plan.resources, strict=True)
        )
        for group in groups
        if group.capacity
    ]


def _stated(terms: QueueTerms, entry: PolicyEntry, state: State, requested: Columns) -> Columns:
    """What is held of which no request is named, by resource and row; what is wanted so is added to `requested`."""
    held = _columns(terms)
    members = frozenset(terms.children[ROOT])
    for leaf, group in {**state.wanted, **state.held_amounts}:
        if group in entry.resource_groups and terms.above[leaf][-2] in members:
            wanted, has = (of.get((leaf, group), ()) for of in (state.wanted, state.held_amounts))
            for at in terms.resources:
                mine = has[at] if has else 0
                most = max(mine, wanted[at] if wanted else 0)
                for row in terms.above[leaf]:
                    held[at][row] += mine
                    requested[at][row] += most
    return held


def usage_of(terms: QueueTerms, state: State, at: int) -> dict[int, Fraction]:
    """Row → decayed usage of one resource as a part of the capacity; nothing where history does not count."""
    return with_children(terms, {row: parts[at] for row, parts in state.usage.items()}) if terms.settings.k else {}
