"""The golden experiments that are simulated: every policy, alone, changing with windows, and beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.sim.experiment import Experiment, Resizing
from tests.golden.plans import HOSTS as MACHINES
from tests.golden.plans import LISTS, MIXED, OWNED, POOLS, QUEUES, SHARES, entry, more, pools, queues, slots, vectors
from tests.golden.stories import GRADUAL, HOUR, MONDAY, POLITE, outages, scene_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Json = dict[str, Any]

hybrid, shares, lists = entry("hybrid", OWNED), entry("share_ratio", SHARES), LISTS
hosts: Json = {"hosts": MACHINES}
sized = outages("a1", "b2", "a3", hours=6)
failing = outages("g2", "c1", "g4", hours=4)
limits: Json = {
    "/Research": {"budget": {"unit_hours": 12, "period": "day", "then": "lowest_rank"}},
    "/Lab": {"budget": {"unit_hours": 5, "period": "day", "then": "wait"}, "max_run_time": "20m"},
    "/Trading/FX": {"user_limit": 3},
    "/Trading": {"budget": {"unit_hours": 30, "period": "week"}},
}
restrained: Json = {"max_reclaims": 2, "dead_zone": 1, "await_ends": "40s"}
young: Json = {"/Research": {"min_runtime": "5m"}, "/Lab": {"min_runtime": "1m"}}
young_units: Json = {
    "/Research": {"min_runtime": "5m", "user_limit": 4},
    "/Lab": {"min_runtime": "1m", "max_run_time": "20m"},
}
kai = {path: {key: value for key, value in each.items() if key != "limit"} for path, each in QUEUES.items()}
day = "Mon-Fri 09:00-10:30, Mon-Fri 12:00-13:00"
hour = "Mon-Fri 09:00-10:00, Mon-Fri 11:00-12:00"

SCENES: dict[str, Callable[[], Experiment]] = {
    "hybrid": lambda: scene_of(slots(hybrid), 1, 700, 12, work=GRADUAL),
    "hybrid evenly": lambda: scene_of(
        slots(entry("hybrid", OWNED, distribute_evenly=True, victims="oldest", within="fifo")), 2, 400, 6
    ),
    "hybrid keeps its own": lambda: scene_of(
        slots(entry("hybrid", OWNED, disable_reclaim_own=True, victims="lowest_priority")), 3, 400, 6
    ),
    "hybrid resized": lambda: scene_of(
        slots(hybrid),
        4,
        400,
        6,
        resizings=tuple(Resizing(MONDAY + at * HOUR, "compute", size) for at, size in ((1, 14), (3, 40), (4, 26))),
    ),
    "hybrid failing hosts": lambda: scene_of(slots(hybrid, **hosts), 5, 400, 6, outages=sized, work=POLITE),
    "hybrid gangs": lambda: scene_of(
        slots(entry("hybrid", OWNED, hold_after="5m", packing="balanced"), **hosts), 6, 350, 6, gangs=0.5
    ),
    "hybrid gangs, exclusive": lambda: scene_of(
        slots(entry("hybrid", OWNED, hold_after="0s", packing="exclusive"), **hosts), 7, 250, 6, gangs=0.4
    ),
    "share_ratio": lambda: scene_of(slots(shares), 8, 700, 12, work=POLITE),
    "share_ratio of parents": lambda: scene_of(
        slots(entry("share_ratio", SHARES, enforce="parent", entitlement="workload")), 9, 400, 6
    ),
    "share_ratio fixed, gangs": lambda: scene_of(
        slots(entry("share_ratio", SHARES, entitlement="fixed", hold_after="2m"), **hosts),
        10,
        300,
        6,
        gangs=0.5,
        outages=sized,
    ),
    "ownership": lambda: scene_of(slots(entry("ownership", lists)), 11, 700, 12, work=GRADUAL),
    "ownership gangs": lambda: scene_of(
        slots(entry("ownership", lists), **hosts), 12, 300, 6, gangs=0.5, outages=sized
    ),
    "controls": lambda: scene_of(slots(entry("hybrid", more(OWNED, young), **restrained)), 13, 500, 8, work=GRADUAL),
    "controls of shares": lambda: scene_of(
        slots(entry("share_ratio", more(SHARES, young), **restrained), **hosts), 14, 400, 6, gangs=0.2
    ),
    "observed only": lambda: scene_of(slots(entry("ownership", lists, observe_only=True)), 15, 300, 6),
    "budgets": lambda: scene_of(slots(entry("hybrid", more(OWNED, limits))), 16, 500, 16),
    "windows": lambda: scene_of(slots(entry("hybrid", OWNED, window=day, lead="auto"), shares), 17, 500, 8),
    "windows of owners": lambda: scene_of(
        slots(entry("ownership", lists, window=day, lead="3m"), entry("hybrid", OWNED), **hosts),
        18,
        400,
        8,
        gangs=0.2,
        outages=sized,
    ),
    "multidimensional": lambda: scene_of(vectors(pools()), 21, 120, 4, vectors=True, work=GRADUAL),
    "multidimensional gangs": lambda: scene_of(vectors(pools(packing="balanced")), 22, 90, 4, vectors=True, gangs=0.5),
    "multidimensional failing hosts": lambda: scene_of(
        vectors(pools(rebalance_interval="10m", public_pool_grace="45s")),
        23,
        90,
        3,
        vectors=True,
        gangs=0.2,
        outages=failing,
        work=POLITE,
    ),
    "multidimensional controls": lambda: scene_of(
        vectors(pools(more(POOLS, young_units), **restrained, victims="oldest")), 24, 90, 4, vectors=True
    ),
    "multidimensional windows": lambda: scene_of(
        vectors(pools({"/Lab": {"own": [{"resource_group": "pool", "hosts": 3}]}}, hour), pools()),
        25,
        90,
        4,
        vectors=True,
    ),
    "fair_share": lambda: scene_of(vectors(queues()), 26, 300, 6, vectors=True, work=GRADUAL),
    "fair_share gangs": lambda: scene_of(
        vectors(queues(consolidation=True, packing="balanced")), 27, 200, 5, vectors=True, gangs=0.5
    ),
    "fair_share with history": lambda: scene_of(
        vectors(queues(k=2, half_life="1h", usage_window="6h", reclaimer_utilization_multiplier=1.2)),
        28,
        200,
        5,
        vectors=True,
        outages=failing,
    ),
    "fair_share as KAI": lambda: scene_of(
        vectors(queues(kai, division="kai")), 29, 250, 6, vectors=True, gangs=0.2, work=POLITE
    ),
    "fair_share windows": lambda: scene_of(
        vectors(queues({"/Lab": {"deserved": {"gpu": 12, "cpu": 64}}}, hour), queues()), 30, 200, 5, vectors=True
    ),
    "from queues to pools": lambda: scene_of(vectors(queues(window=hour), pools()), 31, 90, 4, vectors=True),
    "groups of all kinds": lambda: scene_of(MIXED, 32, 300, 6, work=GRADUAL),
    "groups of all kinds, vectors": lambda: scene_of(MIXED, 33, 100, 4, vectors=True, gangs=0.2),
}
"""Name → what makes the experiment."""
