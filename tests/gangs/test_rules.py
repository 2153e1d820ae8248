"""Gangs that never fit, and units that are held for gangs (R-GANG-1, R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import Cycle, run_cycle
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.open import open_books
from fairhold.cycle.run import quotas, run
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.rules.gangs import usable
from fairhold.rules.victims import choose_victims
from tests.gangs.strategies import gangs
from tests.properties.machinery import books_of
from tests.properties.strategies import Case

Json = dict[str, Any]
NOW = "2026-01-05T09:00:00Z"
HOLD = {"hold_after": "10m"}


def at(minute: int) -> str:
    return f"2026-01-05T08:{minute:02d}:00Z"


def gang(name: str, leaf: str, units: int, **more: Any) -> Json:
    return {"id": name, "consumer": leaf, "count": units, "min_count": units} | more


def loose(name: str, leaf: str, units: int, **more: Any) -> Json:
    return {"id": name, "consumer": leaf, "count": units} | more


def runs(name: str, units: int, minute: int = 0) -> Json:
    return {"request": name, "units": units, "started": at(minute)}


def case_of(consumers: Json, requests: list[Json], *allocations: Json, **more: Any) -> Case:
    """more: slots, policy, settings; else keys of the state."""
    entry = {
        "resource_groups": ["g"],
        "policy": more.pop("policy", "hybrid"),
        "settings": more.pop("settings", {}),
        "consumers": {f"/{name}": stated for name, stated in consumers.items()},
    }
    plan = {"fairhold": 1, "resource_groups": {"g": {"slots": more.pop("slots", 10)}}}
    plan |= {"consumers": {name: {} for name in consumers}, "policies": [entry]}
    state = {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": list(allocations)}
    return Case(plan, state | more)


def cycle(case: Case) -> Cycle:
    """One cycle that is true and verified."""
    found = run_cycle(case.plan, case.state, check=True)
    assert found.untrue == ()
    document = found.document | {"state": state_document(case.plan, found.after)}
    assert verify(case.plan, case.state, document) == ()
    return found


def quota_of(found: Cycle) -> dict[str, int]:
    rows = found.document["resource_groups"]["g"]["consumers"]
    return {path: row["quota"] for path, row in rows.items() if path != "/"}


def moved(found: Cycle, kind: str) -> dict[str, int]:
    return {row["request"]: row["units"] for row in found.document[kind]}


def held(found: Cycle) -> dict[str, int]:
    return {each.request: each.units for each in found.after.held}


ALIKE = {name: {"owned": 3} for name in "ABC"}
SHARERS: Json = {name: {} for name in "ABC"}
THREE = [gang("a", "/A", 6), gang("b", "/B", 6), gang("c", "/C", 4)]


@pytest.mark.parametrize(
    ("policy", "consumers", "settings", "expected"),
    [
        ("hybrid", ALIKE, {}, (6, 0, 4)),
        ("share_ratio", SHARERS, {}, (6, 0, 4)),
        ("share_ratio", SHARERS, {"enforce": "parent", "entitlement": "workload"}, (6, 0, 4)),
        ("share_ratio", SHARERS, {"entitlement": "fixed"}, (0, 0, 0)),
        ("ownership", ALIKE, {}, (0, 0, 0)),
    ],
)
def test_r_gang_1_who_cannot_use_its_quota_gives_way(
    policy: str, consumers: Json, settings: Json, expected: tuple[int, ...]
) -> None:
    found = cycle(case_of(consumers, THREE, policy=policy, settings=settings))
    assert tuple(quota_of(found).values()) == expected
    assert moved(found, "grants") == ({} if policy == "ownership" else {"a": 6, "c": 4})


def test_r_gang_1_nothing_is_taken_back_for_a_gang_that_never_fits() -> None:
    requests = [gang("g", "/A", 6), loose("b", "/B", 10)]
    found = cycle(case_of({"A": {"owned": 5}, "B": {"owned": 5}}, requests, runs("b", 10)))
    assert quota_of(found) == {"/A": 0, "/B": 10}
    assert found.document["reclaims"] == []


def test_r_gang_1_a_reserve_idles_and_others_of_the_leaf_count() -> None:
    requests = [gang("g", "/A", 6), loose("a", "/A", 1), loose("b", "/B", 20)]
    owned = {"A": {"owned": 5, "reserved": 3}, "B": {"owned": 5}}
    found = cycle(case_of(owned, requests))
    assert (quota_of(found), moved(found, "grants")) == ({"/A": 3, "/B": 7}, {"a": 1, "b": 7})


@pytest.mark.parametrize(("slots", "expected", "stopped"), [(16, {"/A": 8, "/B": 8}, 0), (15, {"/A": 15, "/B": 0}, 8)])
def test_r_gang_1_a_gang_that_runs_is_stopped_only_where_it_does_not_fit(
    slots: int, expected: Json, stopped: int
) -> None:
    """It runs on beside one that waits; where the quota is smaller than each of both, it counts for nothing."""
    requests = [loose("a", "/A", 20), gang("old", "/B", 8, submitted=at(9)), gang("new", "/B", 8, submitted=at(1))]
    owners = {"A": {"owned": 5}, "B": {"owned": 5}}
    found = cycle(case_of(owners, requests, runs("a", 7), runs("old", 8), slots=slots))
    assert quota_of(found) == expected
    assert sum(row["units"] for row in found.document["reclaims"]) == stopped


def test_r_gang_1_gangs_of_two_leaves_do_not_stop_one_another_in_turn() -> None:
    """Of 15 slots C0's gang of 7 has 7; were it not asked once it runs, C1's would take 4 of them, in vain."""
    owned: Json = {
        path: {"owned": units} for path, units in {"/B": 2, "/C": 2, "/C/C0": 1, "/C/C1": 1, "/D": 1}.items()
    }
    plan = {
        "fairhold": 1,
        "resource_groups": {"g": {"slots": 15}},
        "consumers": {"B": {}, "C": {"consumers": {"C0": {}, "C1": {}}}, "D": {}},
        "policies": [{"resource_groups": ["g"], "policy": "hybrid", "consumers": owned}],
    }
    requests = [
        *(loose("b", "/B", 4), loose("d", "/D", 1), gang("c1", "/C/C1", 4), gang("c0", "/C/C0", 7)),
        gang("later", "/B", 4, priority=-1),
    ]
    case = Case(plan, {"fairhold_state": 1, "now": NOW, "requests": requests})
    first = cycle(case)
    assert moved(first, "grants") == {"b": 4, "d": 1, "c0": 7}
    again = cycle(Case(plan, state_document(case.plan, first.after) | {"now": "2026-01-05T09:01:00Z"}))
    assert (moved(again, "grants"), again.document["reclaims"], quota_of(again)) == ({}, [], quota_of(first))


def test_r_gang_1_a_gang_that_starts_changes_no_quota_at_its_instant() -> None:
    """C's gang of 2 never fits its quota of 1. While A's gang waited that was asked; once it has started, too."""
    consumers = {"A": {"owned": 2}, "B": {"owned": 2}, "C": {}}
    requests = [gang("c", "/C", 2), loose("a", "/A", 4), gang("g", "/A", 2, priority=1)]
    case = case_of(consumers, requests, runs("c", 2), runs("a", 2), slots=6, settings={"distribute_evenly": True})
    found = cycle(case)
    assert moved(found, "grants") == {"g": 2}
    assert quota_of(run_cycle(case.plan, found.after)) == quota_of(found) == {"/A": 6, "/B": 0, "/C": 0}


def test_r_gang_1_is_explained_and_one_slot_more_is_true() -> None:
    case = case_of({"A": {"owned": 5}, "B": {"owned": 5}}, [gang("g", "/A", 6), loose("b", "/B", 9)])
    result = run(open_books(case.plan, case.state)["g"], case.state.now)
    told = explain(case.plan, result, "/A")
    (mine,) = (each for each in told.levels[-1].siblings if each.path == "/A")
    assert mine.bound is Bound.GANGS
    assert [(each.name, each.units) for each in told.controls] == [("gang", 6)]
    assert told.counterfactual is not None
    change = told.counterfactual.changes[0]
    assert (change.what, change.new) == ("demand", 7)
    case.state_document["requests"].append(loose("more", "/A", 1))
    again = Case(case.plan_document, case.state_document)
    assert quota_of(cycle(again))["/A"] == told.counterfactual.quota


@given(gangs())
def test_r_gang_1_no_quota_is_more_than_what_could_be_used_but_for_reserves(case: Case) -> None:
    books = books_of(case)
    result = quotas(books, case.state.now)
    for leaf in books.requests.lines.gangs:
        quota, wanted = result.draft.quota[leaf], result.snapshot.counted[leaf]
        most = usable(books, leaf, case.state.now, wanted, quota)
        assert quota <= max(most, result.draft.needs.reserve[leaf], min(books.held[leaf], wanted))


OWNERS = {"A": {"owned": 6}, "B": {"owned": 4}}


def waiting(limit: str = "2h") -> list[Json]:
    return [
        loose("small", "/A", 4, time_limit=limit, submitted=at(0)),
        gang("g", "/A", 6, submitted=at(10)),
        loose("long", "/A", 5, submitted=at(20)),
        loose("short", "/A", 1, time_limit="30m", submitted=at(30)),
        loose("b", "/B", 9),
    ]


@pytest.mark.parametrize(
    ("settings", "limit", "granted", "kept"),
    [
        ({}, "2h", {"long": 2}, {}),
        ({"hold_after": "2h"}, "2h", {"long": 2}, {}),
        ({"hold_after": "none"}, "2h", {"long": 2}, {}),
        (HOLD, "2h", {"short": 1}, {"g": 1}),
        (HOLD, "80m", {}, {"g": 2}),
    ],
)
def test_r_hold_1_r_hold_2_who_gets_idle_slots(settings: Json, limit: str, granted: Json, kept: Json) -> None:
    found = cycle(case_of(OWNERS, waiting(limit), runs("small", 4), runs("b", 4), settings=settings))
    assert (moved(found, "grants"), held(found)) == (granted, kept)


def test_r_hold_2_without_known_ends_slots_are_only_held() -> None:
    requests = waiting()
    del requests[0]["time_limit"]
    found = cycle(case_of(OWNERS, requests, runs("small", 4), runs("b", 4), settings=HOLD))
    assert (moved(found, "grants"), held(found)) == ({}, {"g": 2})


def test_r_hold_2_notices_for_the_leaf_are_known_ends() -> None:
    notice = {"request": "b", "units": 4, "for": "/A", "deadline": "2026-01-05T09:40:00Z"}
    case = case_of(OWNERS, waiting()[1:], runs("b", 8), settings=HOLD, reclaims=[notice])
    found = cycle(case)
    assert (moved(found, "grants"), held(found), found.document["reclaims"]) == ({"short": 1}, {"g": 1}, [])
    notice["deadline"] = "2026-01-05T09:20:00Z"
    assert held(cycle(Case(case.plan_document, case.state_document))) == {"g": 2}


def test_r_hold_1_held_slots_are_no_one_elses_and_start_the_gang_once_there_are_enough() -> None:
    kept = [{"request": "g", "units": 5}]
    owners = {"A": {"owned": 6}, "B": {"owned": 4, "rank": -0}}
    requests = [gang("g", "/A", 6, submitted=at(10)), loose("b", "/B", 9), loose("a", "/A", 9, priority=0)]
    found = cycle(case_of(owners, requests, runs("b", 5), settings=HOLD, held=kept))
    assert (moved(found, "grants"), held(found)) == ({}, {"g": 5})
    found = cycle(case_of(owners, requests, runs("b", 4), settings=HOLD, held=kept))
    assert (moved(found, "grants"), held(found)) == ({"g": 6}, {})


def test_r_hold_1_what_is_held_is_given_up_where_the_gang_is_too_large_or_too_young() -> None:
    kept = [{"request": "g", "units": 2}]
    requests = [gang("g", "/A", 8, submitted=at(10)), loose("a", "/A", 9), loose("b", "/B", 9)]
    found = cycle(case_of(OWNERS, requests, runs("a", 4), runs("b", 4), settings=HOLD, held=kept))
    assert (moved(found, "grants"), held(found)) == ({"a": 2}, {})
    requests[0] |= {"count": 6, "min_count": 6, "waiting_since": at(55)}
    found = cycle(case_of(OWNERS, requests, runs("a", 4), runs("b", 4), settings=HOLD, held=kept))
    assert held(found) == {}
    assert found.results["g"].decision.due == case_of({"A": {}}, [], now="2026-01-05T09:05:00Z").state.now


def test_r_hold_1_a_higher_priority_comes_before_and_one_gang_collects() -> None:
    requests = [*waiting(), gang("other", "/A", 3, submitted=at(5)), loose("vip", "/A", 1, priority=1)]
    found = cycle(case_of(OWNERS, requests, runs("small", 4), runs("b", 4), settings=HOLD))
    assert moved(found, "grants")["vip"] == 1
    assert set(held(found)) <= {"other"}


def test_held_slots_that_are_changed_are_found_out() -> None:
    case = case_of(OWNERS, waiting("80m"), runs("small", 4), runs("b", 4), settings=HOLD)
    found = cycle(case)
    state = state_document(case.plan, found.after)
    for kept in ([], [{"request": "g", "units": 1}], [{"request": "long", "units": 2}]):
        wrong = found.document | {"state": state | {"held": kept}}
        assert verify(case.plan, case.state, wrong) != ()
    groups = json.loads(json.dumps(found.document["resource_groups"]))
    groups["g"]["consumers"]["/A"]["need"] += 1
    assert verify(case.plan, case.state, found.document | {"resource_groups": groups, "state": state}) != ()


@pytest.mark.parametrize(("value", "code"), [("soon", "duration"), (5, "duration"), (True, "duration")])
def test_bad_values_are_refused_where_they_stand(value: Any, code: str) -> None:
    with pytest.raises(InputError) as refused:
        case_of(OWNERS, [], settings={"hold_after": value}).plan  # noqa: B018 - reads it
    (fault,) = refused.value.faults
    assert (fault.code, fault.place) == (code, ("policies", 0, "settings", "hold_after"))


def test_a_state_with_run_limits_survives_its_file() -> None:
    requests = [loose("a", "/A", 2, time_limit="1.5s", submitted=at(1), waiting_since=at(2))]
    case = case_of(OWNERS, requests)
    text = json.dumps(state_document(case.plan, case.state))
    assert parse_state(text, case.plan, "state.json") == case.state


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5), st.integers(0, 59)), min_size=1, max_size=6),
    st.integers(1, 12),
)
def test_r_victim_1_no_choice_breaks_fewer_gangs(sizes: list[tuple[int, int, int]], units: int) -> None:
    """Against every set of gangs that could be stopped whole."""
    requests: list[dict[str, Any]] = [
        {"id": f"r{number}", "consumer": "/A", "count": count, "min_count": min(least, count), "submitted": at(minute)}
        for number, (count, least, minute) in enumerate(sizes)
    ]
    total = sum(count for count, _, _ in sizes)
    units = min(units, total)
    plan, _ = parse_plan(json.dumps(case_of({"A": {}}, [], slots=total).plan_document), "plan")
    allocations = [runs(f"r{number}", count) for number, (count, _, _) in enumerate(sizes)]
    state = {"fairhold_state": 1, "now": NOW, "requests": requests, "allocations": allocations}
    books = open_books(plan, parse_state(json.dumps(state), plan, "state"))["g"]
    gone: dict[str, int] = {}
    for row, count in choose_victims(books, books.rows.by_path["/A"], units):
        name = books.requests.id[books.allocations.request[row]]
        gone[name] = gone.get(name, 0) + count
    broken = [
        each
        for each in requests
        if each["min_count"] > 0 and gone.get(each["id"], 0) > each["count"] - each["min_count"]
    ]
    assert all(gone[each["id"]] == each["count"] for each in broken)
    assert sum(gone.values()) >= units
    groups = [each for each in requests if each["min_count"]]
    fewest = next(
        number
        for number in range(len(groups) + 1)
        if any(
            total - sum(each["min_count"] for each in groups if each not in stopped) >= units
            for stopped in combinations(groups, number)
        )
    )
    assert len(broken) == fewest


def test_r_victim_1_what_a_gang_is_granted_counts_for_its_minimum() -> None:
    """R-SWITCH-1: one unit that was borrowed goes; the gang grows by one in the same cycle, and runs on."""
    consumers: Json = {"/A": {"owned": 2, "lend_to": [{"consumer": "/B"}]}, "/B": {"owned": 1}}
    consumers["/B"]["borrow_from"] = [{"consumer": "/A"}]
    night = {"resource_groups": ["g"], "policy": "ownership", "consumers": consumers}
    day = {"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/A": {"owned": 2}, "/B": {"owned": 1}}}
    plan = {"fairhold": 1, "resource_groups": {"g": {"slots": 3}}, "consumers": {"A": {}, "B": {"reclaim_grace": "1m"}}}
    plan["policies"] = [night, day | {"window": "Mon-Sun 09:00-10:00"}]
    state = {
        "fairhold_state": 1,
        "now": NOW,
        "previous_cycle": at(59),
        "requests": [{"id": "r", "consumer": "/B", "count": 3, "min_count": 2}],
        "allocations": [runs("r", 2)],
        "borrowed": [{"borrower": "/B", "lender": "/A", "resource_group": "g", "units": 1}],
    }
    found = cycle(Case(plan, state))
    assert moved(found, "grants") == {"r": 1}
    assert [(row["units"], row["reason"]) for row in found.document["reclaims"]] == [(1, "window")]


def test_r_switch_1_a_gang_that_a_switch_breaks_is_granted_nothing() -> None:
    """All four units of a gang leave; the two that it still wants would run on alone beside idle slots."""
    night = {"resource_groups": ["g"], "policy": "hybrid", "consumers": {"/A": {"owned": 0}}}
    day = {"resource_groups": ["g"], "policy": "ownership", "consumers": {"/A": {"owned": 0, "share_ratio": 1}}}
    plan = {"fairhold": 1, "resource_groups": {"g": {"slots": 14}}, "consumers": {"A": {"reclaim_grace": "1m"}}}
    plan["policies"] = [night, day | {"window": "Mon-Sun 09:00-10:00"}]
    requests = [loose("r", "/A", 6) | {"min_count": 4}]
    state = {"fairhold_state": 1, "now": NOW, "previous_cycle": at(59), "requests": requests}
    case = Case(plan, state | {"allocations": [runs("r", 4)]})
    found = cycle(case)
    assert (moved(found, "grants"), moved(found, "reclaims")) == ({}, {"r": 4})
    again = run_cycle(case.plan, found.after, check=True)
    assert (moved(again, "grants"), again.untrue) == ({}, ())


def test_what_a_state_says_is_held_where_no_gang_waits_too_long_is_idle_for_all() -> None:
    """R-HOLD-1: no `hold_after`, and 6 slots are held for a request: both have their turns, and nothing stays held."""
    requests = [loose("a", "/A", 3), loose("b", "/A", 4)]
    held = [{"request": "b", "host": "h", "units": 6}]
    case = case_of(
        {"A": {}, "B": {"share_ratio": 3}}, requests, policy="share_ratio", settings={"entitlement": "fixed"}
    )
    hosts = {"resource_groups": {"g": {"hosts": [{"name": "h", "slots": 6}]}}}
    found = cycle(Case(case.plan_document | hosts, case.state_document | {"held": held}))
    assert (moved(found, "grants"), found.after.held) == ({"a": 3, "b": 3}, ())


def test_what_a_gang_gives_because_of_a_limit_is_asked_of_nobody_else() -> None:
    """/B's gang stops whole for one unit above its limit: what it frees is all that /C misses, and /A's runs on."""
    ratios = {"A": {"share_ratio": 1}, "B": {"share_ratio": 1, "limit": 3}, "C": {"share_ratio": 3}}
    running = [gang("a", "/A", 4), gang("b", "/B", 4)]
    case = case_of(
        ratios,
        [*running, loose("c", "/C", 5)],
        runs("a", 4),
        runs("b", 4),
        policy="share_ratio",
        settings={"entitlement": "fixed"},
    )
    found = cycle(case)
    assert moved(found, "grants") == {"c": 2}
    assert sum(row["units"] for row in found.document["reclaims"]) == 4
    assert {row["request"] for row in found.document["reclaims"]} == {"b"}
