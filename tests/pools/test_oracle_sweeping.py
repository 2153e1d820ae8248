"""The first sweep against its slow oracle: who has which unit on which host, in which order (SPEC §6.1-6.5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings

from fairhold.planio.state import state_document
from tests.oracles.parcels import World
from tests.oracles.sweeping import FirstSweep
from tests.oracles.taking import SecondSweep
from tests.pools.lending import EventTrace, stories
from tests.pools.strategies import read

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Json = dict[str, Any]


@settings(max_examples=33, derandomize=True)
@given(stories())
def test_what_is_idle_goes_out_as_the_oracle_says(story: EventTrace) -> None:
    """First from nothing, then beside what stands; where something is taken back, see `test_oracle_taking.py`."""
    for state, cycle in story.cycles():
        oracle = FirstSweep(story.plan, state, cycle.document["ownership"])
        oracle.sweep()
        if not cycle.document["reclaims"] and not places_in_vain(story, state, cycle):
            assert [(unit.wish.id, unit.host, unit.pool) for unit in oracle.placed] == placed(cycle)
            after = state_document(read(story.plan, state)[0], cycle.after)
            assert told(oracle) == told(World(story.plan, after, cycle.document["ownership"]))
            compare_pools(oracle, cycle.document)


def places_in_vain(story: EventTrace, state: Json, cycle: Cycle) -> bool:
    """Whether something of the first sweep would go in the second one: it is not placed then (R-SWEEP-3)."""
    oracle = SecondSweep(story.plan, state, cycle.document["ownership"])
    oracle.sweep()
    oracle.reclaim()
    return oracle.is_in_vain


def placed(cycle: Cycle) -> list[tuple[str, str, str]]:
    """What a cycle grants, unit by unit."""
    rows = cycle.document["grants"]
    return [(row["request"], row["host"], row["pool"]) for row in rows for _ in range(row["units"])]


def compare_pools(oracle: FirstSweep, done: Json) -> None:
    for pool, has in done["pools"].items():
        table, quotas = has["consumers"], oracle.quotas(pool)
        found = {path: (row["usage"], row["usage_demand"], row["usage_quota"]) for path, row in table.items()}
        assert found == {
            path: tuple(map(str, (oracle.usage(path, pool), oracle.demand(path, pool), quotas[path])))
            for path in quotas
        }, pool


def told(world: World) -> Counter[tuple[Any, ...]]:
    """Where all units stand, and what each uses of whose."""
    return Counter(
        (unit.wish.id, unit.host, unit.pool, *sorted((parcel.owner, part) for parcel, part in unit.books.items()))
        for unit in world.units()
    )
