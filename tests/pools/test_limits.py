"""Share limits: what goes first, what counts, what is withdrawn (R-LIMIT-2, R-LIMIT-3, R-NOTICE-2)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import state_document
from fairhold.units import SECOND
from tests.pools.small import inputs, of, on, own, placed, run, taken
from tests.pools.truths import MOVES, second_cycle

SOON = "2026-01-05T09:00:30Z"


def test_r_limit_3_what_breaks_no_gang_goes_first() -> None:
    asked = [
        of("/A", 1, name="single", submitted="2026-01-05T08:00:00Z"),
        of("/A", 2, name="gang", min_count=2, submitted="2026-01-05T08:30:00Z"),
    ]
    found = taken({"/A": {"share_limit": {"cpu": 2}}}, asked, [on("h0", "single", 1), on("h0", "gang", 2)])
    assert found == [("single", "h0", 1, None, 0)]


def test_r_limit_3_pools_of_different_size_are_compared_by_usage() -> None:
    consumers = {
        "/A": {"share_limit": {"cpu": 4}, **own(hosts=2)},
        "/A/x": own(hosts=["h0"], reserved=True),
        "/A/x/1": {},
        "/A/y": own(hosts=["h1"], reserved=True),
        "/A/y/1": {},
    }
    asked = [of("/A/x/1", 2, name="x"), of("/A/y/1", 3, name="y")]
    stands = [on("h0", "x", 2, "/A/x"), on("h1", "y", 3, "/A/y")]
    found = taken(consumers, asked, stands, hosts={"h0": 4, "h1": 8})
    assert found == [("x", "h0", 1, None, 0)]  # 2 of 4 is more than 3 of 8


def test_r_limit_2_a_limit_above_a_private_pool_counts_in_it() -> None:
    consumers: dict[str, Any] = {"/A": {"share_limit": {"cpu": 2}, **own(hosts=1)}, "/A/x": {}, "/A/x/1": {}}
    consumers["/A/x"] = own(hosts=1, reserved=True)
    plan, state = inputs(consumers, [of("/A/x/1", 4)], hosts={"h0": 4})
    found = quota_document(plan, state)["pools"]["/A/x"]["consumers"]
    assert found["/A/x/1"]["usage_demand"] == "1/2"


def test_r_notice_2_what_is_withdrawn_counts_under_the_limit() -> None:
    notices = [
        {"request": "B", "host": "h0", "units": 1, "for": "T", "deadline": SOON},
        {"request": "B", "host": "h0", "units": 1, "deadline": SOON, "reason": "limit"},
    ]
    document = run(
        {"/B": {"share_limit": {"cpu": 2}, "reclaim_grace": "30s"}, "/T": {}},
        [of("/B", 3), of("/T", 1)],
        [on("h0", "B", 3), on("h1", "T", 1)],
        reclaims=notices,
    ).document
    assert [(row["request"], row["units"]) for row in document["withdrawn"]] == [("B", 1)]
    assert document["reclaims"] == []


LIMITED: dict[str, Any] = {"/C": {"share_limit": {"cpu": 4}}, "/C/x": {}, "/C/y": {}}
PAIR = LIMITED | {"/C/y": {"share_priority": 1}}


def moves_until_rest(*args: Any, **more: Any) -> list[list[tuple[str, str, str, int]]]:
    """What cycle after cycle moves, one second apart, until nothing does; each is checked."""
    plan, state = inputs(*args, **more)
    found: list[list[tuple[str, str, str, int]]] = []
    while len(found) < 9 and (not found or found[-1]):
        cycle = run_cycle(plan, state)
        assert list(second_cycle(plan, cycle)) == []
        result = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
        assert not verify(plan, state, result)
        found.append(
            [(kind, row["request"], row["host"], row["units"]) for kind in MOVES for row in cycle.document[kind]]
        )
        state = replace(cycle.after, now=state.now + SECOND)
    return found


def test_r_limit_1_what_is_held_for_one_is_not_filled_by_another() -> None:
    held = [{"request": "x", "host": "h0", "units": 1}]
    found = moves_until_rest(PAIR, [of("/C/x", 4), of("/C/y", 3)], [on("h1", "y", 3)], held=held)
    assert found == [[("grants", "x", "h0", 1)], []]


def test_r_limit_1_what_is_on_its_way_counts_for_others_and_not_for_itself() -> None:
    consumers = LIMITED | {"/V": {"reclaim_grace": "30s"}}
    wants = [of("/C/x", 2, 2), of("/C/y", 2), of("/V", 2, 2)]
    notices = [{"request": "V", "host": "h0", "units": 1, "for": "x", "deadline": SOON}]
    more: dict[str, Any] = {"reclaims": notices, "held": [{"request": "x", "host": "h0", "units": 1}]}
    stands = [on("h0", "V", 2), on("h1", "y", 1)]
    assert placed(consumers, wants[1:], stands, hosts={"h0": 4, "h1": 2}) == [("y", "h1", 1, "/")]
    limited = consumers | {"/C": {"share_limit": {"cpu": 2}}}
    assert placed(limited, wants, stands, hosts={"h0": 4, "h1": 2}, **more) == [("y", "h1", 1, "/")]
    assert placed(limited, wants, stands[:1], hosts={"h0": 4, "h1": 2}, **more) == [("x", "h1", 1, "/")]


def test_r_notice_2_what_is_on_its_way_beyond_a_limit_is_let_go() -> None:
    held = [{"request": "x", "host": "h0", "units": 2}]
    wants = [of("/C/x", 4), of("/C/y", 3)]
    assert moves_until_rest(PAIR, wants, [on("h1", "y", 3)], held=held)[0] == [("grants", "x", "h0", 1)]


GPUS = {"cpu": 1, "gpu": 1}
LENT_IN_PART = {"stands_on": {"/A": {"gpu": 1}, "/B": {"cpu": 1}}}


def test_r_limit_1_what_an_owner_takes_back_is_its_own_whatever_else_its_borrowers_stand_on() -> None:
    """The units of B use GPUs of A and CPUs of B: A has its own CPUs, which are held for it beside the GPUs."""
    half = own(per_host={"cpu": "50%", "gpu": "50%"})
    wants = [of("/A", 2, GPUS), of("/B", 4, GPUS), of("/B", 4, name="more")]
    lent = on("h0", "B", 2, A=2) | LENT_IN_PART
    hosts = {"h0": {"cpu": 8, "gpu": 4}}
    plan, state = inputs({"/A": half | {"share_limit": {"gpu": 0}}, "/B": half}, wants, [lent], hosts=hosts)
    cycle = run_cycle(plan, state)
    assert [(row["request"], row["units"], row["for"]) for row in cycle.document["reclaims"]] == [("B", 2, "A")]
    assert [(row["request"], row["units"]) for row in cycle.document["grants"]] == [("B", 2), ("more", 2)]
    assert list(second_cycle(plan, cycle)) == []
    result = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    assert not verify(plan, state, result)
    later = run_cycle(plan, replace(cycle.after, now=state.now + SECOND)).document
    assert [(row["request"], row["units"], row["pool"]) for row in later["grants"]] == [
        ("A", 2, "own"),
        ("more", 2, "own"),
    ]


def test_r_limit_1_what_goes_for_an_owner_brings_no_more_than_its_limit_beside_its_own() -> None:
    """B's unit frees a GPU of A and one of nobody: A has a CPU of its own for the one, and may not use the other."""
    part = own(per_host={"cpu": 1, "gpu": 1})
    hosts = {"h0": {"cpu": 4, "gpu": 2}}
    large = on("h0", "B", 1, A=1) | {"stands_on": {"/A": {"gpu": 1}, "/": {"cpu": 3, "gpu": 1}}}
    wants = [of("/A", 2, GPUS), of("/B", 1, {"cpu": 3, "gpu": 2})]
    for limit, units in ((0, 1), (1, 1), (2, 2)):
        cycle = run({"/A": part | {"share_limit": {"gpu": limit}}, "/B": {}}, wants, [large], hosts=hosts)
        assert [row.units for row in cycle.after.held] == [units]
