"""One cycle of a policy entry that shares vectors, and its document (SPEC §6.2, §11)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.close import allocations_of, held_of, notices_of, own_entries_of, parcels_of
from fairhold.cycle.pooled.decide import decide
from fairhold.cycle.pooled.open import open_pools
from fairhold.cycle.pooled.shares import in_units, part_text, planned
from fairhold.cycle.queued.document import oversubscribed, queues_document
from fairhold.cycle.queued.open import count_all, open_queues
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.model.vector import amount_text, amounts_document
from fairhold.rules.pools.infeasible import nearest_host, why_unplaceable
from fairhold.rules.pools.pool_usage import Standing
from fairhold.rules.pools.siting import could_stand, kinds_of_hosts
from fairhold.rules.pools.sweeps import MOST_ROUNDS, private_pools
from fairhold.rules.pools.untouched import lend_unusable
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.cycle.pooled.decide import Decided
    from fairhold.cycle.pooled.pool_ledger import News, PoolLedger
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.ledger.unmet import Unmet
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Allocation, HeldUnits, Shortage, State
    from fairhold.model.state import Notice as NoticeNoun
    from fairhold.model.vector import OwnEntry
    from fairhold.model.vector import Parcel as ParcelNoun
    from fairhold.rules.pools.sweeps import Sweeps

Document = dict[str, Any]
UNSETTLED = {
    "consumer": "/",
    "code": "unsettled",
    "message": (
        f"the cycle stopped after {MOST_ROUNDS} rounds of sweeps with decisions still open: the next cycle continues"
    ),
}
"""A warning that the bound on rounds ended a cycle (R-SWEEP-2)."""


@dataclass(frozen=True)
class PooledCycle:
    """What one cycle of an entry decided, and the parts of the state after it.

    Properties are computed at first use from the books, which must not have changed by then.

    members : first-level consumers that take part, None = all
    """

    plan: Plan
    decided: Decided
    members: Collection[int] | None

    @property
    def books(self) -> PoolBooks:
        """The books after it."""
        return self.decided.books

    @property
    def sweeps(self) -> Sweeps:
        """How each pool is used, and which units are on their way to which request."""
        return self.decided.sweeps

    @cached_property
    def stood(self) -> Queues | None:
        """Under `fair_share`, how queues stood before it, in numbers."""
        return None if self.decided.queues is None else self.decided.queues()

    @property
    def shortages(self) -> tuple[Shortage, ...]:
        """Leaves that miss units and the instant since which they do, where that matters."""
        return self.decided.shortages

    @property
    def due(self) -> int | None:
        """Instant at which another cycle is due as controls leave something for it, None = at none."""
        return self.decided.due

    @cached_property
    def pools(self) -> Document:
        """How each pool stands."""
        standings = self.sweeps.standings
        return _pools(self.plan, (standings[pool] for pool in sorted(standings)), self.members)

    @cached_property
    def queues(self) -> Document:
        """Under `fair_share`, how queues stood before it."""
        return queues_document(self.plan, self.stood) if self.stood else {}

    @cached_property
    def grants(self) -> list[Document]:
        """Units that were placed, in the order of placing."""
        return _grants(self.plan, self.books, self.sweeps.placed)

    @cached_property
    def reclaims(self) -> list[Document]:
        """Units that got notice in this cycle."""
        return _reclaims(self.plan, self.books, self.sweeps.noticed)

    @cached_property
    def observed(self) -> list[Document]:
        """Reclaims that are only reported, without notice (R-CONTROL-4)."""
        return _reclaims(self.plan, self.books, self.decided.observed)

    @cached_property
    def withdrawn(self) -> list[Document]:
        """Units whose notices are withdrawn."""
        return _withdrawn(self.plan, self.books, self.sweeps.withdrawn)

    @cached_property
    def stops(self) -> list[Document]:
        """Units that were stopped because their grace had run out."""
        stops = self.decided.stops
        return [_row(self.plan, self.books, request, host) | {"units": units} for request, host, units in stops]

    @cached_property
    def refused(self) -> list[Document]:
        """Requests that cannot get a unit, or as gangs cannot start."""
        return _refused(self.plan, self.books)

    @cached_property
    def warnings(self) -> list[Document]:
        """What of the plan is not met, and whether something was left to the next cycle."""
        found = [_unmet(self.plan, each) for each in self.books.unmet]
        found += oversubscribed(self.plan, self.stood) if self.stood else []
        return found if self.sweeps.is_settled else [*found, dict(UNSETTLED)]

    @cached_property
    def ownership(self) -> tuple[ParcelNoun, ...]:
        """The owners of parcels."""
        return parcels_of(self.books)

    @cached_property
    def own_entries(self) -> tuple[OwnEntry, ...]:
        """Parcels by entry, where a consumer has several entries under `own`."""
        return own_entries_of(self.books)

    @cached_property
    def allocations(self) -> tuple[Allocation, ...]:
        """What requests hold."""
        return allocations_of(self.plan, self.books)

    @cached_property
    def notices(self) -> tuple[NoticeNoun, ...]:
        """What is under notice."""
        return notices_of(self.plan, self.books)

    @cached_property
    def held(self) -> tuple[HeldUnits, ...]:
        """Space that is held for requests."""
        return held_of(self.sweeps.reservations)


def run_pools(  # noqa: PLR0917 - what a cycle is of
    plan: Plan,
    entry: PolicyEntry,
    state: State,
    members: Collection[int] | None = None,
    ledger: PoolLedger | None = None,
    news: News | None = None,
) -> PooledCycle:
    """Settle, adjust, both sweeps.

    members : first-level consumers that take part, None = all
    ledger, news : of a live cluster, books of the cycle before, of which nothing is read any more, and what was touched
        since; then `state` has no requests and allocations
    """
    return PooledCycle(plan, decide(plan, entry, state, members, ledger, news), members)


def quota_pools(plan: Plan, entry: PolicyEntry, state: State, members: Collection[int] | None = None) -> Document:
    """The usages and quotas of all pools, or the fair shares of all queues, of the state as it is (SPEC §6.2, §7).

    members : first-level consumers that take part, None = all
    """
    books = open_pools(plan, entry, state)
    if entry.policy.has_queues:
        return queues_document(plan, count_all(books, open_queues(plan, entry, state, books, members)))
    pools = private_pools(books)
    for level in [*books.terms.leaves, *pools]:
        lend_unusable(books, level)
    standings = [Standing(books, pool) for pool in sorted([PUBLIC, *pools])]
    for standing in standings:
        standing.divide({asked: asked.waiting for asked in standing.members})
    return _pools(plan, standings, members)


def _name(plan: Plan, pool: int) -> str:
    return "own" if pool == OWN else plan.tree.paths[pool]


def _pools(plan: Plan, standings: Iterable[Standing], members: Collection[int] | None) -> Document:
    mine = plan.tree.children[PUBLIC] if members is None else members
    return {_name(plan, standing.pool): _pool(plan, standing, mine) for standing in standings}


def _pool(plan: Plan, standing: Standing, members: Collection[int]) -> Document:
    """The amounts of a pool, and usage, demand and quota of every consumer in it, as shares and as resources."""
    has, nothing = standing.content, Fraction(0)
    consumers: Document = {}
    for row, amounts in sorted(planned(standing.books.terms, standing.pool, has, members).items()):
        quota = standing.quota.get(row, nothing)
        consumers[plan.tree.paths[row]] = {
            "usage": part_text(standing.usage.get(row, 0), standing.whole),
            "usage_demand": str(standing.demand.get(row, nothing)),
            "usage_quota": str(quota),
            "share_quota": in_units(plan.resources, amounts),
            "approximate_share_quota": in_units(plan.resources, has, quota),
        }
    return {"amounts": in_units(plan.resources, has), "consumers": consumers}


def _row(plan: Plan, books: PoolBooks, request: str, host: str) -> Document:
    """Who holds units, in what group, of what request and where."""
    return {
        "consumer": plan.tree.paths[books.asked[request].leaf],
        "resource_group": books.host_of[host].group,
        "request": request,
        "host": host,
    }


def _grants(plan: Plan, books: PoolBooks, placed: Iterable[Unit]) -> list[Document]:
    """Units in the order of placing; neighbours of one request, on one host and in one pool, in one row."""
    terms, paths = books.terms, plan.tree.paths
    found: list[Document] = []
    lent: list[tuple[Document, dict[int, int]]] = []
    last: Unit | None = None
    for unit in placed:
        asked, host = unit.asked, unit.host
        if last is not None and last.asked is asked and last.host is host and last.pool == unit.pool:
            found[-1]["units"] += 1
        else:
            found.append(
                {
                    "consumer": paths[asked.leaf],
                    "resource_group": host.group,
                    "request": asked.model.id,
                    "host": host.name,
                    "units": 1,
                    "pool": _name(plan, unit.pool),
                }
            )
            last = unit
        for row in unit.lenders(terms) if terms.own else ():
            if not lent or lent[-1][0] is not found[-1]:
                lent.append((found[-1], {}))
            lent[-1][1][row] = lent[-1][1].get(row, 0) + 1
    for document, lenders in lent:
        in_order = sorted(lenders, key=terms.position.__getitem__)
        document["lenders"] = {paths[row]: lenders[row] for row in in_order}
    return found


def _withdrawn(plan: Plan, books: PoolBooks, units: Iterable[Unit]) -> list[Document]:
    found: dict[tuple[str, str], Document] = {}
    for unit in units:
        key = unit.asked.model.id, unit.host.name
        found.setdefault(key, _row(plan, books, *key) | {"units": 0})["units"] += 1
    return list(found.values())


def _reclaims(plan: Plan, books: PoolBooks, noticed: Iterable[Unit]) -> list[Document]:
    found: dict[tuple[str, str, str, int, str], Document] = {}
    for unit in noticed:
        notice = unit.notice
        assert notice is not None
        taker = notice.taker.model.id if notice.taker else None
        key = unit.asked.model.id, unit.host.name, taker or "", notice.deadline, notice.reason
        if key not in found:
            said = {"units": 0, "for": taker, "deadline": format_instant(notice.deadline), "reason": notice.reason}
            found[key] = _row(plan, books, *key[:2]) | said
        found[key]["units"] += 1
    return list(found.values())


def _unmet(plan: Plan, unmet: Unmet) -> Document:
    """A warning that a consumer owns less than its plan says (S2.25-27)."""
    group, (got, planned) = unmet.entry.resource_group, (unmet.got, unmet.planned)
    if isinstance(got, tuple) and isinstance(planned, tuple):
        parts = [
            f"{resource.name} {amount_text(resource, have)} of {amount_text(resource, most)}"
            for resource, have, most in zip(plan.resources, got, planned, strict=True)
            if most
        ]
        message = f"owns {', '.join(parts)} planned of {group}"
    else:
        what = "its part of " if unmet.entry.per_host else ""
        message = f"owns {what}{got} of {planned} hosts planned of {group}"
    return {"consumer": plan.tree.paths[unmet.row], "code": "own-unmet", "message": message}


def _refused(plan: Plan, books: PoolBooks) -> list[Document]:
    """Requests that cannot get a unit on the hosts that are up, though they were empty, and gangs that cannot start."""
    kinds = kinds_of_hosts(books.hosts)
    return [row for asked in books.asked.values() if (row := _refusal(plan, books, asked, kinds))]


def _refusal(plan: Plan, books: PoolBooks, asked: PendingRequest, kinds: list[Machine]) -> Document | None:
    if asked.lacking and not could_stand(asked, kinds):
        because = why_unplaceable(books, asked)
        told: Document = {} if because == "size" else {"because": because}
        near = None if because == "down" else nearest_host(asked, kinds)
        if near is not None:
            host, missing = near
            told["nearest"] = {"host": host.name, "missing": amounts_document(plan.resources, missing)}
        return {"request": asked.model.id, "reason": "unplaceable"} | told
    if asked.never is None:
        return None
    because, units, room = asked.never
    told = {"because": because, "units": units, "room": room}
    return {"request": asked.model.id, "reason": "never-fits"} | told
