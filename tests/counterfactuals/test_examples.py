"""What would help, by examples: each was told wrongly where only what the reasons point at was tried."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.explain.parameter import Change, Parameter, around
from fairhold.cycle.explain.pooled.inquiry import Inquiry
from fairhold.cycle.explain.pooled.whatif import GROUPS, Search
from fairhold.cycle.explain.queued.asking import Asking
from fairhold.cycle.explain.queued.parameters import QueueParameters
from fairhold.cycle.pooled.merge_results import run_entries
from fairhold.planio.state import parse_state
from fairhold.units import UNLIMITED
from tests.pools.asking import PAIR, explained, first
from tests.pools.small import of, on, own
from tests.queues.asking import explained as explained_queue
from tests.queues.small import Cluster

Json = dict[str, Any]


def of_request(told: Json, name: str) -> Json:
    found: Json = next(each for each in told["requests"] if each["request"] == name)
    return found


def alone(request: Json) -> dict[str, tuple[Any, Any]]:
    """What would help alone: key and whose → old, new."""
    rows = [each["changes"][0] for each in request["would_help"] if len(each["changes"]) == 1]
    return {f"{row['what']} {row.get('consumer') or row.get('request')}": (row["old"], row["new"]) for row in rows}


def test_a_priority_is_raised_with_all_that_comes_of_it() -> None:
    """From priority 100 on a request is not preemptible, and its queue deserves nothing for such work."""
    cluster = Cluster([2], {"/A": {}}).ask("low", "/A", 6, gpu=2, priority=18).ask("high", "/A", 4, priority=99)
    low = of_request(explained_queue(cluster, "/A"), "low")
    assert alone(low)["priority low"] == (18, 99)  # it was submitted before the other
    cluster.document["requests"][0]["priority"] = 99
    assert of_request(explained_queue(cluster, "/A"), "low")["held"] == 1
    cluster.document["requests"][0]["priority"] = 100
    assert of_request(explained_queue(cluster, "/A"), "low")["held"] == 0
    later = Cluster([2], {"/A": {}}).ask("high", "/A", 4, priority=99).ask("low", "/A", 6, gpu=2, priority=18)
    assert "priority low" not in alone(of_request(explained_queue(later, "/A"), "low"))


def test_a_limit_is_raised_as_far_as_it_takes_where_others_have_what_comes_first() -> None:
    cluster = Cluster([16], {"/A": {"limit": {"gpu": 2}}})
    cluster.ask("gang", "/A", 3, min_count=3, priority=62).ask("more", "/A", 3)
    told = explained_queue(cluster, "/A")
    assert of_request(told, "more")["held"] == 2
    assert alone(of_request(told, "more")) == {"limit /A": (2, 6)}  # at 5 the gang has 3, and it still 2
    assert "limit gpu 6 instead of 2 for /A: holds 3" in pools_in_words(told)
    assert alone(of_request(told, "gang"))["limit /A"] == (2, 3)  # what its reason names: limits allow 2 of 3 at once


def test_a_share_limit_is_raised_as_far_as_it_takes() -> None:
    consumers = {"/A": {"share_limit": {"cpu": 4}}, "/B": {}}
    wants = [of("/A", 9, 2, name="first", priority=1), of("/A", 9, name="second")]
    told = explained("/A", consumers, wants, hosts={"h0": 32})
    second = of_request(told, "second")
    assert alone(second)["share_limit /A"] == (4, 5)  # one unit of the other does not fit beside it
    consumers = {"/A": {"share_limit": {"cpu": 5}}, "/B": {}}
    larger = of("/A", 1, 6, name="first", priority=1)
    second = of_request(explained("/A", consumers, [larger, wants[1]], hosts={"h0": 32}), "second")
    assert (second["held"], alone(second)["share_limit /A"]) == (5, (5, 12))  # from 6 on the other has 6


def test_the_smallest_share_priority_is_told() -> None:
    wants, stands = [of("/A", 9), of("/B", 9)], [on("h0", "A", 2), on("h0", "B", 6)]
    consumers: Json = {"/A": {}, "/B": {"share_priority": 2}}
    request = first("/A", consumers, wants, stands, hosts={"h0": 8})
    assert alone(request)["share_priority /A"] == (0, 2)  # in one class with the other


def test_a_gang_that_goes_whole_waits_for_that_and_for_no_user() -> None:
    consumers = {"/A": {}, "/B": own(hosts=1)}
    wants = [of("/A", 2, 3, min_count=1), of("/B", 1, 3)]
    told = explained("/A", consumers, wants, [on("h0", "A", 1, B=1)], hosts={"h0": 4})
    (request,) = told["requests"]
    assert (request["waits"]["reason"], request["waits"]["rule"]) == ("stopping", "R-TAKE-4")
    assert "user" not in pools_in_words(told)
    cluster = Cluster([2], {"/A": {}, "/B": {"deserved": {"gpu": 2}}})
    cluster.ask("gang", "/A", 3, min_count=2, user="ann", on={"h0": 2}).ask("other", "/B", 2)
    (gang,) = explained_queue(cluster, "/A")["requests"]
    assert gang["waits"]["reason"] == "stopping"


def test_share_limits_that_block_together_are_raised_together_as_little_as_it_takes() -> None:
    consumers: Json = {"/M": {"share_limit": {"cpu": 2}}, "/M/x": {"share_limit": {"cpu": 1}}, "/M/y": {}}
    stands = [on("h0", "x", 1), on("h0", "y", 1)]
    told = explained("/M/x", consumers, [of("/M/x", 5), of("/M/y", 1)], stands, hosts={"h0": 8})
    assert "a share limit is reached: /M/x has 1 of 1 cpu and /M has 2 of 2 cpu [R-LIMIT-1]" in pools_in_words(told)
    (both,) = (each["changes"] for each in of_request(told, "x")["would_help"])
    assert [(row["consumer"], row["old"], row["new"]) for row in both] == [("/M/x", 1, 2), ("/M", 2, 3)]
    told = explained("/M/x", consumers, [of("/M/x", 5), of("/M/y", 9, priority=3)], stands, hosts={"h0": 8})
    (both,) = (each["changes"] for each in of_request(told, "x")["would_help"])
    assert [row["new"] for row in both] == [2, 3]


def test_a_host_that_is_down_or_closed_is_brought_up_before_more_of_anything_is_bought() -> None:
    (request,) = explained("/A", PAIR, [of("/A", 9)], hosts_down=["h1"])["requests"]
    first_change, larger = (each["changes"][0] for each in request["would_help"])
    assert (first_change["what"], first_change["host"], first_change["new"]) == ("hosts_down", "h1", False)
    assert (larger["what"], larger["host"]) == ("amount", "h0")
    told = explained("/A", PAIR, [of("/A", 9)], hosts_never_seen=["h1"])
    assert told["requests"][0]["would_help"][0]["changes"][0]["what"] == "hosts_never_seen"
    assert "h1 up, which was never seen: holds" in pools_in_words(told)
    hosts, gang = {f"h{at}": 4 for at in range(4)}, of("/A", 9, 4, min_count=3)
    told = explained("/A", PAIR, [gang], hosts=hosts, hosts_down=["h1", "h2"], hosts_closed=["h3"])
    assert "h3 open instead of closed and h1 up instead of down: holds 3" in pools_in_words(told)
    labelled: Json = {"h0": 4, "h1": {"cpu": 4}, "h2": {"cpu": 4, "labels": {"zone": "a"}}}
    wants = [of("/A", 9, 4, need=["zone=a"])]
    (request,) = explained("/A", PAIR, wants, hosts=labelled, hosts_down=["h1", "h2"])["requests"]
    assert request["would_help"][0]["changes"][0]["host"] == "h2"
    cluster = Cluster([4, 4], {"/A": {}}).ask("many", "/A", 9)
    cluster.document["hosts_down"] = ["h1"]
    (queued,) = explained_queue(cluster, "/A")["requests"]
    assert queued["would_help"][0]["changes"][0]["host"] == "h1"


def test_what_is_on_the_way_to_a_limit_is_told_apart_from_what_is_used() -> None:
    consumers: Json = {"/A": {}, "/B": {"share_limit": {"cpu": 4}}, "/B/a": {}, "/B/b": {}}
    wants, stands = [of("/A", 8), of("/B/a", 3), of("/B/b", 3)], [on("h0", "A", 4), on("h1", "A", 4)]
    told = explained("/B/a", consumers, wants, stands)
    assert "a share limit is reached: /B has 0 of 4 cpu with 4 more on the way [R-LIMIT-1]" in pools_in_words(told)
    below: Json = {"deserved": {"gpu": 2}}
    queues: Json = {"/A": {}, "/B": {"limit": {"gpu": 4}, "deserved": {"gpu": 4}}, "/B/a": below, "/B/b": below}
    cluster = Cluster([8], queues).ask("x", "/A", 8, on={"h0": 8}).ask("y", "/B/a", 3).ask("z", "/B/b", 3)
    cluster.cycle()
    told = explained_queue(cluster, "/B/a")
    bound = told["requests"][0]["waits"]["bound"]
    assert (bound["used"], bound["on_the_way"], bound["limit"], bound["need"]) == (0, 4, 4, 1)
    assert "/B has gpu 0 of 4 (limit) with 4 more on the way, and needs 1 more" in pools_in_words(told)


def test_a_list_says_what_it_leaves_out() -> None:
    told = explained("/A", PAIR, [of("/A", 9)], hosts_down=["h1"])
    assert of_request(told, "A")["search"]["left_out"] == list(GROUPS)
    assert "These are the values that the reasons name; because they help, no others were tried." in pools_in_words(
        told
    )
    consumers: Json = {"/A": {}, "/B": {"share_limit": {"cpu": 4}}, "/B/a": {}, "/B/b": {}}
    wants, stands = [of("/A", 8), of("/B/a", 3), of("/B/b", 3)], [on("h0", "A", 4), on("h1", "A", 4)]
    told = explained("/B/a", consumers, wants, stands)
    request = of_request(told, "a")
    assert list(alone(request)) == ["min_count a"]
    assert request["search"]["left_out"] == list(GROUPS[1:])
    left = "consumers, hosts, settings, other requests, other consumers"
    assert f"Because these help, these kinds of values were not tried: {left}." in pools_in_words(told)


def test_where_no_single_value_helps_it_says_how_many_were_tried() -> None:
    wants = [of("/A", 9, {"cpu": 1, "gpu": 1}), of("/B", 1, 9)]
    hosts: Json = {"h0": {"cpu": 1, "labels": {"zone": "a"}}}
    told = explained("/A", PAIR, wants, hosts=hosts)
    (request,) = told["requests"]
    assert request["search"]["is_complete"]
    assert request["would_help"] != []
    limits = {"/A": {"share_limit": {"cpu": 0, "gpu": 0}}, "/B": {}}
    told = explained("/A", limits, wants, hosts=hosts)
    (request,) = told["requests"]
    assert (request["would_help"], request["search"]["is_complete"]) == ([], True)
    values, cycles = request["search"]["values"], request["search"]["cycles"]
    said = f"No single value gives it more: {values} values of the plan and the state in {cycles} cycles were tried."
    assert said in pools_in_words(told)
    assert {"share_limit", "share_ratio", "share_priority", "hosts", "amount", "count"} <= {*request["search"]["of"]}


def test_a_search_that_stops_early_says_what_it_has_tried() -> None:
    limits = {"/A": {"share_limit": {"cpu": 0}}, **{f"/B{at}": {"share_limit": {"cpu": 0}} for at in range(9)}}
    wants = [of(path, 2_000, {"cpu": 1, "gpu": 1}) for path in limits]
    told = explained("/A", limits, wants, hosts={f"h{at}": 4 for at in range(3)})
    (request,) = told["requests"]
    assert (request["would_help"], request["search"]["is_complete"]) == (None, False)
    text = pools_in_words(told)
    assert "Nothing that was tried gives it more." in text
    assert "The search stopped early, after " in text


def test_a_unit_that_only_moves_is_no_unit_more() -> None:
    cluster = Cluster([2, 2], {"/A": {"limit": {"gpu": 2}}, "/B": {}})
    cluster.ask("one", "/A", 2, on={"h0": 1}).ask("two", "/A", 1, on={"h1": 1}).ask("large", "/B", 1, gpu=2)
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    ((force, cycle),) = run_entries(cluster.plan, state)
    inquiry = Inquiry(cluster.plan, state, force, cycle, cluster.plan.tree.rows["/A"])
    parameters = QueueParameters(Asking(inquiry))
    moves = parameters.setting("consolidation")
    assert moves is not None
    assert Search(inquiry, parameters)._run(((moves, True),)) == {"one": (1, 0), "two": (1, 0)}


def test_far_numbers_between_those_that_are_tried_first_are_tried_where_nothing_else_helps() -> None:
    assert around(0, 0, 300)[60:70] == (61, 62, 63, 64, 128, 256, 300)
    parameter = Parameter(Change("limit", 0, None), 0, around(0, 0, 300), lambda files, _: files, int, 1)
    assert list(chain(*parameter.gaps()))[:2] == [65, 66]
    assert {*parameter.values, *chain(*parameter.gaps())} == {*range(1, 301)}
    assert list(parameter.nearer(64))[-1] == 63
    down = Parameter(Change("limit", None, None), UNLIMITED, around(UNLIMITED, 0, 300), lambda files, _: files, int, 1)
    assert {*down.values, *chain(*down.gaps())} == {*range(301)}
