"""What a plan says of when to reclaim, and how much: one rule, one small cluster (R-CONTROL-1 to R-CONTROL-5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cycle.cluster import NOW, Seen, cycle

THREE: dict[str, dict[str, Any]] = {
    "/A": {"owned": 6, "rank": 0, "wants": 6},
    "/B": {"rank": 1, "wants": 9, "holds": 5},
    "/C": {"rank": 2, "wants": 9, "holds": 5},
}


def after(seconds: int) -> str:
    return f"2026-01-05T09:{seconds // 60:02d}:{seconds % 60:02d}Z"


def again(
    slots: int, consumers: dict[str, dict[str, Any]], seen: Seen, now: str = NOW, more: Any = None, **settings: Any
) -> Seen:
    """Another cycle on the state that a cycle has left."""
    state = {key: value for key, value in seen.after.items() if key not in {"fairhold_state", "now"}}
    return cycle(slots, consumers, now=now, state=state | (more or {}), **settings)


def test_max_reclaims_takes_the_worst_path_first_and_the_rest_later() -> None:
    """R-CONTROL-1."""
    without = cycle(10, THREE)
    assert without.reclaimed == {"/B": 3, "/C": 3}
    first = cycle(10, THREE, max_reclaims=4)
    assert first.reclaimed == {"/B": 1, "/C": 3}
    same = again(10, THREE, first, max_reclaims=4)
    assert (same.document["reclaims"], same.after) == ([], first.after)
    second = again(10, THREE, first, after(1), max_reclaims=4)
    assert second.reclaimed == {"/B": 2}


def test_what_a_limit_and_lost_slots_want_is_never_held_back() -> None:
    """R-CONTROL-1: it counts, and goes in any case."""
    limited: dict[str, dict[str, Any]] = {**THREE, "/B": {**THREE["/B"], "limit": 2}}
    assert cycle(10, limited, max_reclaims=2).reclaimed == {"/B": 3}
    assert cycle(7, THREE, max_reclaims=1).reclaimed == {"/C": 3}
    branch: dict[str, dict[str, Any]] = {
        "/A": {"owned": 4, "wants": 4},
        "/P": {"limit": 3},
        "/P/X": {"wants": 9, "holds": 5},
    }
    assert cycle(9, branch, max_reclaims=1).reclaimed == {"/P/X": 2}


def gang_state(*rows: tuple[str, str, int, int, int]) -> dict[str, Any]:
    """Requests by id: consumer, units wanted and held, minimum, and minutes that they have run."""
    return {
        "requests": [
            {"id": name, "consumer": path, "count": units, "min_count": minimum, "submitted": NOW}
            for name, path, units, minimum, _ in rows
        ],
        "allocations": [
            {"request": name, "units": units, "started": f"2026-01-05T08:{60 - minutes:02d}:00Z"}
            for name, _, units, _, minutes in rows
            if minutes
        ],
    }


def test_a_gang_goes_whole_and_alone_where_it_is_larger() -> None:
    """R-CONTROL-1."""
    consumers: dict[str, dict[str, Any]] = {"/A": {"owned": 6}, "/B": {"rank": 1}, "/C": {"rank": 2}}
    state = gang_state(("a", "/A", 6, 0, 0), ("b", "/B", 3, 0, 5), ("c", "/C", 4, 4, 5))
    first = cycle(7, consumers, state=state, max_reclaims=2)
    assert first.reclaimed == {"/C": 4}
    second = again(7, consumers, first, after(1), max_reclaims=2)
    assert second.reclaimed == {"/B": 2}
    assert again(7, consumers, second, after(2), max_reclaims=2).document["reclaims"] == []


def test_a_dead_zone_leaves_small_lacks_alone_and_serves_larger_ones_whole() -> None:
    """R-CONTROL-2."""
    held: dict[str, dict[str, Any]] = {"/A": {"owned": 6, "wants": 6, "holds": 4}, "/B": {"wants": 9, "holds": 6}}
    assert cycle(10, held).reclaimed == {"/B": 2}
    quiet = cycle(10, held, dead_zone=2)
    assert quiet.reclaimed == {}
    assert quiet.after["shortages"] == [{"consumer": "/A", "resource_group": "compute", "since": NOW}]
    held["/A"]["holds"], held["/B"]["holds"] = 3, 7
    large = cycle(10, held, dead_zone=2)
    assert large.reclaimed == {"/B": 3}
    # One comes; two are missing still, and their notices stay.
    part = large.after | {"allocated": {"/A": {"compute": 4}, "/B": {"compute": 6}}}
    part["reclaims"] = [part["reclaims"][0] | {"units": 2, "deadline": after(60)}]
    rest = again(10, held, Seen({}, part), after(1), dead_zone=2)
    assert (rest.reclaimed, rest.document["withdrawn"], rest.numbers["/A"]["allocated"]) == ({}, [], 4)
    # Withdrawn are they once it takes back no more.
    part["shortages"] = []
    rest = again(10, held, Seen({}, part), after(1), dead_zone=2)
    assert rest.moved("withdrawn") == {"/B": 2}


def test_a_reserve_above_takes_back_nothing_for_a_leaf_in_its_dead_zone() -> None:
    """R-CONTROL-2."""
    consumers: dict[str, dict[str, Any]] = {
        "/P": {"owned": 6, "reserved": 4},
        "/P/A": {"owned": 6, "reserved": 4, "wants": 6, "holds": 3},
        "/B": {"wants": 9, "holds": 7},
    }
    assert cycle(10, consumers).reclaimed == {"/B": 3}
    assert cycle(10, consumers, dead_zone=3).reclaimed == {}
    assert cycle(10, consumers, await_ends="1m").reclaimed == {}


def test_natural_ends_are_awaited_and_then_units_are_taken_back() -> None:
    """R-CONTROL-3."""
    held: dict[str, dict[str, Any]] = {
        "/A": {"owned": 6, "wants": 6, "holds": 4},
        "/B": {"wants": 9, "holds": 6, "reclaim_grace": "5s"},
    }
    first = cycle(10, held, await_ends="10s")
    assert (first.reclaimed, first.after["shortages"][0]["since"]) == ({}, NOW)
    second = again(10, held, first, after(9), await_ends="10s")
    assert (second.reclaimed, second.after["shortages"]) == ({}, first.after["shortages"])
    third = again(10, held, second, after(10), await_ends="10s")
    assert third.reclaimed == {"/B": 2}
    assert third.after["shortages"] == [{**first.after["shortages"][0], "taking": True}]
    # A lack that was gone in between begins anew.
    had = second.after | {"allocated": {"/A": {"compute": 6}, "/B": {"compute": 4}}}
    gone = again(10, held, Seen({}, had), after(10), await_ends="10s")
    assert "shortages" not in gone.after
    had = gone.after | {"allocated": {"/A": {"compute": 4}, "/B": {"compute": 6}}}
    assert again(10, held, Seen({}, had), after(11), await_ends="10s").reclaimed == {}


def test_limits_wait_for_no_dead_zone_and_no_ends() -> None:
    """R-CONTROL-2, R-CONTROL-3."""
    held: dict[str, dict[str, Any]] = {
        "/A": {"owned": 6, "wants": 6, "holds": 3},
        "/B": {"limit": 5, "wants": 9, "holds": 7},
    }
    assert cycle(10, held, await_ends="1h", dead_zone=9).reclaimed == {"/B": 2}


def test_what_is_only_observed_is_shown_and_nobody_is_told() -> None:
    """R-CONTROL-4."""
    told, shown = cycle(10, THREE), cycle(10, THREE, observe_only=True)
    assert shown.document["observed"] == told.document["reclaims"]
    assert (shown.document["reclaims"], "reclaims" in shown.after) == ([], False)
    assert "observed" not in told.document
    idle: dict[str, dict[str, Any]] = {**THREE, "/C": {"rank": 2, "wants": 9, "holds": 3}}
    assert cycle(10, idle, observe_only=True).granted == {"/A": 2}


def test_young_units_stay_and_others_go_first() -> None:
    """R-CONTROL-5."""
    consumers: dict[str, dict[str, Any]] = {"/A": {"owned": 4}, "/B": {"entry": {"min_runtime": "10m"}}, "/C": {}}
    young = gang_state(("a", "/A", 4, 0, 0), ("old", "/B", 2, 0, 20), ("new", "/B", 3, 0, 5), ("c", "/C", 3, 0, 5))
    seen = cycle(8, consumers, state=young)
    assert seen.moved("reclaims", "request") == {"old": 2, "c": 1}
    assert cycle(8, {**consumers, "/B": {}}, state=young).moved("reclaims", "request") == {"new": 3, "c": 1}
    alone: dict[str, dict[str, Any]] = {"/A": {"owned": 4}, "/P": {"entry": {"min_runtime": "10m"}}, "/P/B": {}}
    rows = gang_state(("a", "/A", 4, 0, 0), ("old", "/P/B", 2, 0, 10), ("new", "/P/B", 6, 0, 5))
    seen = cycle(8, alone, state=rows)
    assert seen.moved("reclaims", "request") == {"old": 2}
    assert again(8, alone, seen, after(299)).moved("reclaims", "request") == {}
    assert again(8, alone, seen, after(300)).moved("reclaims", "request") == {"new": 2}


def test_a_gang_with_a_young_unit_is_not_stopped_but_gives_what_it_can() -> None:
    """R-CONTROL-5."""
    consumers: dict[str, dict[str, Any]] = {"/A": {"owned": 4}, "/B": {"entry": {"min_runtime": "10m"}}}
    rows = gang_state(("a", "/A", 4, 0, 0), ("gang", "/B", 6, 4, 20))
    rows["allocations"] = [rows["allocations"][0] | {"units": 5}, rows["allocations"][0] | {"units": 1, "started": NOW}]
    seen = cycle(6, consumers, state=rows)
    assert seen.moved("reclaims", "request") == {"gang": 2}
    rows["allocations"][1]["started"] = rows["allocations"][0]["started"]
    assert cycle(6, consumers, state=rows).moved("reclaims", "request") == {"gang": 6}


@pytest.mark.parametrize(("limit", "slots", "gone"), [(3, 8, 5), (8, 5, 3)])
def test_limits_and_lost_slots_wait_for_no_age(limit: int, slots: int, gone: int) -> None:
    """R-CONTROL-5: the older ones go first."""
    consumers: dict[str, dict[str, Any]] = {"/B": {"limit": limit, "entry": {"min_runtime": "10m"}}}
    rows = gang_state(("old", "/B", 2, 0, 20), ("new", "/B", 6, 0, 5))
    assert cycle(slots, consumers, state=rows).moved("reclaims", "request") == {"old": 2, "new": gone - 2}
