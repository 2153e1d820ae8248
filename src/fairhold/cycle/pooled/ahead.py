"""What pools take back at coming instants, if nobody wants more or less and nothing ends by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.joining import run_entries, with_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
MOST_CYCLES = 10_000
"""Cycles between two instants at most; under constant demand they end long before."""


def reclaims_ahead(plan: Plan, state: State, instants: Iterable[int]) -> Iterator[list[Document]]:
    """The reclaims of the cycles at instants after a state's own, rising.

    Others run between, where a grace runs out or controls have left something.
    """
    due: list[int] = []
    has_vectors = any(request.unit for request in state.requests)
    if has_vectors:
        state, _, due = _cycle_at(plan, state, state.now)
    for instant in instants:
        reclaims: list[Document] = []
        for _ in range(MOST_CYCLES if has_vectors else 0):
            dues = (notice.deadline for notice in state.notices if notice.host not in state.hosts_down)
            now = min(instant, max(min([*dues, *due], default=instant), state.now + 1))
            state, reclaims, due = _cycle_at(plan, state, now)
            if now == instant:
                break
        yield reclaims


def _cycle_at(plan: Plan, state: State, now: int) -> tuple[State, list[Document], list[int]]:
    """The vectors of a state after a cycle, what it reclaims, and instants at which controls ask for another."""
    state = replace(state, now=now)
    cycles = run_entries(plan, state)
    empty = replace(state, requests=(), allocations=(), notices=(), held=(), shortages=(), previous_cycle=now)
    dues = [cycle.due for _, cycle in cycles if cycle.due is not None]
    return with_vectors(empty, state, cycles), [row for _, cycle in cycles for row in cycle.reclaims], dues
