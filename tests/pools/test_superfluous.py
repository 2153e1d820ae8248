"""Notices of a cycle are looked at once more when all is taken: what nobody needs is not stopped (R-NOTICE-3)."""

from __future__ import annotations

from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.pooled import invariants, merge_results
from fairhold.cycle.verify import verify
from fairhold.planio.state import state_document
from tests.pools.small import inputs, of, on, own
from tests.pools.truths import second_cycle

Json = dict[str, Any]
BETTER: Json = {"/A": {"reclaim_grace": "5s"}, "/B": {"share_priority": 1}}
EARLIER = "2026-01-05T08:00:00Z"


def goes(*args: Any, **more: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """(request, host, units, for) of what a cycle reclaims, and (request, host, units) of what is held after it.

    It is verified, nothing is untrue of it, and a second one decides nothing.
    """
    plan, state = inputs(*args, **more)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert list(second_cycle(plan, cycle)) == []
    assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()
    rows = [(row["request"], row["host"], row["units"], row["for"]) for row in cycle.document["reclaims"]]
    return rows, [(row.request, row.host, row.units) for row in cycle.after.held]


def test_r_notice_3_what_a_later_one_frees_is_enough_for_an_earlier_one() -> None:
    """b0 needs 2 GPUs: a1 of 1 GPU on h0, the younger, and a0 of 2 on h1 are picked one after the other; a1 stays."""
    hosts = {"h0": {"cpu": 1, "gpu": 1}, "h1": {"cpu": 2, "gpu": 2}}
    wants = [
        of("/A", 1, {"cpu": 1, "gpu": 2}, name="a0", submitted=EARLIER),
        of("/A", 1, {"cpu": 1, "gpu": 1}, name="a1", submitted="2026-01-05T08:01:00Z"),
        of("/B", 2, {"cpu": 1, "gpu": 1}, name="b0"),
    ]
    stands = [on("h0", "a1", 1), on("h1", "a0", 1)]
    assert goes(BETTER, wants, stands, hosts=hosts) == ([("a0", "h1", 1, "b0")], [("b0", "h1", 2)])


def test_r_notice_3_what_went_before_a_gang_that_brings_all_stays() -> None:
    """c0 takes both units of a0 and then the gang a2, as all of /A/b is alike: on h0 that has room for all 3 of c0."""
    amounts = {"h0": (4, 32, 4), "h1": (8, 16, 4), "h2": (16, 16, 4), "h3": (4, 32, 0), "h4": (16, 32, 2)}
    hosts = {name: dict(zip(("cpu", "memory", "gpu"), each, strict=True)) for name, each in amounts.items()}
    consumers: Json = {
        "/A": {"reclaim_grace": "5s"},
        "/A/a": {"share_priority": 1},
        "/A/b": {},
        "/B": {"share_ratio": 3, "share_priority": 1} | own(hosts=5, lend_grace="10s"),
    }
    large = {"cpu": 2, "memory": 8, "gpu": 2}
    wants = [
        of("/A/b", 10, large, name="a0", submitted="2026-01-05T08:59:00Z"),
        of("/A/b", 3, {"cpu": 2, "memory": 4}, name="a1", submitted="2026-01-05T08:59:01Z"),
        of("/A/b", 4, large, name="a2", min_count=4, priority=88, submitted="2026-01-05T08:59:02Z"),
        of("/A/a", 7, {"cpu": 1, "memory": 8, "gpu": 1}, name="c0", min_count=3, submitted="2026-01-05T09:00:00Z"),
    ]
    units = [("h2", "a0", 2), ("h4", "a0", 1), ("h3", "a1", 2), ("h4", "a1", 1), ("h0", "a2", 2), ("h1", "a2", 2)]
    stands = [on(host, name, number, B=number) for host, name, number in units]
    resources: Json = {"cpu": {}, "memory": {}, "gpu": {}}
    found = goes(consumers, wants, stands, hosts=hosts, resources=resources)
    assert found == ([("a2", "h0", 2, "c0"), ("a2", "h1", 2, "c0")], [("c0", "h0", 3)])


def test_r_notice_3_a_gang_stays_whole_or_goes_whole() -> None:
    """The gang g of 2 goes for the first unit of b, and loose units of 2 CPUs for the other two bring all: g stays."""
    hosts = {"h0": 1, "h1": 1, "h2": 4}
    wants = [
        of("/A", 2, 1, name="g", min_count=2, submitted="2026-01-05T08:01:00Z"),
        of("/A", 1, 4, name="whole", submitted=EARLIER),
        of("/B", 3, 1, name="b", min_count=3),
    ]
    stands = [on("h0", "g", 1), on("h1", "g", 1), on("h2", "whole", 1)]
    assert goes(BETTER, wants, stands, hosts=hosts) == ([("whole", "h2", 1, "b")], [("b", "h2", 3)])


def test_r_notice_3_who_takes_its_own_back_does_not_stand_further_out_instead() -> None:
    """x takes h0 back, and for its second unit h1, which is nobody's and would do for both: h0 is its own."""
    consumers: Json = {"/A": {}, "/B": {"share_priority": 1} | own(hosts=["h0"])}
    wants = [
        of("/A", 1, 1, name="small", submitted="2026-01-05T08:01:00Z"),
        of("/A", 1, 4, name="large", submitted=EARLIER),
        of("/B", 2, 2, name="x"),
    ]
    stands = [on("h0", "small", 1, B=1), on("h1", "large", 1)]
    found = goes(consumers, wants, stands, hosts={"h0": 2, "h1": 4})
    assert found == ([("small", "h0", 1, "x"), ("large", "h1", 1, "x")], [("x", "h0", 1), ("x", "h1", 1)])


def test_r_notice_3_a_notice_from_before_stays() -> None:
    """Only what a cycle gives itself is looked at once more."""
    hosts = {"h0": {"cpu": 1, "gpu": 1}, "h1": {"cpu": 2, "gpu": 2}}
    wants = [
        of("/A", 1, {"cpu": 1, "gpu": 2}, name="a0", submitted=EARLIER),
        of("/A", 1, {"cpu": 1, "gpu": 1}, name="a1", submitted="2026-01-05T08:01:00Z"),
        of("/B", 2, {"cpu": 1, "gpu": 1}, name="b0"),
    ]
    told = [{"request": "a1", "host": "h0", "units": 1, "for": "b0", "deadline": "2026-01-05T09:00:03Z"}]
    held = [{"request": "b0", "host": "h0", "units": 1}]
    found = goes(BETTER, wants, [on("h0", "a1", 1), on("h1", "a0", 1)], hosts=hosts, reclaims=told, held=held)
    assert found == ([("a0", "h1", 1, "b0")], [("b0", "h0", 1), ("b0", "h1", 1)])


def test_r_notice_3_a_superfluous_notice_is_found_out() -> None:
    plan, state = inputs(BETTER, [of("/A", 2), of("/B", 1, 2)], [on("h0", "A", 2)], hosts={"h0": 2})
    (_, cycle), *_ = merge_results.run_entries(plan, state)
    done = invariants.Done(plan, state, cycle)
    assert list(invariants.no_notice_is_superfluous(done)) == []
    taker = cycle.books.asked["B"]
    taker.unit = (1000, 0)
    assert [each.where for each in invariants.no_notice_is_superfluous(done)] == ["/A", "/A"]
