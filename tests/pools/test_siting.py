"""Which hosts a request may stand on, and which it has first (R-SITE-1, R-SITE-3, R-SITE-5)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import parse_state, state_document
from tests.pools.small import inputs, of, on, own, placed, run, taken
from tests.pools.truths import second_cycle

Json = dict[str, Any]
PAIR: dict[str, dict[str, object]] = {"/A": {}, "/B": {}}
FIRST: dict[str, dict[str, object]] = {"/A": {"share_priority": 1}, "/B": {}}
LABELLED: dict[str, Any] = {
    "h0": {"cpu": 4, "labels": {"zone": "a"}},
    "h1": {"cpu": 4, "labels": {"zone": "b"}},
    "h2": {"cpu": 4, "labels": {"zone": "b", "disk": "ssd"}},
}


def test_r_site_1_units_stand_where_labels_allow_and_first_where_they_are_liked() -> None:
    wants = [of("/A", 5, need=["zone=b"], prefer=["disk"])]
    assert placed(PAIR, wants, hosts=LABELLED) == [("A", "h2", 4, "/"), ("A", "h1", 1, "/")]
    assert placed(PAIR, [of("/A", 9, avoid=["zone=b"])], hosts=LABELLED) == [("A", "h0", 4, "/")]
    assert placed(PAIR, [of("/A", 1, need=["gpus"])], hosts=LABELLED) == []
    refused = run(PAIR, [of("/A", 1, need=["gpus"])], hosts=LABELLED).document["refused"]
    assert refused == [{"request": "A", "reason": "unplaceable", "because": "labels"}]


def test_r_site_5_owners_and_pools_take_only_where_it_helps() -> None:
    wants = [of("/A", 3, need=["zone=b"]), of("/B", 12)]
    held = [on("h0", "B", 4), on("h1", "B", 4), on("h2", "B", 4)]
    rows = taken(FIRST, wants, held, hosts=LABELLED)
    assert [row[:4] for row in rows] == [("B", "h1", 3, "A")]
    owner = {"/A": own(hosts=["h0", "h1"]), "/B": {}}
    held = [on("h0", "B", 4, A=4), on("h1", "B", 4, A=4)]
    rows = taken(owner, [of("/A", 9, avoid=["zone=a"]), of("/B", 8)], held, hosts=LABELLED)
    assert [row[:4] for row in rows] == [("B", "h1", 4, "A")]


def test_r_site_5_what_no_host_can_take_is_no_demand() -> None:
    wants = [of("/A", 99, need=["disk"]), of("/B", 99)]
    held = [on("h0", "B", 4), on("h1", "B", 4), on("h2", "A", 4)]
    pools = run(PAIR, wants, held, hosts=LABELLED).document["pools"]["/"]["consumers"]
    assert (pools["/A"]["usage_demand"], pools["/A"]["usage_quota"]) == ("1/3", "1/3")
    assert pools["/B"]["usage_quota"] == "2/3"


def test_r_site_3_spread_and_pack() -> None:
    spread = [of("/A", 3, place="spread")]
    assert [row[1] for row in placed(PAIR, spread, hosts={"h0": 4, "h1": 4})] == ["h0", "h1", "h0"]
    packed = [of("/A", 4, place="pack", min_count=4)]
    assert placed(PAIR, packed, hosts={"h0": 3, "h1": 5}) == [("A", "h1", 4, "/")]
    assert placed(PAIR, packed, hosts={"h0": 3, "h1": 3}) == []
    assert placed(PAIR, [of("/A", 4, place="pack", min_count=2)], [on("h1", "A", 2)], hosts={"h0": 4, "h1": 3}) == [
        ("A", "h1", 1, "/")
    ]


def test_r_site_3_a_gang_that_packs_takes_on_one_host_or_not_at_all() -> None:
    wants = [of("/A", 4, place="pack", min_count=4), of("/B", 8)]
    assert taken(FIRST, wants, [on("h0", "B", 3), on("h1", "B", 4)], hosts={"h0": 3, "h1": 4}) == [
        ("B", "h1", 4, "A", 0)
    ]
    assert taken(FIRST, wants, [on("h0", "B", 3), on("h1", "B", 3)], hosts={"h0": 3, "h1": 3}) == []


def test_r_notice_2_a_notice_that_helps_no_more_is_withdrawn() -> None:
    consumers = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}}
    wants = [of("/A", 2, need=["zone=a"]), of("/B", 4)]
    plan, state = inputs(consumers, wants, [on("h0", "B", 4)], hosts=LABELLED)
    first = run_cycle(plan, state)
    assert [row["units"] for row in first.document["reclaims"]] == [2]
    assert list(second_cycle(plan, first)) == []
    document = state_document(plan, first.after)
    other = replace(plan, resource_groups=inputs(consumers, wants, hosts={"h0": 4})[0].resource_groups)
    again = run_cycle(other, parse_state(json.dumps(document), other, "state.json"))
    assert [row["units"] for row in again.document["withdrawn"]] == [2]
    assert again.document["reclaims"] == []
