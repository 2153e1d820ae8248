"""Every refusal of reclaim names the inequality that fails, with both sides' numbers, as data and in words (S4.21)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cli.explaining import print_explanation
from tests.queues.asking import explained, sides, waits, words
from tests.queues.small import Cluster

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LAST: dict[str, Any] = {"over_quota_weight": 0}


def test_the_gate_names_the_resource_of_which_its_queue_would_have_too_much() -> None:
    """It is within its share of GPUs and above that of CPUs: in KAI nothing says so."""
    cluster = Cluster([{"gpu": 4, "cpu": 8}], {"/A": {"deserved": {"gpu": 2, "cpu": 2}}, "/B": {}})
    for name, queue, count, unit, on in (
        ("b", "/B", 4, {"gpu": 1, "cpu": 1}, {"h0": 4}),
        ("cores", "/A", 1, {"cpu": 4}, {"h0": 1}),
        ("a", "/A", 1, {"gpu": 1, "cpu": 2}, {}),
    ):
        cluster.ask(name, queue, count, on=on).document["requests"][-1]["unit"] = unit
    found = explained(cluster, "/A")["requests"][1]["waits"]
    gate = found["others"]["gate"]
    assert (found["reason"], gate["resource"], gate["value"], gate["bound"], gate["by"]) == (
        "above fair share",
        "cpu",
        6,
        5,
        1,
    )
    assert "takes nothing back: /A would have cpu 6, and its fair share is 5, 1 too little [R-CONTEST-1]" in words(
        cluster, "/A"
    )


def test_by_quotas_the_taker_has_to_stay_within_what_it_deserves() -> None:
    queues = {"/A": {"deserved": {"gpu": 1}}, "/B": {"priority": 50, "deserved": {"gpu": 1}}}
    cluster = Cluster([4], queues).ask("a", "/A", 1, on={"h0": 1}).ask("b", "/B", 3, on={"h0": 3}, preemptible=False)
    cluster.ask("new", "/A", 1)
    found = explained(cluster, "/A")["requests"][1]["waits"]["others"]["sides"][0]["strategies"]
    assert [(each["strategy"], each["may_give"]) for each in found] == [("fair_share", True), ("quota", False)]
    (fails,) = found[1]["fails"]
    assert (fails["test"], fails["consumer"], fails["value"], fails["bound"], fails["by"]) == (
        "within deserved",
        "/A",
        2,
        1,
        1,
    )
    text = words(cluster, "/A")
    assert "by fair shares it would give, but nothing that it holds is preemptible [R-CONTEST-3]" in text
    assert "by quotas it keeps all: /A would have gpu 2, and deserves 1, 1 too little [R-CONTEST-1]" in text


def rest(room: int = 1) -> Cluster:
    """P stays at 4 of 4 GPUs only as b gives two; those make no room, and without them P would be above its share."""
    four, two = {"deserved": {"gpu": 4}} | LAST, {"deserved": {"gpu": 2}} | LAST
    queues = {"/P": four, "/P/a": two, "/P/b": two, "/Q": {"deserved": {"gpu": 5}} | LAST}
    cluster = Cluster([2, *[1] * 8, {"gpu": room}], queues)
    cluster.ask("b", "/P/b", 4, on={f"h{at}": 1 for at in (1, 2, 3, 9)})
    cluster.ask("old", "/Q", 5, on={f"h{at}": 1 for at in (4, 5, 6, 7, 8)}).ask("young", "/Q", 2, on={"h0": 2})
    return cluster.ask("x", "/P/a", 1, gpu=2)


def test_what_makes_room_and_may_not_go_without_what_makes_none_says_which_order_it_would_break() -> None:
    assert waits(rest(), "/P/a")["reason"] == "order"
    found = sides(rest(), "/P/a")["/Q"]["fair_share"]
    (one,) = (each for each in found["refused"] if each["rest"])
    assert (found["could_give"], one["rest"], one["test"], one["ours"], one["theirs"]) == (
        0,
        2,
        "saturation",
        "3/2",
        "1",
    )
    assert (one["left"], one["least"]) == (5, "15/2")
    text = words(rest(), "/P/a")
    assert "by fair shares 2 units that would make room may not go without others that make none: /P would have" in text
    assert explained(rest(2), "/P/a")["requests"][0]["waits"]["reason"] == "on the way"


def test_a_side_that_has_given_enough_says_what_it_would_be_left_with() -> None:
    """By quotas b gives two pieces, which make no room, and keeps the two that it deserves."""
    found = sides(rest(), "/P/a")["/P/b"]["quota"]
    (one,) = found["refused"]
    assert (found["could_give"], one["pieces"], one["test"], one["value"], one["bound"]) == (4, 2, "strategy", 2, 2)
    assert "by quotas it keeps 2: /P/b would hold gpu 2 by then, and may keep 2 [R-CONTEST-1]" in words(rest(), "/P/a")


def test_what_has_not_run_long_enough_says_how_long_it_ran_and_has_to() -> None:
    cluster = Cluster([2], {"/A": {}, "/B": {"reclaim_min_runtime": "61m"}})
    cluster.ask("x", "/B", 2, on={"h0": 2}).ask("y", "/A", 1)
    (one,) = sides(cluster, "/A")["/B"]["fair_share"]["refused"]
    assert (one["test"], one["ran"], one["runtime"]) == ("young", "1h", "1h1m")
    said = "it keeps 2: request x of /B has run for 1h, and is spared until it has for 1h1m, at 2026-01-05T09:01:00Z"
    assert f"by fair shares {said} [R-CONTEST-3]" in words(cluster, "/A")


def test_what_its_own_queue_holds_is_told_of_each_request_by_its_own_priority() -> None:
    cluster = Cluster([4], {"/A": {"deserved": {"gpu": 1}}, "/B": {"deserved": {"gpu": 3}}})
    cluster.ask("runs", "/A", 1, on={"h0": 1}, priority=10).ask("b", "/B", 3, on={"h0": 3})
    cluster.ask("high", "/A", 1, gpu=2, priority=50).ask("low", "/A", 1, gpu=2, priority=5)
    own = {
        each["request"]: each["waits"]["others"]["own_queue"]
        for each in explained(cluster, "/A")["requests"]
        if each["waits"]
    }
    assert own == {"high": {"units": 1, "young": 0, "until": None}, "low": None}
    assert "in its own queue 1 unit of lower priority makes no room [R-CONTEST-5]" in words(cluster, "/A")


def test_what_a_queue_deserves_without_bound_is_told_in_words() -> None:
    cluster = Cluster([4], {"/A": {"deserved": {"gpu": 1}}, "/B": {"deserved": {"gpu": "unlimited"}}})
    cluster.ask("b", "/B", 4, on={"h0": 4}).ask("a", "/A", 1)
    assert "/B holds gpu 4, and has to hold more than it deserves, all [R-CONTEST-1]" in words(cluster, "/A")


def test_of_what_is_stopped_it_is_told_for_whom_also_of_one_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster([3], {"/A": {}, "/B": {"reclaim_grace": "10s"}})
    cluster.ask("b", "/B", 3, on={"h0": 3}).ask("a", "/A", 1).ask("c", "/A", 1)
    cluster.cycle()
    cluster.document["now"] = "2026-01-05T09:00:10Z"
    stopped = [each for each in explained(cluster, "/B")["moves"] if each["kind"] == "stops"]
    assert [(each["request"], each["units"], each["for"]) for each in stopped] == [("b", 1, "a"), ("b", 1, "c")]
    plan, state = tmp_path / "plan.json", tmp_path / "state.json"
    queues = {"/A": {}, "/B": {"reclaim_grace": "10s"}}
    entry = {"resource_groups": ["g"], "policy": "fair_share", "consumers": queues}
    head = {"fairhold": 1, "resources": {"gpu": {}}, "resource_groups": {"g": {"hosts": [{"name": "h0", "gpu": 3}]}}}
    plan.write_text(json.dumps(head | {"consumers": {"A": {}, "B": {}}, "policies": [entry]}))
    state.write_text(json.dumps(cluster.document))
    print_explanation(plan, state, "b", "", as_json=False)
    text = capsys.readouterr().out
    assert text.startswith("Request b of /B: 3 units of gpu 1; holds 1, 2 wait.\n")
    assert (
        "Moves:\n  1 of request b (/B) on h0: stopped for request a, because its grace is over [R-SETTLE-1]\n" in text
    )
    print_explanation(plan, state, "a", "", as_json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert {(move["kind"], move["request"]) for move in told["moves"]} == {("stops", "b"), ("grants", "a")}
