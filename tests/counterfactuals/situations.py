"""Random plans with the states that some cycles leave: with notices, what is held for others, and who owns what."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import state_document
from fairhold.units import SECOND
from tests.pools.strategies import read

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]


@st.composite
def situations(
    draw: st.DrawFn, stories: Callable[[], st.SearchStrategy[tuple[Json, Json, list[Json]]]]
) -> tuple[Json, Json]:
    """The files of a plan and a state after none to two cycles."""
    plan, document, turns = draw(stories())
    for turn in turns[: draw(st.integers(0, 2))]:
        parsed, state = read(plan, document)
        after = run_cycle(parsed, state).after
        document = state_document(parsed, replace(after, now=after.now + turn["seconds"] * SECOND))
    return plan, document
