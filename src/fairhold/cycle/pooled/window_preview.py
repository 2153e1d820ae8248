"""Cycles of pools at coming instants, if demand stays the same and no unit ends by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.merge_results import Cycles, run_entries, with_vectors
from fairhold.cycle.pooled.open import entries_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

MOST_CYCLES = 10_000
"""Cycles between two instants at most; under constant demand they end long before."""


def pooled_ahead(plan: Plan, state: State, instants: Iterable[int]) -> Iterator[Cycles]:
    """The cycles at instants after a state's own, rising.

    Further cycles run in between, where a grace runs out or controls have left something.
    """
    cycles: Cycles = ()
    has_vectors = bool(entries_of(plan))
    if has_vectors:
        state, cycles = _cycle_at(plan, state, state.now)
    for instant in instants:
        for _ in range(MOST_CYCLES if has_vectors else 0):
            dues = (notice.deadline for notice in state.notices if notice.host not in state.hosts_down)
            later = (cycle.due for _, cycle in cycles if cycle.due is not None)
            now = min(instant, max(min([*dues, *later], default=instant), state.now + 1))
            state, cycles = _cycle_at(plan, state, now)
            if now == instant:
                break
        yield cycles


def _cycle_at(plan: Plan, state: State, now: int) -> tuple[State, Cycles]:
    """The vectors of a state after a cycle, and what it decided."""
    state = replace(state, now=now)
    cycles = run_entries(plan, state)
    empty = replace(state, requests=(), allocations=(), notices=(), held=(), shortages=(), previous_cycle=now)
    return with_vectors(empty, state, cycles), cycles
