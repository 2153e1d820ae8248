"""Cycles worked by hand where the cases beside have none: stops, gangs, kept units, limits above a leaf."""

from __future__ import annotations

import json
from typing import Any

from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.reference.cases import told_cycle

NOW = "2026-01-05T09:00:00Z"


def cycle(group: dict[str, Any], owned: dict[str, dict[str, int]], **state: Any) -> dict[str, Any]:
    consumers: dict[str, Any] = {path: {} for path in owned}
    entry = {"resource_groups": ["g"], "policy": "hybrid", "consumers": owned}
    document = {"fairhold": 1, "cluster": "c", "resource_groups": {"g": group}, "consumers": consumers}
    plan, _ = parse_plan(json.dumps(document | {"policies": [entry]}), "plan.json")
    read = parse_state(json.dumps({"fairhold_state": 1, "now": NOW} | state), plan, "state.json")
    result = told_cycle(plan, read)
    assert verify(plan, read, result) == ()
    return result


def short(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(row.get("request", row["consumer"]), row["units"]) for row in rows]


def request(name: str, leaf: str, count: int, gang: int = 0, minute: int = 10) -> dict[str, Any]:
    submitted = f"2026-01-05T08:{minute}:00Z"
    return {"id": name, "consumer": leaf, "count": count, "min_count": gang, "submitted": submitted}


def holds(name: str, units: int, host: str = "") -> dict[str, Any]:
    row = {"request": name, "units": units, "started": "2026-01-05T08:30:00Z"}
    return row | ({"host": host} if host else {})


def test_a_grace_that_ran_out_stops_and_the_units_are_granted_at_once() -> None:
    notice = {"consumer": "/B", "units": 3, "for": "/A", "deadline": NOW}
    given = {
        "demand": {"/A": {"g": 5}, "/B": {"g": 9}},
        "allocated": {"/A": {"g": 2}, "/B": {"g": 8}},
        "reclaims": [notice],
    }
    result = cycle({"slots": 10}, {"/A": {"owned": 5}, "/B": {"owned": 5}}, **given)
    assert [short(result[kind]) for kind in ("stops", "grants", "reclaims")] == [[("/B", 3)], [("/A", 3)], []]
    assert result["resource_groups"]["g"]["consumers"]["/B"]["allocated"] == 5
    settled = cycle({"slots": 10}, {"/A": {"owned": 5}, "/B": {"owned": 5}}, **given, previous_cycle=NOW)
    assert [settled[kind] for kind in ("stops", "grants", "reclaims", "withdrawn")] == [[], [], [], []]


def test_a_gang_takes_all_it_misses_or_leaves_the_units_to_others() -> None:
    requests = [request("gang", "/A", 6, gang=4), request("single", "/B", 2), request("runs", "/C", 5)]
    owned = {"/A": {"owned": 6}, "/B": {"owned": 2}, "/C": {}}
    result = cycle({"slots": 8}, owned, requests=requests, allocations=[holds("runs", 5)])
    assert short(result["grants"]) == [("single", 2)]
    assert short(result["reclaims"]) == [("runs", 5)]


def test_a_gang_is_stopped_whole_and_others_give_less() -> None:
    requests = [request("taker", "/A", 4), request("gang", "/B", 3, gang=3), request("loose", "/C", 3)]
    owned = {"/A": {"owned": 4}, "/B": {"owned": 1}, "/C": {"owned": 1}}
    result = cycle({"slots": 6}, owned, requests=requests, allocations=[holds("gang", 3), holds("loose", 3)])
    assert short(result["reclaims"]) == [("gang", 3), ("loose", 1)]


def test_a_gang_under_notice_runs_on_where_enough_notices_can_be_taken_back() -> None:
    requests = [request("gang", "/B", 3, gang=2)]
    notice = {"request": "gang", "units": 3, "deadline": "2026-01-05T09:00:20Z"}
    owned = {"/A": {"owned": 3}, "/B": {"owned": 3}}
    result = cycle({"slots": 6}, owned, requests=requests, allocations=[holds("gang", 3)], reclaims=[notice])
    assert short(result["withdrawn"]) == [("gang", 3)]


def test_what_a_state_keeps_counts_for_no_request_where_no_gang_is_overdue() -> None:
    requests = [request("first", "/A", 2, minute=10), request("kept", "/A", 1, minute=20)]
    hosts = {"hosts": [{"name": "h1", "slots": 1}, {"name": "h2", "slots": 1}]}
    result = cycle(hosts, {"/A": {"owned": 2}}, requests=requests, held=[{"request": "kept", "host": "h1", "units": 1}])
    placed = [(row["request"], row["host"]) for row in result["grants"]]
    assert sorted(placed) == [("first", "h1"), ("first", "h2")]
    assert "held" not in result["state"]


def test_what_goes_because_of_a_limit_above_says_so() -> None:
    held = {"/P/a": {"g": 4}, "/P/b": {"g": 4}}
    result = cycle({"slots": 20}, {"/P": {"limit": 6}, "/P/a": {}, "/P/b": {}}, demand=held, allocated=held)
    assert [(row["consumer"], row["units"], row["reason"]) for row in result["reclaims"]] == [
        ("/P/a", 1, "limit"),
        ("/P/b", 1, "limit"),
    ]
