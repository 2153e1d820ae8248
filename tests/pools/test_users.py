"""What one user may hold in a leaf, and how it is explained (R-USER-2)."""

from __future__ import annotations

from typing import Any

from fairhold.cycle.document import run_cycle
from tests.pools.asking import first, helps
from tests.pools.small import inputs, of, on, placed, public, run, taken
from tests.pools.truths import second_cycle

Json = dict[str, Any]
LIMITED: Json = {"/A": {"user_limit": 3}, "/B": {}}
ONE: Json = {"h0": 8}


def test_r_user_2_a_user_gets_no_more_than_the_limit_and_others_go_on() -> None:
    wants = [of("/A", 5, name="a1", user="ann"), of("/A", 5, name="b1", user="bob"), of("/A", 1, name="n1")]
    assert placed(LIMITED, wants, hosts=ONE) == [("a1", "h0", 3, "/"), ("b1", "h0", 3, "/"), ("n1", "h0", 1, "/")]
    assert placed({"/A": {}, "/A/x": {}, "/B": {}} | LIMITED, [of("/A/x", 5, user="ann")]) == [("x", "h0", 3, "/")]


def test_r_user_2_the_nearest_limit_holds_in_every_leaf_by_itself() -> None:
    tree: Json = {"/A": {"user_limit": 2}, "/A/x": {}, "/A/y": {"user_limit": 1}, "/A/z": {"user_limit": "none"}}
    wants = [of(leaf, 4, user="ann") for leaf in ("/A/x", "/A/y", "/A/z")]
    found = {row[0]: row[2] for row in placed(tree, wants, hosts={"h0": 1, "h1": 9})}
    units = dict.fromkeys("xyz", 0)
    for name, _, number, _ in placed(tree, wants, hosts={"h0": 20}):
        units[name] += number
    assert (units, set(found)) == ({"x": 2, "y": 1, "z": 4}, {"x", "y", "z"})


def test_r_user_2_what_a_user_may_not_hold_is_no_demand_and_takes_nothing() -> None:
    wants = [of("/A", 8, user="ann"), of("/B", 8)]
    held = [on("h0", "A", 1), on("h0", "B", 7)]
    assert public(LIMITED, wants, held, hosts=ONE)["/A"]["usage_demand"] == "3/8"
    assert [row[:4] for row in taken(LIMITED, wants, held, hosts=ONE)] == [("B", "h0", 2, "A")]
    held = [on("h0", "A", 3), on("h0", "B", 5)]
    assert taken(LIMITED, wants, held, hosts=ONE) == []


def test_r_user_2_what_is_held_beyond_the_limit_stays() -> None:
    cycle = run(LIMITED, [of("/A", 8, user="ann")], [on("h0", "A", 5)], hosts=ONE)
    assert (cycle.document["grants"], cycle.document["reclaims"]) == ([], [])


def test_r_user_2_the_room_goes_to_requests_in_order_but_for_those_that_cannot_have_it() -> None:
    first_two = [
        of("/A", 4, name="r1", user="ann", priority=1, min_count=4),
        of("/A", 2, 9, name="r2", user="ann", priority=1),
    ]
    wants = [*first_two, of("/A", 2, name="r3", user="ann"), of("/A", 2, name="r4", user="ann")]
    cycle = run(LIMITED, wants, hosts=ONE)
    assert [(row["request"], row["units"]) for row in cycle.document["grants"]] == [("r3", 2), ("r4", 1)]
    never = {"reason": "never-fits", "because": "user limit", "units": 4, "room": 3}
    near = {"nearest": {"host": "h0", "missing": {"cpu": 1}}}
    assert cycle.document["refused"] == [{"request": "r1", **never}, {"request": "r2", "reason": "unplaceable"} | near]
    assert list(second_cycle(inputs(LIMITED, wants, hosts=ONE)[0], cycle)) == []


def test_r_user_2_a_gang_takes_only_where_its_user_may_hold_it() -> None:
    better: Json = {"/A": {"user_limit": 3, "share_priority": 1}, "/B": {}}
    wants = [of("/A", 4, user="ann", min_count=4), of("/B", 8)]
    assert taken(better, wants, [on("h0", "B", 8)], hosts=ONE) == []
    wants = [of("/A", 4, user="ann", min_count=2), of("/B", 8)]
    assert [row[:4] for row in taken(better, wants, [on("h0", "B", 8)], hosts=ONE)] == [("B", "h0", 2, "A")]


def test_a_notice_for_what_its_user_may_no_longer_hold_is_withdrawn() -> None:
    better: Json = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}}
    wants = [of("/A", 4, user="ann"), of("/B", 8)]
    plan, state = inputs(better, wants, [on("h0", "B", 8)], hosts=ONE)
    told = run_cycle(plan, state)
    assert sum(row["units"] for row in told.document["reclaims"]) == 4
    limited = inputs(better | {"/A": {"share_priority": 1, "user_limit": 1}}, wants, hosts=ONE)[0]
    assert sum(row["units"] for row in run_cycle(limited, told.after).document["withdrawn"]) == 3


def test_explain_names_the_user_and_what_he_may_hold() -> None:
    request = first("/A", LIMITED, [of("/A", 5, user="ann")], [on("h0", "A", 3)], hosts=ONE)
    waits = request["waits"]
    assert (waits["reason"], waits["rule"]) == ("user limit", "R-USER-2")
    assert waits["user"] == {"name": "ann", "limit": 3, "held": 3}
    assert helps(request)["user_limit"] == (3, 4, 4)
    lost = first("/A", LIMITED, [of("/A", 5, 9, user="ann")], hosts=ONE)
    assert lost["waits"]["reason"] == "unplaceable"
