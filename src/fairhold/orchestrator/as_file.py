"""The state that a cycle started from, and the decisions of a cycle of vectors, in the terms of a state file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.open import close_books
from fairhold.ledger.vectors import POOLED
from fairhold.model.siting import label_set
from fairhold.model.state import HeldUnits, State
from fairhold.orchestrator.hosts import was_never_seen
from fairhold.orchestrator.vectors import state_of
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan
    from fairhold.model.state import Request
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle

    Line = dict[str, Any]


def decided(cycle: VectorCycle) -> Line:
    """The moves of a cycle, of all entries in force."""
    moves = ("grants", "reclaims", "withdrawn", "observed")
    return {kind: [row for each in cycle.done for row in getattr(each, kind)] for kind in moves}


def slots_as_file(cluster: Cluster, now: int, mine: Books | None = None) -> State:
    """The slots of a live cluster before a cycle, in the terms of a state file.

    mine : books whose cycle it is; None = it is one of vectors

    Its previous cycle is dated now: a unit past its deadline was told to stop and holds its slot until it has ended. So
    the cycle counts it, and a reader of the file must not stop it. Where `max_reclaims` bounds the reclaims of one
    instant, or other windows have opened, its grace is extended by a moment instead.
    """
    slots = {group: each for group, each in cluster.books.items() if each.vectors is None}
    unseen = frozenset(
        name for group, name in cluster.hosts if name and group in slots and was_never_seen(cluster, group, name)
    )
    state = close_books(slots, State(now=now))
    ran: int | None = now
    if mine is not None and _asks_when(mine):
        ran = mine.ran
        notices = tuple(replace(each, deadline=max(each.deadline, now + 1)) for each in state.notices)
        state = replace(state, notices=notices)
    return replace(
        state,
        previous_cycle=ran,
        slots={
            group: each.hosts.slots[0]
            for group, each in slots.items()
            if each.hosts.name == [""] and each.hosts.slots[0] != each.rows.group.slots
        },
        hosts_down=frozenset(
            name
            for each in slots.values()
            for row, name in enumerate(each.hosts.name)
            if name and not each.hosts.up[row]
        )
        | unseen,
        hosts_never_seen=unseen,
        hosts_closed=frozenset(
            name
            for each in slots.values()
            for row in each.hosts.closed
            if (name := each.hosts.name[row]) and each.hosts.up[row]
        )
        - unseen,
        spent={
            (node, group): used[0] // SECOND
            for group, each in slots.items()
            if each.spending is not None
            for node, used in each.spending.used(now).items()
        },
    )


def _asks_when(books: Books) -> bool:
    """Whether a cycle of slots depends on when the one before it was: other windows, or so many reclaims an instant."""
    has_bound = any(each.settings.max_reclaims for each in books.rows.entries)
    return books.vectors is None and bool(books.before or has_bound)


def whole_as_file(cluster: Cluster, now: int, mine: Books | None = None) -> State:
    """A live cluster before a cycle, slots and vectors, in the terms of a state file.

    mine : as in `slots_as_file`; None = books for which the instant of the cycle before matters, if there are such
    """
    state = slots_as_file(cluster, now, mine or next(filter(_asks_when, cluster.books.values()), None))
    return together(state, as_file(state_of(cluster, now))) if POOLED in cluster.books else state


def on_planned_hosts(plan: Plan, state: State) -> tuple[State, list[str]]:
    """A state without what is held on hosts that the plan does not have, and these hosts.

    Requests want so many units fewer, as those run elsewhere.
    """
    planned = {"", *(host.name for group in plan.resource_groups.values() for host in group.hosts)}
    strange = [each for each in state.allocations if each.host not in planned]
    state = replace(
        state,
        hosts_down=state.hosts_down & planned,
        hosts_never_seen=state.hosts_never_seen & planned,
        hosts_closed=state.hosts_closed & planned,
    )
    if not strange:
        return state, []
    elsewhere: Counter[str] = Counter()
    for each in strange:
        elsewhere[each.request] += each.units
    left = tuple(each for each in state.requests if each.count > elsewhere[each.id])
    ids = {each.id for each in left}
    return replace(
        state,
        requests=tuple(_fewer(each, elsewhere[each.id]) for each in left),
        allocations=tuple(each for each in state.allocations if each.host in planned),
        notices=tuple(
            each if each.taker_request in {"", *ids} else replace(each, taker_request="")
            for each in state.notices
            if each.host in planned
        ),
        held=tuple(each for each in state.held if each.host in planned and each.request in ids),
    ), list(dict.fromkeys(each.host for each in strange))


def _fewer(request: Request, units: int) -> Request:
    count = request.count - units
    return replace(request, count=count, min_count=min(request.min_count, count))


def is_sayable(mine: Books) -> bool:
    """Whether a file can say which hosts a group of slots has: all as the plan says, but for those down or closed.

    No file says what agents say of their machines, nor that the one machine of a group without hosts is closed.
    """
    hosts, told = mine.hosts, mine.rows.group.hosts
    if not told:
        return not hosts.closed
    return [*hosts.name] == [each.name for each in told] and all(
        not hosts.up[row]
        or (
            hosts.slots[row] == (min(each.slots, hosts.used[row]) if row in hosts.closed else each.slots)
            and hosts.labels.get(row, frozenset()) == label_set(each.labels)
        )
        for row, each in enumerate(told)
    )


def as_file(state: State) -> State:
    """A state of a live cluster without what only the cluster knows: numbers of attempts, what was given back since.

    Notices name their units; what was given back for a taker is held for it. Its previous cycle is dated now: an
    attempt past its deadline was told to stop and still holds its unit, so a reader of the file must not stop it.
    """
    units = {each.attempt: each for each in state.allocations}
    notices = tuple(
        replace(
            noun,
            started=units[noun.attempt].started,
            pool=units[noun.attempt].pool,
            lenders=units[noun.attempt].lenders,
            parts=units[noun.attempt].parts,
            attempt=0,
        )
        for noun in state.notices
    )
    held = {(each.request, each.host) for each in state.held}
    wanted = {request.id: request.count for request in state.requests}
    for allocation in state.allocations:
        wanted[allocation.request] -= allocation.units
    freed = [
        HeldUnits(request, host, wanted[request])
        for request, host in state.freed
        if (request, host) not in held and wanted.get(request, 0) > 0
    ]
    return replace(
        state,
        allocations=tuple(each._replace(attempt=0) for each in state.allocations),
        notices=notices,
        held=(*state.held, *freed),
        freed=(),
        hosts_closed=state.hosts_closed - state.hosts_down,
        is_settled=False,
        previous_cycle=state.now,
    )


def together(slots: State, vectors: State) -> State:
    """One state of the slots and of the vectors of a cluster."""
    return replace(
        slots,
        hosts_down=slots.hosts_down | vectors.hosts_down,
        hosts_never_seen=slots.hosts_never_seen | vectors.hosts_never_seen,
        hosts_closed=slots.hosts_closed | vectors.hosts_closed,
        requests=(*slots.requests, *vectors.requests),
        allocations=(*slots.allocations, *vectors.allocations),
        notices=(*slots.notices, *vectors.notices),
        held=(*slots.held, *vectors.held),
        shortages=(*slots.shortages, *vectors.shortages),
        previous_cycle=slots.now if slots.previous_cycle is None else slots.previous_cycle,
        ownership=vectors.ownership,
        own_entries=vectors.own_entries,
        spent_amounts=vectors.spent_amounts,
        usage=vectors.usage,
    )
