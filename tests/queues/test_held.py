"""What is held for a request is granted to it (R-SERVE-3), and nobody is told in vain (R-CONTEST-7)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.planio.state import parse_state, state_document
from fairhold.runtime.explaining_pools import as_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.truths import second_cycle
from tests.queues.asking import waits
from tests.queues.small import Cluster
from tests.queues.test_found import verified
from tests.queues.truths import given_to_others, needless_notices

Json = dict[str, Any]
SHORT, LONG = {"reclaim_grace": "5s"}, {"reclaim_grace": "30s"}


def grants(cluster: Cluster, seconds: int = 0) -> list[tuple[str, str, int]]:
    """What the next cycle grants, so many seconds later; a second one at the same instant decides nothing."""
    assert verified(cluster, seconds)
    cycle = cluster.cycle(seconds)
    assert list(second_cycle(cluster.plan, cycle)) == []
    assert list(needless_notices(cluster.plan, cycle)) == []
    return [(row["request"], row["host"], row["units"]) for row in cycle.document["grants"]]


def told_for_three(**more: Any) -> Cluster:
    """All GPUs are of a, two by two; b and c are told that they go for them, and d, whose turn it is, gets none.

    more : of b
    """
    queues: Json = {
        "/A": {"priority": 200, "deserved": {"gpu": 2}, "over_quota_weight": 0},
        "/A/a": {"over_quota_weight": 1} | LONG,
        "/A/b": {"deserved": {"gpu": 2}, "over_quota_weight": 2},
        "/B": {"priority": 200, "deserved": {"gpu": 1}},
    }
    cluster = Cluster([8], queues).ask("a", "/A/a", 5, gpu=2, on={"h0": 4})
    cluster.ask("b", "/A/a", **({"priority": 52} | more)).ask("c", "/B", 3, gpu=2, priority=85)
    cluster.ask("d", "/A/b", 8, priority=18)
    assert grants(cluster) == []
    assert cluster.document["held"] == [
        {"request": "c", "host": "h0", "units": 3},
        {"request": "b", "host": "h0", "units": more.get("count", 1)},
    ]
    return cluster


@pytest.mark.parametrize("more", [{}, {"min_count": 1}, {"count": 2, "min_count": 2, "gpu": 0.5}])
def test_r_serve_3_what_was_freed_for_a_request_is_granted_to_it_and_to_nobody_else(more: Json) -> None:
    """The queue of d deserves what b's holds, and takes of it, but not in the cycle that grants b its unit."""
    cluster = told_for_three(**more)
    assert grants(cluster, 30) == [("c", "h0", 3), ("b", "h0", more.get("count", 1)), ("d", "h0", 1)]
    assert cluster.reclaims() == {}
    assert cluster.last is not None
    ((_, entry),) = cluster.last.pooled
    assert entry.due == cluster.last.after.now + SECOND
    assert grants(cluster, 1) == []
    assert cluster.reclaims() == {"b": more.get("count", 1)}


def test_r_serve_3_where_units_end_early_what_they_free_is_granted_as_well() -> None:
    cluster = told_for_three()
    (row,) = cluster.document["allocations"]
    row["units"] = 3
    cluster.document["reclaims"] = [row for row in cluster.document["reclaims"] if row["for"] == "c"]
    assert grants(cluster, 5) == [("b", "h0", 1), ("d", "h0", 1)]
    assert grants(cluster, 25) == [("c", "h0", 3)]


def test_r_serve_3_the_other_is_told_why_it_waits_a_moment_longer() -> None:
    cluster = told_for_three()
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    (told,) = explain_pools(cluster.plan, replace(state, now=state.now + 30 * SECOND), "/A/b")
    waiting = as_document(told)["requests"][0]["waits"]
    assert (waiting["reason"], waiting["rule"]) == ("granted now", "R-SERVE-3")
    text = pools_in_words(as_document(told))
    assert (
        "by quotas it keeps 1 unit for now: request b of /A/a was granted just now on what was held for it, and gives "
        "nothing before 2026-01-05T09:00:31Z [R-SERVE-3]"
    ) in text


def test_r_serve_3_inside_a_queue_too_what_was_held_goes_to_whom_it_was_held_for() -> None:
    """A more important request comes while a unit of b is on its way."""
    cluster = Cluster([2], {"/A": LONG}).ask("a", "/A", 2, on={"h0": 2}).ask("b", "/A", priority=10)
    assert grants(cluster) == []
    cluster.ask("high", "/A", 2, priority=90)
    assert grants(cluster) == []
    assert sorted(row["request"] for row in cluster.document["held"]) == ["b", "high"]
    assert grants(cluster, 30) == [("b", "h0", 1), ("high", "h0", 1)]
    assert waits(cluster, "/A")["others"]["own_queue"] == {"units": 1, "young": 1, "until": "2026-01-05T09:00:31Z"}
    assert grants(cluster, 1) == []
    assert cluster.reclaims() == {"b": 1}


def test_r_serve_3_it_is_granted_where_it_is_held_though_an_earlier_host_is_idle_by_now() -> None:
    """So the larger request finds the idle host whole."""
    cluster = Cluster([2, 1], {"/A": {"deserved": {"gpu": 1}}, "/C": {"priority": 50}}).ask("a", "/A")
    cluster.ask("c", "/C", gpu=2).document["held"] = [{"request": "a", "host": "h1", "units": 1}]
    assert grants(cluster) == [("a", "h1", 1), ("c", "h0", 1)]


def test_r_serve_3_what_is_held_is_idle_where_it_is_wanted_no_more() -> None:
    cluster = told_for_three()
    cluster.document["requests"][1]["count"] = 0
    assert grants(cluster, 30) == [("c", "h0", 3), ("d", "h0", 2)]


def test_r_serve_3_what_is_held_is_not_granted_beyond_a_limit() -> None:
    """The limit was lowered since: what is on its way beyond it is let go."""
    cluster = told_for_three()
    lower = Cluster([8], {"/A": {}, "/A/a": {"limit": {"gpu": 0}}, "/A/b": {"deserved": {"gpu": 2}}, "/B": {}})
    lower.document = cluster.document
    assert grants(lower, 30) == [("c", "h0", 3), ("d", "h0", 2)]


def test_r_serve_3_a_gang_of_which_a_part_was_held_is_not_taken_back_in_the_same_cycle() -> None:
    """Two of its three places are free, the third is found idle; d deserves two GPUs of what it gets."""
    queues: Json = {
        "/A": {"priority": 200, "deserved": {"gpu": 2}, "over_quota_weight": 0},
        "/A/a": {"over_quota_weight": 1},
        "/A/b": {"deserved": {"gpu": 2}},
        "/B": {"priority": 200, "deserved": {"gpu": 1}} | LONG,
    }
    cluster = Cluster([2, 1, 1], queues).ask("x", "/B", on={"h1": 1}).ask("gang", "/A/a", 3, min_count=3)
    cluster.ask("d", "/A/b", gpu=2)
    notice = {"request": "x", "host": "h1", "units": 1, "for": "gang", "deadline": "2026-01-05T09:00:30Z"}
    held = [{"request": "gang", "host": "h0", "units": 2}, {"request": "gang", "host": "h1", "units": 1}]
    cluster.document |= {"reclaims": [notice], "held": held}
    assert grants(cluster) == [("gang", "h0", 2), ("gang", "h2", 1)]
    assert cluster.reclaims() == {}
    assert grants(cluster, 1) == []
    assert cluster.reclaims() == {"gang": 3}


def small_and_large() -> Cluster:
    """One GPU of B goes for a first unit of b, then two of its own queue for a second one, and would do for both."""
    queues: Json = {
        "/A": {"priority": 200, "deserved": {"gpu": 1}} | SHORT,
        "/B": {"deserved": {"gpu": 1}, "over_quota_weight": 2},
    }
    cluster = Cluster([{"gpu": 4, "cpu": 16}], queues, reclaimer_utilization_multiplier=1.2)
    cluster.ask("a0", "/A", unit={"gpu": 2, "cpu": 1}, on={"h0": 1})
    cluster.ask("a1", "/B", 2, unit={"gpu": 1, "cpu": 1}, on={"h0": 2})
    return cluster.ask("b", "/A", 2, unit={"gpu": 1, "cpu": 1}, priority=87)


def test_r_contest_7_a_unit_that_nobody_needs_in_the_end_is_not_told() -> None:
    cluster = small_and_large()
    assert grants(cluster) == []
    assert cluster.reclaims() == {"a0": 1}
    assert cluster.document["held"] == [{"request": "b", "host": "h0", "units": 2}]
    assert grants(cluster, 5) == [("b", "h0", 2)]
    assert cluster.held() == {"a1": 2, "b": 2}


@pytest.mark.parametrize(
    ("size", "least", "goes"),
    [
        (3, 0, {"large": 1}),
        (3, 2, {"large": 1}),
        (2, 0, {"small": 1, "large": 1}),
        (2, 2, {"small": 2, "large": 1}),
    ],
)
def test_r_contest_7_a_gang_goes_whole_or_stays_whole(size: int, least: int, goes: dict[str, int]) -> None:
    """Two small units of the own queue go for two units of b, then the large one for the third."""
    cluster = Cluster([{"gpu": size + 2, "cpu": 16}], {"/A": SHORT})
    cluster.ask("large", "/A", unit={"gpu": size, "cpu": 1}, on={"h0": 1}, priority=5)
    cluster.ask("small", "/A", 2, min_count=least, unit={"gpu": 1, "cpu": 1}, on={"h0": 2})
    cluster.ask("b", "/A", 3, unit={"gpu": 1, "cpu": 1}, priority=87)
    assert grants(cluster) == []
    assert cluster.reclaims() == goes
    assert grants(cluster, 5)[0] == ("b", "h0", 3)


def test_r_contest_7_it_goes_all_the_same_where_the_order_of_queues_would_not_be_kept_without_it() -> None:
    """With the unit of y that goes first /A would have more of its fair share than /B is left with by the second."""
    queues: Json = {
        "/A": {"deserved": {"gpu": 3}},
        "/A/x": {"deserved": {"gpu": 3}, "over_quota_weight": 2},
        "/A/y": {"deserved": {"gpu": 1}, "over_quota_weight": 0},
        "/B": {"deserved": {"gpu": 1}, "over_quota_weight": 2},
    }
    both = {"cpu": 1}
    cluster = Cluster([{"gpu": 11, "cpu": 64}], queues).ask("y", "/A/y", 2, unit={"gpu": 1} | both, on={"h0": 2})
    cluster.ask("v", "/B", 3, unit={"gpu": 3} | both, on={"h0": 3}).ask("b", "/A/x", 2, unit={"gpu": 1} | both)
    assert cluster.shares() == {"/A": 4, "/A/x": 2, "/A/y": 1, "/B": 7}
    assert grants(cluster) == []
    assert cluster.reclaims() == {"y": 1, "v": 1}


@st.composite
def crowded(draw: st.DrawFn) -> Cluster:
    """A host that some have filled, with CPUs left, and requests of other sizes that want in."""
    queues: Json = {}
    for path in draw(st.sampled_from((["/A", "/B"], ["/A", "/A/x", "/A/y", "/B"]))):
        queues[path] = {"deserved": {"gpu": draw(st.integers(0, 3))}, "over_quota_weight": draw(st.integers(0, 3))}
        queues[path] |= draw(st.sampled_from((SHORT, LONG)))
    leaves = [path for path in queues if path != "/A" or "/A/x" not in queues]
    gpus = draw(st.integers(4, 9))
    cluster, left = Cluster([{"gpu": gpus, "cpu": 32}], queues), gpus
    for at in range(draw(st.integers(3, 6))):
        size, count = draw(st.integers(1, 3)), draw(st.integers(1, 4))
        units = min(count, left // size) if at < 3 else 0
        left -= units * size
        least = draw(st.sampled_from((0, 0, 0, min(count, 2))))
        more: Json = {"on": {"h0": units}} if units >= max(1, least) else {}
        left += 0 if more else units * size
        more |= {"min_count": least, "priority": draw(st.sampled_from((0, 10, 50, 90)))}
        cluster.ask(f"r{at}", draw(st.sampled_from(leaves)), count, unit={"gpu": size, "cpu": 1}, **more)
    return cluster


@FEWER
@given(crowded())
def test_what_is_told_is_needed_and_is_given_to_whom_it_was_told(cluster: Cluster) -> None:
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    for _ in range(4):
        assert verified(cluster)
        cycle = cluster.cycle()
        assert [*needless_notices(cluster.plan, cycle), *given_to_others(cluster.plan, state, cycle)] == []
        assert list(second_cycle(cluster.plan, cycle)) == []
        cluster.document = state_document(cluster.plan, replace(cycle.after, now=cycle.after.now + 30 * SECOND))
        state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
