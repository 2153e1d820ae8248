"""The numbers of queues from a plan and a state (SPEC §7, §11)."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits, total
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.ledger.queues import Queues
from fairhold.rules.pools.siting import could_stand, kinds_of_hosts
from fairhold.rules.queues.request_classes import gather
from fairhold.rules.queues.shares import ROOT, fair_shares, with_children
from fairhold.rules.queues.taking import stand

if TYPE_CHECKING:
    from collections.abc import Collection
    from fractions import Fraction

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks
    from fairhold.ledger.queues import QueueTerms
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.siting import Siting
    from fairhold.model.state import State
    from fairhold.rules.pools.reservations import Ways
    from fairhold.rules.queues.request_classes import Crowds


def open_queues(  # noqa: PLR0917 - what a cycle is of
    plan: Plan,
    entry: PolicyEntry,
    state: State,
    books: PoolBooks,
    members: Collection[int] | None = None,
    crowds: Crowds | None = None,
) -> Queues:
    """What queues ask for and are entitled to; what they hold is left open.

    members : first-level consumers that take part, None = all
    crowds  : the requests of the books, None = nobody has gathered them
    """
    crowds = gather(books) if crowds is None else crowds
    terms = queue_terms_of(plan, entry, members)
    rows = len(plan.tree)
    requested = tuple([0] * rows for _ in terms.resources)
    kinds = kinds_of_hosts(books)
    totals = _totals(plan, entry, state)
    fitting: dict[tuple[Vector, Siting | None], bool] = {}
    sums: dict[tuple[int, Vector], int] = {}
    wanted = [(asked, _units(asked)) for asked in crowds.alone]
    wanted += [(crowd.line[0], crowd.units) for crowd in crowds.all if crowd.line]
    for asked, units in wanted:
        if not asked.held:
            alike = asked.unit, asked.siting
            if alike not in fitting:
                fitting[alike] = could_stand(asked, kinds) or any(fits(asked.unit, each) for each in totals)
            if not fitting[alike]:
                continue
        mine = asked.leaf, asked.unit
        sums[mine] = sums.get(mine, 0) + units
    for (leaf, unit), units in sums.items():
        for at, need in enumerate(unit):
            if need and units:
                for row in terms.above[leaf]:
                    requested[at][row] += need * units
    stated = _stated(terms, entry, state, requested)
    away = chain.from_iterable(there.values() for there in books.away.values())
    have = total((*(_has(host, len(terms.steps)) for host in books.hosts), *away, *totals), len(terms.steps))
    usage = tuple(usage_of(terms, state, at) for at in terms.resources)
    fair = tuple(fair_shares(terms, at, have[at], requested[at], usage[at]) for at in terms.resources)
    return Queues(terms, have, requested, fair, stated=stated, usage=usage)


def _has(host: Machine, width: int) -> Vector:
    """What there is of a host: of one that starts nothing what is booked on it (R-UP-1)."""
    return total((unit.asked.unit for unit in host.units), width) if host.is_closed else host.total


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


def _stated(
    terms: QueueTerms, entry: PolicyEntry, state: State, requested: tuple[list[int], ...]
) -> tuple[list[int], ...]:
    """What is held of which no request is named, by resource and row; what is wanted so is added to `requested`."""
    held = tuple([0] * len(terms.above) for _ in terms.resources)
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
    usage = {row: parts[at] for row, parts in state.usage.items()}
    return with_children(terms, usage) if terms.settings.k else {}


def count_all(books: PoolBooks, queues: Queues) -> Queues:
    """The same numbers with all that is held, units under notice too."""
    found = replace(queues, held=(), fixed=())
    for asked in books.asked.values():
        if asked.held:
            found.add(asked, asked.held)
    return found


def count_moved(books: PoolBooks, queues: Queues, ways: Ways) -> Queues:
    """The same when all that is under notice is gone, and all that is on its way is there."""
    found = replace(queues, held=(), fixed=())
    stand(books, found, ways)
    return found


def _units(asked: PendingRequest) -> int:
    """Units that a request asks for, as far as its user may hold them; at least what it holds."""
    held, count, most = asked.held, asked.model.count, asked.most
    units = count if count < most else most  # noqa: FURB136 - it is asked all the time
    return units if units > held else held  # noqa: FURB136
