"""Whole cycles that begin with what is under notice and held, against their slow oracle (SPEC §6.2, §6.6)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fairhold.planio.state import state_document
from fairhold.units import SECOND, parse_instant
from tests.examples import FEWER
from tests.oracles.cycling import WholeCycle
from tests.pools.lending import EventTrace, stories
from tests.pools.strategies import read
from tests.pools.test_oracle_sweeping import placed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.document import Cycle

Json = dict[str, Any]


@settings(FEWER, derandomize=True)
@given(st.booleans().flatmap(lambda gangs: stories(gangs=gangs, limits=False)))
def test_what_goes_on_with_earlier_notices_is_what_the_oracle_says(story: EventTrace) -> None:
    """Always the same stories: graces run out, units end, takers get places elsewhere; what is held stays theirs."""
    for state, cycle in story.later():
        oracle = WholeCycle(story.plan, state, cycle.document["ownership"])
        oracle.run()
        if oracle.is_in_vain or any(entry.books.unplaced for _, entry in cycle.pooled):
            continue  # what would go at once is not placed (R-SWEEP-3), and all is gone through again
        assert [(unit.wish.id, unit.host, unit.pool) for unit in oracle.placed] == placed(cycle)
        new = [each for each in oracle.notices if each not in oracle.told]  # as before is not told (R-NOTICE-2)
        assert Counter((each.unit.wish.id, each.unit.host, each.taker.id, each.seconds) for each in new) == told(cycle)
        gone = [each for each in oracle.told if each not in oracle.notices]
        withdrawn = cycle.document["withdrawn"]
        assert Counter((each.unit.wish.id, each.unit.host) for each in gone) == units_of(withdrawn)
        after = state_document(read(story.plan, state)[0], cycle.after)
        assert Counter((each.wish.id, each.host) for each in oracle.coming) == units_of(after.get("held", []))


def told(cycle: Cycle) -> Counter[tuple[Any, ...]]:
    """Notices that a cycle gives, with seconds from now."""
    now = parse_instant(cycle.document["now"]) or 0
    found: Counter[tuple[Any, ...]] = Counter()
    for row in cycle.document["reclaims"]:
        seconds = ((parse_instant(row["deadline"]) or 0) - now) // SECOND
        found[row["request"], row["host"], row["for"], seconds] += row["units"]
    return found


def units_of(rows: Iterable[Json]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        found[row["request"], row["host"]] += row["units"]
    return found
