"""Pictures of states in which budgets are used up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.drawing.picture import draw
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.drawing.reading import read

Json = dict[str, Any]


def titles(entry: Json, spent: Json, consumers: tuple[str, ...] = ("A", "B")) -> list[str]:
    has_vectors = entry["policy"] in {"multidimensional", "fair_share"}
    groups: Json = {"hosts": [{"name": name, "gpu": 4} for name in ("h0", "h1")]} if has_vectors else {"slots": 10}
    plan_document = {
        "fairhold": 1,
        "resource_groups": {"g": groups},
        "consumers": {path: {} for path in consumers},
        "policies": [{"resource_groups": ["g"], **entry}],
    } | ({"resources": {"gpu": {}}} if has_vectors else {})
    plan = parse_plan(json.dumps(plan_document), "plan.json")[0]
    work: Json = {"unit": {"gpu": 1}} if has_vectors else {}
    asked = [{"id": name, "consumer": f"/{name}", "count": 8, **work} for name in consumers]
    asked = [each | {"submitted": "2026-01-05T08:00:00Z"} for each in asked]
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": asked, **spent}
    return read(draw(plan, parse_state(json.dumps(state), plan, "state.json"))).titles


def budget(then: str) -> Json:
    return {"hours": {"gpu": 1}, "period": "day", "then": then}


@pytest.mark.parametrize(
    ("then", "of_host", "said"),
    [
        ("borrow_only", "h0: nobody gpu 4", "budget used up: borrow_only"),
        ("lowest_rank", "h0: /A gpu 4", "rank 3; budget used up: lowest_rank"),
        ("wait", "h0: /A gpu 4", "budget used up: wait"),
    ],
)
def test_parcels_are_owned_as_what_follows_says_and_the_row_tells_why(then: str, of_host: str, said: str) -> None:
    own: Json = {
        "/A": {"own": [{"resource_group": "g", "hosts": ["h0"]}], "budget": budget(then)},
        "/B": {"own": [{"resource_group": "g", "hosts": ["h1"]}]},
    }
    if then == "lowest_rank":
        own["/A"]["rank"] = 3
    entry = {"policy": "multidimensional", "consumers": own}
    used = titles(entry, {"spent_resources": {"/A": {"gpu": 3600}}})
    assert any(title.startswith(of_host) for title in used)
    assert any(title.startswith("/A: ") and said in title for title in used)
    not_yet = titles(entry, {"spent_resources": {"/A": {"gpu": 3599}}})
    assert any(title.startswith("h0: /A gpu 4") for title in not_yet)
    assert not any("used up" in title for title in not_yet)


@pytest.mark.parametrize(("then", "share"), [("borrow_only", "3"), ("lowest_rank", "6"), ("wait", "0")])
def test_queues_are_divided_as_what_follows_says(then: str, share: str) -> None:
    stated: Json = {"/A": {"deserved": {"gpu": 6}, "budget": budget(then)}, "/B": {"deserved": {"gpu": 2}}}
    stated["/B"]["limit"] = {"gpu": 6}
    used = titles({"policy": "fair_share", "consumers": stated}, {"spent_resources": {"/A": {"gpu": 3600}}})
    mine = next(title for title in used if title.startswith("/A: "))
    assert "deserved 6" in mine
    assert f"fair share {share}" in mine
    assert f"budget used up: {then}" in mine


def test_slots_say_whose_budget_is_used_up() -> None:
    stated = {"/A": {"owned": 5, "budget": {"unit_hours": 1, "period": "day", "then": "borrow_only"}}}
    entry = {"policy": "hybrid", "consumers": stated | {"/B": {"owned": 5}}}
    used = titles(entry, {"spent": {"/A": 3600}})
    mine = next(title for title in used if title.startswith("/A: "))
    assert "budget used up: borrow_only" in mine
    assert "quota 2" in mine
