"""Gangs that can never start: told as refused, kept out of demand, nothing taken for them (R-GANG-2, R-POOL-3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.pool_requests import called, request_text
from fairhold.cli.pools import ownership_text
from fairhold.cycle.document import run_cycle
from fairhold.runtime.explaining_pools import why
from tests.examples import FEWER
from tests.pools.asking import first, helps
from tests.pools.small import inputs, of, on, own, placed, public, run, taken
from tests.pools.strategies import plans, read, states
from tests.pools.truths import second_cycle

Json = dict[str, Any]
PAIR: Json = {"/A": {}, "/B": {}}
FOUR = {"h0": 2, "h1": 2}
LABELLED = {"h0": {"cpu": 4, "labels": {"ssd": "yes"}}, "h1": {"cpu": 2}}


def refused(*args: Any, **more: Any) -> list[Json]:
    found: list[Json] = run(*args, **more).document["refused"]
    return found


def never(because: str, units: int, room: int, request: str = "A") -> list[Json]:
    told = {"because": because, "units": units, "room": room}
    return [{"request": request, "reason": "never-fits", **told}]


def test_r_gang_2_a_gang_larger_than_all_hosts_is_refused_and_counts_for_nothing() -> None:
    wants = [of("/A", 6, min_count=5), of("/B", 4)]
    assert refused(PAIR, wants, hosts=FOUR) == never("hosts", 5, 4)
    assert {path: row["usage_demand"] for path, row in public(PAIR, wants, hosts=FOUR).items()} == {
        "/": "1",
        "/A": "0",
        "/B": "1",
    }
    better: Json = {"/A": {"share_priority": 1}, "/B": {}}
    assert taken(better, wants, [on("h0", "B", 2), on("h1", "B", 2)], hosts=FOUR) == []
    assert sum(row[2] for row in placed(better, wants, hosts=FOUR)) == 4
    assert refused(PAIR, [of("/A", 4, min_count=4), of("/B", 4)], hosts=FOUR) == []


def test_a_gang_that_runs_is_not_refused_though_it_could_not_start() -> None:
    limited: Json = {"/A": {"share_limit": {"cpu": 1}}, "/B": {}}
    assert refused(limited, [of("/A", 2, min_count=2)], [on("h0", "A", 2)], hosts=FOUR) == []
    assert refused(limited, [of("/A", 2, min_count=2)], [on("h0", "A", 1)], hosts=FOUR) == never("share limit", 1, 0)


@pytest.mark.parametrize(
    ("consumers", "wants", "because", "room"),
    [
        (PAIR, {"place": "pack"}, "hosts", 2),
        (PAIR, {"need": ["ssd"], "unit": {"cpu": 2}}, "hosts", 2),
        ({"/A": {"share_limit": {"cpu": 2}}, "/B": {}}, {}, "share limit", 2),
        ({"/A": {"share_limit": {"cpu": 1}, **own(hosts=["h0"], reserved=True)}, "/B": {}}, {}, "reach", 2),
        ({"/A": {}, "/B": own(hosts=["h0"], reserved=True)}, {}, "reach", 2),
        ({"/A": {"reclaim_grace": "9s"}, "/B": own(hosts=["h0"], lend_grace="5s")}, {}, "reach", 2),
        ({"/A": {"share_ratio": 0}, "/B": {}}, {}, "reach", 0),
        ({"/A": {"user_limit": 2}, "/B": {}}, {"user": "ann"}, "user limit", 2),
    ],
)
def test_r_gang_2_what_is_too_little_is_told(consumers: Json, wants: Json, because: str, room: int) -> None:
    request, hosts = of("/A", 4, min_count=3) | wants, LABELLED if "need" in wants else FOUR
    assert refused(consumers, [request], hosts=hosts) == never(because, 3, room)
    waits = first("/A", consumers, [request], hosts=hosts)["waits"]
    assert (waits["reason"], waits["rule"]) == ("never fits", "R-GANG-2")
    assert waits["never"] == {"because": because, "units": 3, "room": room}
    assert why(waits).startswith("it can never start: 3 units at once, and ")


def test_leftovers_of_its_own_and_a_pool_are_one_level_unless_reserved() -> None:
    wants = [of("/A", 4, min_count=4)]
    assert refused({"/A": own(hosts=["h0"])}, wants, hosts=FOUR) == []
    assert refused({"/A": own(hosts=["h0"], reserved=True)}, wants, hosts=FOUR) == never("reach", 4, 2)
    assert refused({"/A": own(hosts=["h0"]) | {"share_limit": {"cpu": 2}}}, wants, hosts=FOUR) == []


def test_hosts_that_are_down_are_told_and_not_the_size() -> None:
    wants = [of("/A", 4, min_count=4)]
    assert refused(PAIR, wants, hosts=FOUR, hosts_down=["h1"]) == never("down", 4, 2)
    large = of("/B", 1, 4)
    rows = refused(PAIR, [large], hosts={"h0": 4, "h1": 2}, hosts_down=["h0"])
    assert rows == [{"request": "B", "reason": "unplaceable", "because": "down"}]
    other = of("/B", 1, 4, avoid=["ssd"])
    (row,) = refused(PAIR, [other], hosts=LABELLED)
    assert (row["reason"], row["because"]) == ("unplaceable", "labels")
    (row,) = refused(PAIR, [of("/B", 1, 5)], hosts=LABELLED)
    assert row["reason"] == "unplaceable"
    assert "because" not in row


def test_of_a_unit_that_is_too_large_the_nearest_host_is_told_and_what_is_missing_there() -> None:
    """On h1 half of its GPUs are missing, on h2 a third of its CPUs; h0 would do, but has not the label."""
    hosts = {
        "h0": {"cpu": 9, "gpu": 9},
        "h1": {"cpu": 6, "gpu": 1, "labels": {"zone": "a"}},
        "h2": {"cpu": 4, "gpu": 2, "labels": {"zone": "a"}},
    }
    wants = [of("/A", 1, {"cpu": 6, "gpu": 2}, need=["zone"]), of("/B", 1, 10, name="large")]
    rows = run(PAIR, wants, hosts=hosts)
    near, other = [row["nearest"] for row in rows.document["refused"]]
    assert near == {"host": "h2", "missing": {"cpu": 2}}
    assert other == {"host": "h0", "missing": {"cpu": 1}}
    text = ownership_text(rows.document)
    assert "larger than any host; nearest is h0, cpu 1 short" in text
    assert "large enough for a unit; nearest is h2, cpu 2 short" in text


def test_the_words_say_what_is_so() -> None:
    rows = run(PAIR, [of("/A", 4, min_count=4), of("/B", 1, 4)], hosts={"h0": 2, "h1": 4}, hosts_down=["h1"])
    text = ownership_text(rows.document)
    assert "A        4 units at once, and the hosts that are up are large enough for 2 of them" in text
    assert "B        every host that could take a unit is down" in text
    waits = first("/B", PAIR, [of("/B", 1, 4, need=["ssd"])], hosts={"h0": 4})["waits"]
    assert waits["because"] == "labels"
    assert why(waits) == "no host with ssd is large enough for a unit [R-POOL-3]"


def test_explain_tries_requests_with_fewer_labels() -> None:
    hosts = {"h0": {"cpu": 4, "labels": {"zone": "a"}}}
    wants = [of("/A", 1, need=["zone=a", "ssd"]), of("/B", 1, avoid=["zone"])]
    for path, what, old, new in (("/A", "need", ("zone=a", "ssd"), ("zone=a",)), ("/B", "avoid", ("zone",), ())):
        request = first(path, PAIR, wants, hosts=hosts)
        assert helps(request) == {what: (old, new, 1)}
        name = f"request {request['request']}"
        said = f"    {what} {', '.join(new) or 'none'} instead of {', '.join(old)} for {name}: holds 1"
        assert said in request_text(called(request, "request")).splitlines()


def test_what_nobody_stands_before_is_not_said_to_be_beyond_something() -> None:
    request = called(first("/B", PAIR, [of("/B", 1, need=["ssd"])]), "request")
    assert "  1 unit: no host with ssd is" in request_text(request)


def test_explain_finds_what_would_let_it_start() -> None:
    limited: Json = {"/A": {"share_limit": {"cpu": 2}}, "/B": {}}
    request = first("/A", limited, [of("/A", 4, min_count=4)], hosts=FOUR)
    assert helps(request) == {"min_count": (4, 2, 2), "share_limit": (2, 4, 4)}
    users: Json = {"/A": {"user_limit": 2}, "/B": {}}
    assert helps(first("/A", users, [of("/A", 4, min_count=4, user="ann")], hosts=FOUR))["user_limit"] == (2, 4, 4)
    slow: Json = {"/A": {"reclaim_grace": "9s"}, "/B": own(hosts=["h0"], lend_grace="5s")}
    found = helps(first("/A", slow, [of("/A", 4, min_count=4)], hosts=FOUR))
    assert (found["reclaim_grace"], found["lend_grace"]) == (("9s", "5s", 4), ("5s", "9s", 4))


def test_what_is_held_or_on_its_way_for_it_is_free_again() -> None:
    notice = {"request": "B", "host": "h0", "units": 1, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    wants, held = [of("/A", 5, min_count=5), of("/B", 4)], [on("h0", "B", 2)]
    plan, state = inputs(
        PAIR, wants, held, hosts=FOUR, reclaims=[notice], held=[{"request": "A", "host": "h1", "units": 2}]
    )
    cycle = run_cycle(plan, state)
    assert [row["units"] for row in cycle.document["withdrawn"]] == [1]
    assert [(row["request"], row["host"], row["units"]) for row in cycle.document["grants"]] == [("B", "h1", 2)]
    assert cycle.after.held == ()
    assert list(second_cycle(plan, cycle)) == []


@st.composite
def gangs(draw: st.DrawFn) -> tuple[Json, Json]:
    plan, leaves = draw(plans())
    state = draw(states(plan, leaves))
    for request in state["requests"]:
        request["min_count"] = min(draw(st.sampled_from((1, 2, 4, 8))), request["count"])
    hosts = [host["name"] for group in plan["resource_groups"].values() for host in group["hosts"]]
    return plan, state | {"hosts_down": draw(st.sampled_from(([], [], hosts[:1])))}


@FEWER
@given(gangs())
def test_r_gang_2_a_gang_is_refused_where_it_gets_nothing_though_alone(story: tuple[Json, Json]) -> None:
    plan, state = read(*story)
    cycle = run_cycle(plan, state)
    told, held = {row["request"] for row in cycle.document["refused"]}, {each.request for each in state.allocations}
    for request in [each for each in state.requests if each.id not in held]:
        empty = replace(state, requests=(request,), allocations=(), ownership=cycle.after.ownership)
        alone = run_cycle(plan, empty).document
        assert bool(alone["grants"]) != bool(alone["refused"]), request
        assert bool(alone["refused"]) == (request.id in told), request
