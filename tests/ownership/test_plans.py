"""Plans of `ownership` and divided groups: what is refused, and what is warned about (R-LEND-1, R-MIX-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.ledger.rows import in_force, lay_out
from fairhold.planio.balances import balances
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import parse_instant

TREE: dict[str, Any] = {"A": {}, "B": {}, "C": {}, "D": {"consumers": {"d": {}, "e": {}}}}


def entry(policy: str, consumers: dict[str, Any], window: str = "", **settings: Any) -> dict[str, Any]:
    more = {"window": window} if window else {}
    return {"resource_groups": ["c"], "policy": policy, "consumers": consumers, "settings": settings} | more


def text_of(*entries: dict[str, Any], **group: Any) -> str:
    groups = {"c": {"slots": 40} | group}
    return json.dumps({"fairhold": 1, "resource_groups": groups, "consumers": TREE, "policies": entries})


def faults(*entries: dict[str, Any], **group: Any) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        parse_plan(text_of(*entries, **group), "plan")
    return [(fault.code, fault.what) for fault in caught.value.faults]


def lends(*names: str) -> list[dict[str, str]]:
    return [{"consumer": name} for name in names]


REST: dict[str, Any] = {"/B": {}, "/C": {}, "/D": {}}


@pytest.mark.parametrize(
    ("consumers", "code", "named"),
    [
        ({"/A": {"lend_to": lends("/X")}}, "unknown-consumer", "/X"),
        ({"/A": {"lend_to": lends("/D")}}, "not-a-leaf", "/D"),
        ({"/D": {"owned": 2, "lend_to": lends("/A")}}, "not-a-leaf", "/D"),
        ({"/A": {"borrow_from": lends("/A")}}, "lends-to-itself", "/A"),
        ({"/A": {"borrow_from": lends("/B", "/B")}}, "listed-twice", "/B"),
        ({"/A": {"lend_to": [{"consumer": "/B", "limit": -1}]}}, "negative", "-1"),
        ({"/A": {"lend_to": {"consumer": "/B"}}}, "wrong-type", "list"),
        ({"/D": {"share_ratio": 1}}, "ratio-on-branch", "/D"),
        ({"/A": {"owned": 2, "reserved": 3}}, "reserved-above-owned", "/A"),
        ({"/D": {"owned": 2}, "/D/d": {"owned": 3}}, "children-own-more", "/D"),
    ],
)
def test_a_wrong_list_or_number_is_refused(consumers: dict[str, Any], code: str, named: str) -> None:
    ((found, what),) = faults(entry("ownership", consumers))
    assert found == code
    assert named in what


@pytest.mark.parametrize("circle", [("/A", "/B"), ("/A", "/B", "/C")])
def test_consumers_may_lend_in_a_circle(circle: tuple[str, ...]) -> None:
    """R-LEND-1: two to each other, or one to the next and the last to the first."""
    lists = {
        name: {"lend_to": lends(circle[(at + 1) % len(circle)]), "borrow_from": lends(circle[at - 1])}
        for at, name in enumerate(circle)
    }
    plan, warnings = parse_plan(text_of(entry("ownership", lists)), "plan")
    assert warnings == ()
    pairs = lay_out(plan, "c", (0,)).lists
    assert len(pairs.borrower) == len(circle)
    assert sorted(pairs.borrower) == sorted(pairs.lender)


def test_keys_and_settings_of_other_policies_are_refused() -> None:
    assert [code for code, _ in faults(entry("hybrid", {"/A": {"lend_to": lends("/B")}}))] == ["other-policy"]
    assert [code for code, _ in faults(entry("ownership", {}, distribute_evenly=True))] == ["other-policy"]


def test_a_balance_of_the_root_is_told_once_for_the_whole_group() -> None:
    """R-MIX-2, S1.84: and as a warning."""
    entries = (entry("ownership", {"/A": {"owned": 9}}), entry("hybrid", REST | {"/B": {"owned": 20}}))
    plan, warnings = parse_plan(text_of(*entries, configured_slots=40), "plan")
    assert [(fault.code, "`/` has a balance of 11" in fault.what) for fault in warnings] == [("root-balance", True)]
    roots = [each for each in balances(plan) if each.consumer == 0]
    assert [(each.owned, each.children_owned) for each in roots] == [(40, 29)]
    assert [plan.tree.paths[each.consumer] for each in balances(plan)] == ["/", "/D"]
    too_much = faults(*entries, configured_slots=20)
    assert [code for code, _ in too_much] == ["owned-above-configured"]


def test_sides_of_a_divided_group_have_windows_of_their_own() -> None:
    """R-MIX-1, R-WINDOW-1: /A owns exactly always; the others take turns between two entries."""
    entries = (
        entry("ownership", {"/A": {"owned": 9}}),
        entry("hybrid", REST | {"/B": {"owned": 20}}, "Mon-Sun 08:00-20:00"),
        entry("hybrid", REST | {"/C": {"owned": 20}}, "Mon-Sun 20:00-08:00"),
    )
    plan = parse_plan(text_of(*entries), "plan")[0]
    day, night = (parse_instant(f"2026-01-05T{hour}:00:00Z") or 0 for hour in ("12", "23"))
    assert (in_force(plan, "c", day), in_force(plan, "c", night)) == ((0, 1), (0, 2))
    rows = lay_out(plan, "c", in_force(plan, "c", night))
    owned = {rows.path(row): rows.plan.owned[row] for row in range(1, len(rows)) if rows.plan.owned[row]}
    assert owned == {"/A": 9, "/C": 20}
    state = parse_state(
        json.dumps(
            {
                "fairhold_state": 1,
                "now": "2026-01-05T20:00:00Z",
                "previous_cycle": "2026-01-05T19:59:00Z",
                "demand": {"/A": {"c": 12}, "/B": {"c": 31}, "/C": {"c": 31}},
                "allocated": {"/A": {"c": 9}, "/B": {"c": 31}},
            }
        ),
        plan,
        "state",
    )
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert {row["consumer"]: row["units"] for row in cycle.document["reclaims"]} == {"/B": 31}
    assert verify(plan, state, cycle.document | {"state": state_document(plan, cycle.after)}) == ()


def test_a_lead_of_an_entry_that_is_in_force_for_others_already() -> None:
    """R-WINDOW-3: by night /B goes back to the entry that /D and /C are under all day, from half past seven on."""
    plan, warnings = parse_plan(
        text_of(
            entry("ownership", {"/A": {"owned": 9}}),
            entry("hybrid", {"/B": {"owned": 9}} | REST, lead="30m"),
            entry("hybrid", {"/B": {"owned": 20}}, "Mon-Sun 08:00-20:00", lead="12h"),
        ),
        "plan",
    )
    assert [(each.code, each.place[1]) for each in warnings] == [("never-in-force", 2)]  # its lead is all night
    force = {
        hour: in_force(plan, "c", parse_instant(f"2026-01-05T{hour}:00Z") or 0) for hour in ("08:00", "19:29", "19:30")
    }
    assert force == {"08:00": (0, 2, 1), "19:29": (0, 2, 1), "19:30": (0, 1, 1)}
    state = {
        "fairhold_state": 1,
        "now": "2026-01-05T19:30:00Z",
        "demand": {"/B": {"c": 31}, "/C": {"c": 31}},
        "allocated": {"/B": {"c": 31}},
    }
    read = parse_state(json.dumps(state), plan, "state")
    cycle = run_cycle(plan, read, check=True)
    assert {row["deadline"] for row in cycle.document["reclaims"]} == {"2026-01-05T20:00:00Z"}
    assert verify(plan, read, cycle.document | {"state": state_document(plan, cycle.after)}) == ()


def test_a_gap_of_one_side_names_it() -> None:
    found = faults(
        entry("ownership", {"/A": {"owned": 9}}),
        entry("hybrid", REST | {"/B": {"owned": 20}}, "Mon-Sun 08:00-20:00"),
    )
    assert {code for code, _ in found} == {"window-gap"}
    assert all("`/B`, `/C`, `/D` in `c`" in what for _, what in found)


def test_a_lead_brings_the_notices_of_a_switch_forward() -> None:
    """R-SWITCH-1 with R-WINDOW-3: given when the lead begins, due when the window opens."""
    numbers = {"/A": {"owned": 10}, "/B": {"owned": 30}}
    plan = parse_plan(
        text_of(
            entry("hybrid", numbers),
            entry("ownership", numbers, "Mon-Sun 08:00-20:00", lead="10m"),
        ),
        "plan",
    )[0]
    state = {"fairhold_state": 1, "now": "2026-01-05T07:50:00Z", "previous_cycle": "2026-01-05T07:49:59Z"}
    counts = {"demand": {"/A": {"c": 25}}, "allocated": {"/A": {"c": 25}}}
    cycle = run_cycle(plan, parse_state(json.dumps(state | counts), plan, "state"))
    (row,) = cycle.document["reclaims"]
    assert (row["units"], row["reason"], row["deadline"]) == (15, "window", "2026-01-05T08:00:00Z")
