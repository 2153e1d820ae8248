"""The rules of who owns which hosts, one by one (S2.1 to S2.6, S2.14, S2.16 to S2.30)."""

from __future__ import annotations

import json
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import state_document
from tests.pools.small import inputs, of, on, own, owned, placed, run, taken
from tests.pools.truths import second_cycle

SIX = {f"h{at}": 4 for at in range(6)}


def test_r_adjust_0_counts_percentages_and_what_remains_s2_3_s2_4_s2_14_s2_25() -> None:
    consumers = {"/A": own(hosts="34%"), "/B": own(hosts="20%"), "/C": own(hosts="10%"), "/D": own(hosts="remaining")}
    found = owned(consumers, [], hosts=SIX)
    assert {path: len(hosts) for path, hosts in found.items()} == {"/A": 2, "/B": 1, "/D": 3}
    down = owned(consumers, [], hosts=SIX, hosts_down=["h0", "h1"])
    assert {path: len(hosts) for path, hosts in down.items()} == {"/A": 1, "/D": 3}
    too_many = {"/A": own(hosts=1) | {"rank": 1}, "/B": own(hosts=2)}
    assert owned(too_many, []) == {"/B": ["h0", "h1"]}
    inside = {"/M": own(hosts=2), "/M/x": own(hosts="50%"), "/M/y": own(hosts=["h3"])}
    assert set(owned(inside | {"/M": own(hosts=["h2", "h3"])}, [], hosts=SIX)["/M/x"]) == {"h2"}


def test_r_adjust_0_parts_follow_the_largest_fraction_and_the_step() -> None:
    hosts = {"h0": {"cpu": 10, "gpu": 5}}
    (row,) = run({"/A": own(per_host={"cpu": "50%"})}, [], hosts=hosts).document["ownership"]
    assert row["amounts"] == {"cpu": 5, "gpu": 2}
    rows = run({"/A": own(total={"gpu": 6})}, [], hosts=hosts | {"h1": {"cpu": 8, "gpu": 4}}).document["ownership"]
    assert [row["amounts"] for row in rows] == [{"cpu": 10, "gpu": 5}, {"cpu": 2, "gpu": 1}]


def test_r_adjust_1_idle_hosts_come_back_to_whose_they_were_s2_16_s2_17_s2_18_s2_19_s2_28() -> None:
    before = [("h3", "/A", 4), ("h5", "/B", 4)]
    assert owned({"/A": own(hosts=1), "/B": own(hosts=1)}, [], hosts=SIX, ownership=before) == {
        "/A": ["h3"],
        "/B": ["h5"],
    }
    assert owned({"/A": own(hosts=1), "/B": {}}, [], hosts=SIX, ownership=before) == {"/A": ["h3"]}


def test_r_adjust_1_a_host_stays_with_the_entry_that_it_was_of_s2_28() -> None:
    """A whole one with the count, a part with the total, whichever comes first in the file and in inventory order."""
    hosts = {"h0": 8, "h1": 8, "h2": 8}
    held = [on("h0", "A", 6, "own"), on("h1", "A", 8, "own")]
    one: dict[str, Any] = {"hosts": 1}
    for ways in ([one, {"total": {"cpu": 6}}], [{"total": {"cpu": 6}}, one]):
        two = {"/A": {"own": [{"resource_group": "all", **way} for way in ways]}}
        for first, other in (("h0", "h1"), ("h1", "h0")):
            before = [(first, "/A", 6), (other, "/A", 8)]
            stands = held if first == "h0" else [on("h0", "A", 8, "own"), on("h1", "A", 6, "own")]
            rows = run(two, [of("/A", 14)], stands, hosts=hosts, ownership=before).document["ownership"]
            assert {row["host"]: row["amounts"]["cpu"] for row in rows} == {first: 6, other: 8}


def test_r_adjust_0_of_a_total_nothing_is_taken_of_what_is_met_s2_5() -> None:
    """The second host brings the GPUs that are missing, and no CPUs beyond the four."""
    hosts = {name: {"cpu": 4, "gpu": 2} for name in ("h0", "h1")}
    rows = run({"/A": own(total={"cpu": 4, "gpu": 3})}, [], hosts=hosts).document["ownership"]
    assert [row["amounts"] for row in rows] == [{"cpu": 4, "gpu": 2}, {"gpu": 1}]


def test_r_adjust_1_a_host_may_be_of_several_entries() -> None:
    ways = [{"per_host": {"cpu": 1}}, {"total": {"cpu": 3}}]
    two = {"/A": {"own": [{"resource_group": "all", **way} for way in ways]}}
    before = [("h0", "/A", 1), ("h1", "/A", 4)]
    rows = run(two, [of("/A", 4)], [on("h1", "A", 4, "own")], ownership=before).document["ownership"]
    assert {row["host"]: row["amounts"]["cpu"] for row in rows} == {"h0": 1, "h1": 4}


def test_r_adjust_2_the_least_loaded_is_given_up_s2_25_s2_26_s2_27() -> None:
    before = [(host, "/A", 4) for host in ("h0", "h1", "h2")]
    held = [on("h0", "A", 2, "own"), on("h1", "A", 1, "own"), on("h2", "A", 3, "own")]
    assert owned({"/A": own(hosts=2)}, [of("/A", 6)], held, hosts=SIX, ownership=before) == {"/A": ["h0", "h2"]}


def test_r_adjust_2_entries_for_whole_hosts_give_up_together_of_equal_load_the_worst_preference() -> None:
    two = {"/A": {"own": [{"resource_group": "all", "hosts": 1, "preference": each} for each in (1, 9)]}}
    before = [(host, "/A", 4) for host in ("h0", "h1", "h2")]

    def left(*units: int) -> list[str]:
        held = [on(f"h{at}", "A", each, "own") for at, each in enumerate(units) if each]
        plan, state = inputs(two, [of("/A", 12)], held, hosts=SIX, ownership=before)
        cycle = run_cycle(plan, state)
        result = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
        assert not verify(plan, state, result)
        assert list(second_cycle(plan, cycle)) == []
        return [row["host"] for row in cycle.document["ownership"]]

    assert left(2, 2, 2) == ["h0", "h2"]  # h1 was of the second entry
    assert left(1, 2, 2) == ["h1", "h2"]
    assert left(2, 1, 2) == ["h0", "h2"]
    assert left(0, 2, 2) == ["h1", "h2"]  # what is idle goes first; then nobody has too much


def test_r_adjust_2_an_inherited_preference_is_that_of_the_parents_entry_of_the_host() -> None:
    entries = [own(hosts=[host], preference=at)["own"][0] for host, at in (("h0", 9), ("h1", 1))]
    held = [on("h0", "x", 2, "own"), on("h1", "x", 2, "own")]
    before = [("h0", "/M/x", 4), ("h1", "/M/x", 4)]
    for mine, left in (({"hosts": 1}, {"h1": 4}), ({"total": {"cpu": 6}}, {"h0": 2, "h1": 4})):
        rows = run({"/M": {"own": entries}, "/M/x": own(**mine)}, [of("/M/x", 4)], held, ownership=before).document
        found = {row["host"]: row["amounts"]["cpu"] for row in rows["ownership"] if row["consumer"] == "/M/x"}
        assert found == left


def test_r_adjust_3_a_part_that_was_its_own_comes_back_before_another_whole_host_s2_19_s2_24() -> None:
    """A has one CPU of h1. B had the others and nobody used them: they are B's again, though h2 is free."""
    hosts = {"h0": 4, "h1": 4, "h2": 4}
    before = [("h0", "/A", 1), ("h1", "/A", 1), ("h1", "/B", 3)]
    held = [on("h0", "A", 1, "own"), on("h1", "A", 1, "own")]

    def of_b(consumers: dict[str, Any], rows: list[tuple[str, str, int]]) -> dict[str, int]:
        plan, state = inputs(consumers, [of("/A", 2)], held, hosts=hosts, ownership=rows)
        cycle = run_cycle(plan, state)
        assert not verify(
            plan, state, json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
        )
        assert list(second_cycle(plan, cycle)) == []
        return {row["host"]: row["amounts"]["cpu"] for row in cycle.document["ownership"] if row["consumer"] == "/B"}

    two, b = {"/A": own(total={"cpu": 2})}, own(hosts=1) | {"rank": 1}
    assert of_b(two | {"/B": b}, before) == {"h1": 3}
    assert of_b(two | {"/B": own(hosts=2) | {"rank": 1}}, before) == {"h1": 3, "h2": 4}
    assert of_b(two | {"/B": b}, [*before, ("h2", "/B", 4)]) == {"h2": 4}  # of two of its own the whole one


def test_r_adjust_3_of_a_total_nothing_is_left_of_which_there_is_nothing_that_it_names_s2_18() -> None:
    """A takes three CPUs of B and no GPU, which B has for its CPUs' sake alone."""
    hosts = {"h0": {"cpu": 4, "gpu": 2}}
    consumers = {"/A": own(total={"cpu": 4, "gpu": 1}), "/B": own(total={"cpu": 3}) | {"rank": 1}}
    held = [on("h0", "B", 1, "own")]
    plan, state = inputs(consumers, [of("/B", 1, 3)], held, hosts=hosts, ownership=[("h0", "/B", {"cpu": 3, "gpu": 1})])
    cycle = run_cycle(plan, state)
    told = [(row["consumer"], row["amounts"]) for row in cycle.document["ownership"]]
    assert told == [("/A", {"cpu": 4, "gpu": 1})]
    assert list(second_cycle(plan, cycle)) == []
    assert not verify(
        plan, state, json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    )
    no_more = {"/A": {}, "/B": own(total={"gpu": 3})}  # another plan, whose entry names what B has none of
    rows = run(no_more, [of("/B", 1, 1)], held, hosts=hosts, ownership=[("h0", "/B", {"cpu": 3})]).document["ownership"]
    assert [row["amounts"] for row in rows] == [{"cpu": 4, "gpu": 2}]


def test_r_adjust_2_what_is_too_much_of_a_total_goes_from_a_host_that_has_some_of_it() -> None:
    """h0 is the least busy and has no GPU to give; on h1 are two too many."""
    hosts = {"h0": {"cpu": 8}, "h1": {"cpu": 8, "gpu": 4}}
    before = [("h0", "/A", 8), ("h1", "/A", {"cpu": 4, "gpu": 4})]
    requests = [of("/A", 1, name="c"), of("/A", 4, {"cpu": 1, "gpu": 1}, name="g")]
    held = [on("h0", "c", 1, "own"), on("h1", "g", 4, "own")]
    plan, state = inputs({"/A": own(total={"cpu": 12, "gpu": 2})}, requests, held, hosts=hosts, ownership=before)
    cycle = run_cycle(plan, state)
    assert [row["amounts"] for row in cycle.document["ownership"]] == [{"cpu": 8}, {"cpu": 4, "gpu": 2}]
    assert not verify(
        plan, state, json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    )


def test_r_adjust_3_public_hosts_then_those_of_worse_ranks_s2_20_s2_21_s2_22_s2_23_s2_24() -> None:
    before = [("h3", "/A", 4), ("h5", "/B", 4)]
    assert owned({"/A": {}, "/B": own(hosts=2)}, [], hosts=SIX, ownership=before)["/B"] == ["h0", "h5"]
    busy = [on("h0", "B", 2), on("h1", "B", 1)]
    assert owned({"/A": own(hosts=1), "/B": {}}, [of("/B", 3)], busy, hosts={"h0": 4, "h1": 4}) == {"/A": ["h1"]}
    worse = {"/A": own(hosts=1), "/B": own(hosts=2) | {"rank": 1}}
    held = [on("h0", "B", 2, "own"), on("h1", "B", 1, "own")]
    took = owned(worse, [of("/B", 3)], held, ownership=[("h0", "/B", 4), ("h1", "/B", 4)])
    assert took == {"/A": ["h1"], "/B": ["h0"]}
    rest = run({"/A": own(per_host={"cpu": 1}), "/B": own(hosts=1) | {"rank": 1}}, [], hosts={"h0": 4})
    assert [row["amounts"]["cpu"] for row in rest.document["ownership"]] == [1, 3]


def test_r_adjust_3_a_whole_host_that_has_grown_or_was_partly_another_s_becomes_whole_s2_16_s2_23() -> None:
    """By count, by name, as what remains, and inside a parent; units stand on what it has, so that it stays."""
    ways: list[dict[str, Any]] = [{"hosts": 1}, {"hosts": ["h0"]}, {"hosts": "50%"}, {"hosts": "remaining"}]
    for way in ways:
        plan, state = inputs({"/A": own(**way)}, [of("/A", 2)], [on("h0", "A", 2, "own")], ownership=[("h0", "/A", 2)])
        rows = run_cycle(plan, state).document["ownership"]
        assert {"host": "h0", "consumer": "/A", "amounts": {"cpu": 4}} in rows, way
    inside = {"/M": own(hosts=1), "/M/x": own(hosts=1), "/M/y": {}}
    rows = run(inside, [of("/M/x", 2)], [on("h0", "x", 2, "own")], ownership=[("h0", "/M/x", 2)]).document["ownership"]
    assert rows == [{"host": "h0", "consumer": "/M/x", "amounts": {"cpu": 4}}]


def test_r_adjust_3_what_a_sibling_has_let_go_of_a_host_is_its_again_before_the_host_becomes_whole_s2_19() -> None:
    """/B comes first in the plan and has work on the host; what /A has there idles, and is not /B's for that."""
    both = {"/B": own(hosts=1), "/A": own(total={"cpu": 1})}
    before = [("h0", "/A", 1), ("h0", "/B", 2)]
    for wants, expected in ((both, {"/A": 1, "/B": 3}), (both | {"/A": {}}, {"/B": 4})):
        rows = run(wants, [of("/B", 2)], [on("h0", "B", 2, "own")], ownership=before).document["ownership"]
        assert {row["consumer"]: row["amounts"]["cpu"] for row in rows} == expected


def test_r_adjust_4_units_go_on_as_borrowed_until_the_owner_wants_it_s2_29_s2_30() -> None:
    graces = {"/A": {"reclaim_grace": "60s"}, "/C": own(hosts=["h1"], lend_grace="5s")}
    held, before = [on("h1", "A", 2, "own")], [("h1", "/A", 4)]
    assert taken(graces, [of("/A", 2)], held, ownership=before) == []
    wants = [of("/A", 2), of("/C", 3)]
    assert taken(graces, wants, held, hosts={"h1": 4}, ownership=before) == [("A", "h1", 1, "C", 5)]
    assert placed(graces, wants, held, hosts={"h1": 4}, ownership=before) == [("C", "h1", 2, "own")]
    reserved = graces | {"/C": own(hosts=["h1"], lend_grace="5s", reserved=True)}
    assert taken(reserved, [of("/A", 2)], held, ownership=before) == [("A", "h1", 2, None, 5)]


def test_r_adjust_1_hosts_go_to_their_entries_in_inventory_order_whichever_entry_of_the_parent_has_them() -> None:
    every: dict[str, object] = {"resource_group": "all", "hosts": 1}
    consumers = {
        "/A": {"own": [every | {"hosts": ["h1"]}, every]},
        "/A/y": {"own": [every | {"reserved": True}, every | {"preference": 8}]},
        "/B": {},
    }
    stands = [on("h0", "y", 1, "own"), on("h1", "y", 1, "own")]
    before = [("h0", "/A/y", 4), ("h1", "/A/y", 4)]
    found = placed(consumers, [of("/A/y", 2), of("/B", 8)], stands, ownership=before)
    assert found == [("B", "h1", 3, "/")]  # h0 is the first of them, so the reserved one


def test_r_adjust_0_what_remains_is_taken_after_parts_and_totals_whatever_the_order_of_the_plan() -> None:
    for others in ({"total": {"cpu": 6}}, {"per_host": {"cpu": 3}}):
        rest, some = own(hosts="remaining"), own(**others)
        for first, last in (({"/A": rest}, {"/B": some}), ({"/B": some}, {"/A": rest})):
            rows = run({**first, **last}, []).document["ownership"]
            amounts = {
                path: sum(row["amounts"]["cpu"] for row in rows if row["consumer"] == path) for path in ("/A", "/B")
            }
            assert amounts == {"/A": 2, "/B": 6}


def test_r_adjust_3_what_remains_gives_its_hosts_as_the_worst_rank_does() -> None:
    held, before = [on("h0", "A", 1, "own"), on("h1", "A", 2, "own")], [("h0", "/A", 4), ("h1", "/A", 4)]
    rest = {"/A": own(hosts="remaining"), "/B": own(hosts=["h1"]) | {"rank": 1}}
    assert owned(rest, [of("/A", 3)], held, ownership=before) == {"/A": ["h0"], "/B": ["h1"]}


def test_r_adjust_0_the_better_rank_has_all_of_its_count_before_names_of_a_worse_one() -> None:
    count, names = own(hosts=2), own(hosts=["h0"]) | {"rank": 3}
    assert owned({"/A": count, "/B": names}, []) == {"/A": ["h0", "h1"]}
    assert owned({"/A": count | {"rank": 3}, "/B": names}, []) == {"/A": ["h1"], "/B": ["h0"]}


def test_r_adjust_3_of_a_host_that_a_better_rank_has_partly_the_part_of_a_worse_one_is_taken() -> None:
    half = own(per_host={"cpu": 2})
    consumers = {"/A": half, "/B": own(hosts=1) | {"rank": 1}, "/C": half | {"rank": 2}}
    held = [on("h0", "A", 1, "own"), on("h0", "C", 1, "own")]
    before = [("h0", "/A", 2), ("h0", "/C", 2)]
    asks = [of("/A", 1), of("/C", 1)]
    assert owned(consumers, asks, held, hosts={"h0": 4}, ownership=before) == {"/A": ["h0"], "/B": ["h0"]}


def test_r_adjust_3_a_parent_takes_the_hosts_that_its_children_name_s2_14() -> None:
    inside = {"/M": own(hosts=2), "/M/x": own(hosts=["h1"]), "/Z": {}}
    hosts, busy = {"h0": 4, "h1": 4, "h2": 4}, [on("h1", "Z", 2)]
    found = owned(inside, [of("/Z", 2)], busy, hosts=hosts)
    assert found == {"/M": ["h0"], "/M/x": ["h1"]}
    elsewhere = {"/A": own(hosts=1)} | inside
    assert owned(elsewhere, [], hosts={"h1": 4, "h0": 4, "h2": 4}) == {"/A": ["h0"], "/M/x": ["h1"], "/M": ["h2"]}


def test_r_adjust_3_of_worse_ranks_too_a_parent_takes_what_its_children_name() -> None:
    held, before = [on("h0", "B", 1, "own"), on("h1", "B", 2, "own")], [("h0", "/B", 4), ("h1", "/B", 4)]
    consumers = {"/M": own(hosts=1), "/M/x": own(hosts=["h1"]), "/B": own(total={"cpu": 8}) | {"rank": 1}}
    assert owned(consumers, [of("/B", 3)], held, ownership=before) == {"/B": ["h0"], "/M/x": ["h1"]}


def test_r_adjust_1_children_have_no_more_than_their_parent_has_left() -> None:
    """/C takes half of h0 from /M by its better rank, and /M/x and /M/y had both halves."""
    consumers = {
        "/C": own(per_host={"cpu": 2}),
        "/M": own(hosts=1) | {"rank": 1},
        "/M/x": own(per_host={"cpu": 2}),
        "/M/y": own(per_host={"cpu": 2}),
    }
    before = [("h0", "/M/x", 2), ("h0", "/M/y", 2)]
    held = [on("h0", "x", 2, "own"), on("h0", "y", 2, "own")]
    rows = run(consumers, [of("/M/x", 2), of("/M/y", 2)], held, hosts={"h0": 4}, ownership=before).document["ownership"]
    assert [(row["consumer"], row["amounts"]["cpu"]) for row in rows] == [("/C", 2), ("/M/x", 2)]


def test_r_adjust_4_a_second_cycle_leaves_the_hosts_of_two_entries_where_they_are() -> None:
    every: dict[str, object] = {"resource_group": "all", "hosts": 1}
    reserved = every | {"reserved": True}
    busy = [on("h0", "Z", 2)]
    for entries in ([reserved, every], [every, reserved]):
        consumers, before = {"/A": {"own": entries}, "/Z": {}}, [("h0", "/A", 4), ("h1", "/A", 4)]
        assert taken(consumers, [of("/Z", 2)], busy) == []
        assert taken(consumers, [of("/Z", 2)], [on("h0", "Z", 2, A=2)], ownership=before) == []


def test_r_adjust_3_a_count_leaves_what_a_sibling_names_before_what_is_named_below_one() -> None:
    rest, names = own(hosts="remaining"), own(hosts=["h0"])
    consumers = {"/A": own(hosts=1), "/B": rest, "/B/x": own(hosts=["h1"]), "/C": names}
    assert owned(consumers, []) == {"/A": ["h1"], "/C": ["h0"]}


def test_r_adjust_3_a_host_that_is_no_longer_planned_counts_as_never_owned() -> None:
    """/B had h0 and is to have h1 now: nothing of h0 is kept for it."""
    consumers = {"/B": own(hosts=["h1"]), "/C": own(hosts=1)}
    assert owned(consumers, [], hosts=SIX, ownership=[("h0", "/B", 4)]) == {"/B": ["h1"], "/C": ["h0"]}


def test_r_adjust_1_what_a_part_has_too_much_is_no_reason_for_a_sibling_to_have_less() -> None:
    """/M keeps half of h0; a quarter of that comes to nothing for /M/x, and /M/y has all of it."""
    consumers = {
        "/M": own(per_host={"cpu": 2}),
        "/M/x": own(per_host={"cpu": "25%"}),
        "/M/y": own(hosts=["h0"]) | {"rank": 1},
    }
    before = [("h0", "/M/x", 1), ("h0", "/M/y", 3)]
    held = [on("h0", "x", 1, "own"), on("h0", "y", 3, "own")]
    plan, state = inputs(consumers, [of("/M/x", 1), of("/M/y", 3)], held, hosts={"h0": 4}, ownership=before)
    cycle = run_cycle(plan, state)
    assert [(row["consumer"], row["amounts"]) for row in cycle.document["ownership"]] == [("/M/y", {"cpu": 2})]
    assert not verify(
        plan, state, json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    )
