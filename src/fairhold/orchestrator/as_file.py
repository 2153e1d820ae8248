"""The state that a cycle started from as a file can hold it, and what a cycle of vectors decided in a file's words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.model.state import HeldUnits

if TYPE_CHECKING:
    from fairhold.model.state import State
    from fairhold.orchestrator.pooling import VectorCycle

    Line = dict[str, Any]


def decided(cycle: VectorCycle) -> Line:
    """The moves of a cycle, of all entries in force."""
    moves = ("grants", "reclaims", "withdrawn", "observed")
    return {kind: [row for each in cycle.done for row in getattr(each, kind)] for kind in moves}


def as_file(state: State) -> State:
    """A state of a live cluster without what only the cluster knows: numbers of attempts, what was given back since.

    Notices say of which units they are; what was given back for a taker is held for it. Its previous cycle is said to
    be now: what stands past its deadline has been told to stop and holds its unit, and a reader must not settle it.
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
        allocations=tuple(replace(each, attempt=0) for each in state.allocations),
        notices=notices,
        held=(*state.held, *freed),
        freed=(),
        is_settled=False,
        previous_cycle=state.now,
    )


def together(slots: State, vectors: State) -> State:
    """One state of the slots and of the vectors of a cluster."""
    return replace(
        slots,
        hosts_down=slots.hosts_down | vectors.hosts_down,
        requests=(*slots.requests, *vectors.requests),
        allocations=(*slots.allocations, *vectors.allocations),
        notices=(*slots.notices, *vectors.notices),
        held=(*slots.held, *vectors.held),
        shortages=(*slots.shortages, *vectors.shortages),
        previous_cycle=slots.now if slots.previous_cycle is None else slots.previous_cycle,
        ownership=vectors.ownership,
        own_entries=vectors.own_entries,
        usage=vectors.usage,
    )
