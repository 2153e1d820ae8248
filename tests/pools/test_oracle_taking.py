"""The second sweep against its slow oracle: who takes which units from whom, by when (SPEC §6.6)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fairhold.planio.state import state_document
from fairhold.units import SECOND, parse_instant
from tests.oracles.measuring import Pools
from tests.oracles.parcels import OWN, less
from tests.oracles.taking import SecondSweep
from tests.pools.lending import EventTrace, stories
from tests.pools.strategies import read
from tests.pools.test_oracle_sweeping import placed

Json = dict[str, Any]


KINDS = st.fixed_dictionaries({"gangs": st.booleans(), "limits": st.booleans()})


@settings(derandomize=True)
@given(KINDS.flatmap(lambda kinds: stories(**kinds)))
def test_what_is_taken_back_is_what_the_oracle_says(story: EventTrace) -> None:
    """Always the same stories: with gangs and without, with share limits and without."""
    for state, cycle in story.cycles():
        if any(entry.books.unplaced for _, entry in cycle.pooled):
            continue  # both sweeps were gone through again (R-SWEEP-3), which the oracle does not
        oracle = SecondSweep(story.plan, state, cycle.document["ownership"])
        oracle.sweep()
        oracle.reclaim()
        if oracle.is_in_vain:
            continue  # what would go at once is not placed (R-SWEEP-3), and all is gone through again
        assert [(unit.wish.id, unit.host, unit.pool) for unit in oracle.placed] == placed(cycle)
        now = parse_instant(state["now"]) or 0
        said: Counter[tuple[Any, ...]] = Counter()
        for row in cycle.document["reclaims"]:
            grace = ((parse_instant(row["deadline"]) or 0) - now) // SECOND
            said[row["request"], row["host"], row["for"], grace] += row["units"]
        found = Counter((each.unit.wish.id, each.unit.host, each.taker.id, each.seconds) for each in oracle.notices)
        assert found == said


@settings(max_examples=33, derandomize=True)
@given(stories(gangs=False, limits=True))
def test_nothing_is_stopped_beside_idle_resource_that_its_taker_could_have_used(story: EventTrace) -> None:
    """SPEC §6.2: what is idle, and held for nobody, fits no unit of who takes something."""
    for state, cycle in story.cycles():
        after = state_document(read(story.plan, state)[0], cycle.after)
        world = Pools(story.plan, after, cycle.document["ownership"])
        for name in {row["for"] for row in cycle.document["reclaims"]}:
            wish = world.wishes[name]
            for host in world.hosts:
                used = [unit.wish.unit for unit in world.units() if unit.host == host]
                for row in after.get("held", []):
                    used += [world.wishes[row["request"]].unit] * (row["units"] if row["host"] == host else 0)
                left = less(world.hosts[host], *used)
                is_room = all(have >= need for have, need in zip(left, wish.unit, strict=True))
                mine = [pool for pool in world.pools() if world.is_below(wish.leaf, pool)]
                levels = [OWN, *(pool for pool in mine if world.takes_part(wish.leaf, pool))]
                assert not is_room or not any(world.books_for(wish, pool, host) for pool in levels), (name, host)
