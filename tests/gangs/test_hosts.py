"""Units that are held for gangs which may stand on some hosts only, or whose user has no room (R-HOLD-1, R-SITE-2)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.cycle.document import run_cycle
from tests.gangs.test_rules import HOLD, Json, at, cycle, gang, held, loose, moved, quota_of
from tests.properties.strategies import Case

ZONES = {"h0": (2, "a"), "h1": (5, "b")}
BOTH: Json = {"A": {"owned": 7}, "B": {}}


def on_hosts(
    hosts: dict[str, tuple[int, str]], requests: list[Json], *allocations: Json, owned: Json = BOTH, **more: Any
) -> Case:
    """A case on hosts, each with its slots and its zone; more: keys of the state, `packing` and `hold_after`."""
    settings = {"packing": more.pop("packing", "stacked")} | HOLD
    entry = {"resource_groups": ["g"], "policy": more.pop("policy", "hybrid"), "settings": settings}
    listed = [{"name": name, "slots": slots, "labels": {"zone": zone}} for name, (slots, zone) in hosts.items()]
    consumers = {f"/{name}": stated for name, stated in owned.items()}
    plan = {"fairhold": 1, "resource_groups": {"g": {"hosts": listed}}, "consumers": {name: {} for name in owned}}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": requests, "allocations": [*allocations]}
    return Case(plan | {"policies": [entry | {"consumers": consumers}]}, state | more)


def stands(name: str, host: str, units: int) -> Json:
    return {"request": name, "host": host, "units": units, "started": at(0)}


@pytest.mark.parametrize("policy", ["hybrid", "ownership"])
@pytest.mark.parametrize(
    "asked",
    [{"min_count": 7, "place": "pack"}, {"min_count": 3, "need": ["zone=c"]}, {"min_count": 6, "avoid": ["zone=a"]}],
)
def test_r_hold_1_nothing_is_held_for_a_gang_that_no_host_could_ever_take(asked: Json, policy: str) -> None:
    requests = [{"id": "g", "consumer": "/A", "count": asked["min_count"], **asked}, loose("a", "/A", 7)]
    found = cycle(on_hosts(ZONES, requests, policy=policy))
    assert (sum(row["units"] for row in found.document["grants"]), held(found)) == (7, {})


def test_r_hold_1_what_is_held_is_given_up_when_the_host_goes_down() -> None:
    requests = [gang("g", "/A", 5, need=["zone=b"], submitted=at(0)), loose("a", "/A", 5), loose("b", "/B", 1)]
    case = on_hosts(ZONES, requests, stands("b", "h1", 1), held=[{"request": "g", "host": "h1", "units": 4}])
    assert held(cycle(case)) == {"g": 4}
    down = Case(case.plan_document, case.state_document | {"hosts_down": ["h1"]})
    assert (moved(cycle(down), "grants"), held(cycle(down))) == ({"a": 2}, {})


def test_r_hold_1_a_gang_that_finds_nothing_idle_where_it_may_stand_holds_nothing() -> None:
    """The host that it needs is full; what is idle elsewhere goes to the others of the leaf."""
    requests = [
        gang("g", "/A", 4, need=["zone=b"], place="pack", submitted=at(0)),
        loose("a", "/A", 3),
        loose("b", "/B", 5),
    ]
    found = cycle(on_hosts(ZONES, requests, stands("b", "h1", 5), owned={"A": {"owned": 2}, "B": {"owned": 5}}))
    assert (quota_of(found), moved(found, "grants"), held(found)) == ({"/A": 2, "/B": 5}, {"a": 2}, {})


def test_r_hold_1_only_what_the_gang_can_use_is_held() -> None:
    """Two slots are idle in zone b; those of zone a are of no use to it."""
    requests = [gang("g", "/A", 4, need=["zone=b"], submitted=at(0)), loose("a", "/A", 9), loose("b", "/B", 3)]
    found = cycle(on_hosts(ZONES, requests, stands("b", "h1", 3), owned={"A": {"owned": 4}, "B": {"owned": 3}}))
    assert (moved(found, "grants"), held(found)) == ({"a": 2}, {"g": 2})


def test_r_hold_1_a_gang_that_packs_collects_on_a_host_that_is_large_enough() -> None:
    requests = [gang("g", "/A", 4, place="pack", submitted=at(0)), loose("b", "/B", 4)]
    case = on_hosts(ZONES, requests, stands("b", "h1", 4), owned={"A": {"owned": 4}, "B": {"owned": 3}})
    assert [(each.host, each.units) for each in cycle(case).after.held] == [("h1", 1)]


def test_r_hold_2_a_short_task_uses_what_is_held_and_the_gang_keeps_the_rest() -> None:
    requests = [
        loose("small", "/A", 3, time_limit="2h", need=["zone=b"], submitted=at(0)),
        gang("g", "/A", 5, need=["zone=b"], submitted=at(1)),
        loose("long", "/A", 1, submitted=at(2)),
        loose("short", "/A", 1, need=["zone=b"], time_limit="30m", submitted=at(3)),
    ]
    case = on_hosts({"h1": (5, "b")}, requests, stands("small", "h1", 3), owned={"A": {"owned": 5}, "B": {}})
    found = cycle(case)
    assert (moved(found, "grants"), held(found)) == ({"short": 1}, {"g": 1})


@pytest.mark.parametrize(("room", "granted", "kept"), [(4, {"other": 2}, {}), (6, {}, {"g": 2})])
def test_r_hold_1_a_gang_whose_user_has_no_room_is_passed_over(room: int, granted: Json, kept: Json) -> None:
    """R-USER-1: its user holds 2 elsewhere in the leaf, and may hold 4, or 6."""
    requests = [
        loose("mine", "/A", 2, user="ann", submitted=at(0)),
        gang("g", "/A", 4, user="ann", submitted=at(1)),
        loose("other", "/A", 3, user="bob", submitted=at(2)),
        loose("b", "/B", 3),
    ]
    owned = {"A": {"owned": 6, "user_limit": room}, "B": {"owned": 1}}
    found = cycle(on_hosts({"h0": (7, "a")}, requests, stands("mine", "h0", 2), stands("b", "h0", 3), owned=owned))
    assert (moved(found, "grants"), held(found)) == (granted, kept)


def test_r_hold_1_what_is_kept_for_others_of_the_leaf_does_not_bar_the_gang() -> None:
    requests = [gang("g", "/A", 5, submitted=at(0)), loose("a", "/A", 6, submitted=at(1))]
    found = cycle(on_hosts({"h1": (7, "a")}, requests, held=[{"request": "a", "host": "h1", "units": 6}]))
    assert (moved(found, "grants"), held(found)) == ({"g": 5, "a": 2}, {})


def test_r_gang_1_a_gang_that_starts_changes_nobody_s_place() -> None:
    """The younger gang would collect for a second cycle, were it counted before one that runs."""
    requests = [
        loose("first", "/A", 17, priority=1),
        gang("old", "/A", 5, submitted=at(0)),
        gang("young", "/A", 6, submitted=at(2)),
    ]
    found = cycle(on_hosts({"h0": (23, "a")}, requests))
    assert (quota_of(found)["/A"], moved(found, "grants"), held(found)) == (22, {"first": 17, "old": 5}, {})


def test_r_gang_1_a_gang_that_runs_beside_an_earlier_request_leaves_nothing_idle() -> None:
    """S1.7: 7 units of a better priority and the 2 of the gang that runs are more than the 8 slots that A owns."""
    requests = [loose("a", "/A", 7, priority=2), {**gang("g", "/A", 2), "count": 3}]
    owned = {"A": {"owned": 8}, "B": {"owned": 0}}
    found = cycle(on_hosts({"h0": (8, "a")}, requests, stands("g", "h0", 2), owned=owned))
    assert (quota_of(found)["/A"], moved(found, "grants")) == (8, {"a": 6})


def test_r_gang_1_requests_that_share_hosts_use_no_more_together_than_these_have() -> None:
    """R-SITE-2: zone a has 2 slots for both; their users get one each in turn, which makes neither of them larger.

    Were each counted for itself, A could use 3 of its quota as soon as both stand there: one more than before.
    """
    requests = [
        gang("g", "/A", 5),
        loose("ann's", "/A", 4, user="ann", need=["zone=a"]),
        loose("bob's", "/A", 8, user="bob", need=["zone=a"]),
        loose("c", "/C", 7),
    ]
    owned: Json = {"A": {"share_ratio": 2}, "C": {"share_ratio": 2}}
    case = on_hosts({"h0": (2, "a"), "h1": (4, "b")}, requests, policy="share_ratio", owned=owned)
    found = cycle(case)
    assert moved(found, "grants") == {"ann's": 1, "bob's": 1, "c": 4}
    after = run_cycle(case.plan, found.after)
    assert quota_of(after) == quota_of(found) == {"/A": 2, "/C": 4}


@pytest.mark.parametrize("slots", [3, 4])
def test_r_aside_1_no_more_is_kept_than_its_leaf_may_come_to_hold(slots: int) -> None:
    """B is above its quota: what is kept for it neither idles beside A, nor brings a notice that is withdrawn."""
    requests = [loose("a", "/C/A", 17), loose("b", "/C/B", 6)]
    entry = {"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/C": {"limit": 3}}}
    plan = {"fairhold": 1, "resource_groups": {"g": {"hosts": [{"name": "h0", "slots": slots}]}}, "policies": [entry]}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": requests}
    held = {"allocations": [stands("b", "h0", 2)], "held": [{"request": "b", "host": "h0", "units": 1}]}
    found = cycle(Case(plan | {"consumers": {"C": {"consumers": {"A": {}, "B": {}}}}}, state | held))
    assert (moved(found, "grants"), found.document["reclaims"]) == ({"a": 1}, [])
