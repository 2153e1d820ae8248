"""What a private pool has lent up, and stands idle, is its own where one of its leaves waits (R-LEND-5)."""

from __future__ import annotations

from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import state_document
from tests.pools.asking import explained
from tests.pools.small import inputs, of, on, own, run, taken
from tests.pools.truths import second_cycle

Json = dict[str, Any]
MEMORY: Json = {"cpu": {}, "memory": {}}
A: Json = {"/A": own(hosts=1), "/A/a": {}, "/A/b": {"share_priority": 1}, "/Z": {}}
ONE: Json = {"h0": {"cpu": 8, "memory": 16}}
HOLDS = of("/A/a", 2, {"cpu": 1, "memory": 8})
WANTS = of("/A/b", 1, {"cpu": 4, "memory": 2})
FULL = [on("h0", "a", 2, "/A")]


def settled(*args: Any, **more: Any) -> Json:
    """What a cycle decides, if it is verified, and a second one decides nothing."""
    plan, state = inputs(*args, **more)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert list(second_cycle(plan, cycle)) == []
    assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()
    return cycle.document


def test_r_lend_5_what_nobody_borrows_counts_beside_what_victims_free() -> None:
    """a holds all memory and 2 CPUs of the host; b takes memory from a, and the CPUs that /A lends to nobody."""
    done = settled(A, [HOLDS, WANTS], FULL, hosts=ONE, resources=MEMORY)
    assert [(row["request"], row["units"], row["for"]) for row in done["reclaims"]] == [("a", 1, "b")]
    mine = done["pools"]["/A"]
    assert mine["amounts"] == {"cpu": "8", "memory": "16"}
    assert mine["consumers"]["/A/b"]["usage_quota"] == mine["consumers"]["/A/a"]["usage_quota"] == "1/2"


def test_r_lend_5_what_others_have_borrowed_does_not_count() -> None:
    """Of 3 CPUs no unit of 4 would ever stand in the pool; what Z frees is not put together with what a does."""
    lent = [*FULL, on("h0", "Z", 5, A=5)]
    done = settled(A, [HOLDS, WANTS, of("/Z", 5)], lent, hosts=ONE, resources=MEMORY)
    assert done["pools"]["/A"]["amounts"] == {"cpu": "3", "memory": "16"}
    assert done["reclaims"] == []


def test_r_lend_5_where_nobody_inside_waits_it_is_no_part_of_the_pool() -> None:
    """Its capacity is what it uses; the public pool has the rest."""
    done = settled(A, [HOLDS, of("/Z", 9)], FULL, hosts=ONE, resources=MEMORY)
    assert done["pools"]["/A"]["amounts"] == {"cpu": "2", "memory": "16"}


def test_r_lend_5_no_more_are_stopped_than_needed_beside_it() -> None:
    """Each unit of a1 frees memory for 4 units of b2: one on h0 and one on h1 are enough for all 7, with idle CPUs."""
    consumers: Json = {"/A": own(hosts=3), "/A/a": {"reclaim_grace": "45s"}, "/A/b": {"share_ratio": 2}, "/B": {}}
    hosts = {
        "h0": {"cpu": 8, "memory": 16},
        "h1": {"cpu": 16, "memory": 32, "gpu": 4},
        "h2": {"cpu": 8, "memory": 32, "gpu": 4},
    }
    wants = [
        of("/A/a", 10, {"cpu": 4, "memory": 16}, name="a1"),
        of("/A/b", 7, {"cpu": 2, "memory": 4}, name="b2", submitted="2026-01-05T08:00:00Z"),
    ]
    stands = [on("h0", "a1", 1, "/A"), on("h1", "a1", 2, "/A"), on("h2", "a1", 2, "/A")]
    done = settled(consumers, wants, stands, hosts=hosts, resources=MEMORY | {"gpu": {}})
    assert [(row["request"], row["host"], row["units"], row["for"]) for row in done["reclaims"]] == [
        ("a1", "h0", 1, "b2"),
        ("a1", "h1", 1, "b2"),
    ]
    held = run(consumers, wants, stands, hosts=hosts, resources=MEMORY | {"gpu": {}}).after.held
    assert [(row.request, row.host, row.units) for row in held] == [("b2", "h0", 4), ("b2", "h1", 3)]
    quotas = {path: row["usage_quota"] for path, row in done["pools"]["/A"]["consumers"].items()}
    assert quotas == {"/A": "1", "/A/a": "9/16", "/A/b": "7/16"}


def test_r_lend_5_what_is_reserved_below_is_no_part_of_it() -> None:
    hosts = {"h0": {"cpu": 8, "memory": 17}}

    def goes(**more: bool) -> list[tuple[Any, ...]]:
        consumers = A | {"/A/c": own(per_host={"cpu": 6, "memory": 1}, **more)}
        return taken(consumers, [HOLDS, WANTS], FULL, hosts=hosts, resources=MEMORY)

    assert goes(reserved=True) == []
    assert goes() == [("a", "h0", 1, "b", 0)]


def test_r_lend_5_what_it_lent_up_is_told_as_its_own() -> None:
    told = explained("/A/b", A, [HOLDS, WANTS], FULL, hosts=ONE, resources=MEMORY)
    mine = next(pool for pool in told["pools"] if pool["pool"] == "/A")
    assert (mine["amounts"], mine["lent_out"]) == ({"cpu": "8", "memory": "16"}, {"cpu": "0", "memory": "0"})
    assert [(each["host"], each["pool"]) for each in told["requests"][0]["coming"]] == [("h0", "/A")]
