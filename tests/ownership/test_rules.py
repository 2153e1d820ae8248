"""Rules of `ownership`, one by one, in small groups with numbers that can be checked by hand."""

from __future__ import annotations

import json
from typing import Any

from fairhold.cycle.document import run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.cycle.test_cases import by

GROUP = "compute"


def cycle(
    consumers: dict[str, Any],
    slots: int,
    demand: dict[str, int],
    held: dict[str, int],
    *,
    hybrid: dict[str, Any] | None = None,
    tree: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    """One cycle; the consumers of `hybrid` stand beside the others."""
    both = consumers | (hybrid or {})
    entries = [{"resource_groups": [GROUP], "policy": "ownership", "consumers": consumers}]
    if hybrid:
        entries.append({"resource_groups": [GROUP], "policy": "hybrid", "consumers": hybrid})
    document = {
        "fairhold": 1,
        "resource_groups": {GROUP: {"slots": slots}},
        "consumers": tree or {path[1:]: {} for path in both},
        "policies": entries,
    }
    plan, _ = parse_plan(json.dumps(document), "plan")
    counts = {
        name: {path: {GROUP: units} for path, units in numbers.items()}
        for name, numbers in (("demand", demand), ("allocated", held))
    }
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z"} | counts | more
    return run_cycle(plan, parse_state(json.dumps(state), plan, "state"), check=True)


def loan(borrower: str, lender: str, units: int) -> dict[str, Any]:
    return {"borrower": borrower, "lender": lender, "resource_group": GROUP, "units": units}


LISTS = {
    "/A": {"owned": 6, "lend_to": [{"consumer": "/B"}, {"consumer": "/C"}]},
    "/B": {"owned": 2, "borrow_from": [{"consumer": "/A"}]},
    "/C": {"owned": 2, "borrow_from": [{"consumer": "/A"}]},
}


def test_a_lender_takes_back_from_the_worst_path_first() -> None:
    """R-LEND-3: /A misses 3; /C, of the worst path, is 1 above its quota, then /B gives 2 of its 3."""
    done = cycle(
        LISTS,
        10,
        {"/A": 6, "/B": 2, "/C": 2},
        {"/A": 2, "/B": 5, "/C": 3},
        borrowed=[loan("/B", "/A", 3), loan("/C", "/A", 1)],
    )
    assert by("consumer", done.document["reclaims"]) == {"/C": 1, "/B": 3}
    assert done.untrue == ()
    fewer = cycle(LISTS, 10, {"/A": 5, "/B": 2, "/C": 2}, {"/A": 2, "/B": 5, "/C": 3}, borrowed=[loan("/B", "/A", 3)])
    assert by("consumer", fewer.document["reclaims"]) == {"/B": 3}, "what /C holds too much was not lent by /A"


def test_what_is_missing_beyond_loans_comes_from_the_worst_path() -> None:
    """R-OWN-4: nothing is lent; what is lost goes from the worst path above its quota."""
    alone = {path: {"owned": stated["owned"]} for path, stated in LISTS.items()}
    done = cycle(alone, 10, {"/A": 6, "/B": 9, "/C": 9}, {"/A": 6, "/B": 4, "/C": 3})
    assert by("consumer", done.document["reclaims"]) == {"/C": 1, "/B": 2}
    assert {row["reason"] for row in done.document["reclaims"]} == {"lost"}


def test_notices_beyond_what_is_missing_are_withdrawn_in_path_order() -> None:
    """R-OWN-5: 1 is missing and 3 are under notice: /B keeps its two, /C stays under notice."""
    notices = [
        {"consumer": path, "resource_group": GROUP, "units": units, "deadline": "2026-01-05T09:01:00Z"}
        for path, units in (("/B", 2), ("/C", 1))
    ]
    done = cycle(LISTS, 10, {"/A": 3, "/B": 2, "/C": 2}, {"/A": 2, "/B": 5, "/C": 3}, reclaims=notices)
    assert by("consumer", done.document["withdrawn"]) == {"/B": 2}
    assert done.document["reclaims"] == []


def test_who_has_borrowed_of_whom_is_carried_on() -> None:
    """R-LEND-4: as before the cycle, the rest in the order of the lists; never more than the lender leaves."""
    lists = {
        "/A": {"owned": 4, "lend_to": [{"consumer": "/C"}]},
        "/B": {"owned": 4, "lend_to": [{"consumer": "/C"}]},
        "/C": {"borrow_from": [{"consumer": "/A"}, {"consumer": "/B"}]},
    }
    held = {"/A": 1, "/B": 2, "/C": 4}
    done = cycle(lists, 8, held, held, borrowed=[loan("/C", "/B", 2)])
    paths = ["/A", "/B", "/C"]
    loans = {(paths[each.borrower - 1], paths[each.lender - 1]): each.units for each in done.after.borrowed}
    assert loans == {("/C", "/B"): 2, ("/C", "/A"): 2}
    fresh = cycle(lists, 8, held, held)
    assert [(each.lender, each.units) for each in fresh.after.borrowed] == [(1, 3), (2, 1)]


def test_what_a_branch_reserves_or_owns_itself_is_not_reclaimed_for() -> None:
    """R-OWN-2: /P owns 5 beyond its child and reserves them; /A holds them, and keeps them."""
    tree: dict[str, Any] = {"P": {"consumers": {"p": {}}}, "A": {}}
    consumers = {"/P": {"owned": 6, "reserved": 6}, "/P/p": {"owned": 1}, "/A": {"owned": 2}}
    done = cycle(consumers, 8, {"/P/p": 6, "/A": 7}, {"/P/p": 1, "/A": 7}, tree=tree)
    table = done.document["resource_groups"][GROUP]["consumers"]
    assert (table["/P/p"]["quota"], table["/A"]["quota"]) == (6, 2)
    assert done.document["reclaims"] == []


MIXED: dict[str, Any] = {
    "/A": {"owned": 4, "lend_to": [{"consumer": "/B"}]},
    "/B": {"owned": 2, "borrow_from": [{"consumer": "/A"}]},
}


def test_hybrid_divides_what_owners_leave() -> None:
    """R-MIX-1, R-MIX-2: X 6 of 20 slots, C 16: who owns 10 beside them owns 14 now, and has its limit."""
    done = cycle(
        MIXED, 20, {"/A": 9, "/B": 9, "/H": 30}, {"/A": 4, "/B": 2, "/H": 5}, hybrid={"/H": {"owned": 10, "limit": 12}}
    )
    table = done.document["resource_groups"][GROUP]["consumers"]
    assert [table[path]["quota"] for path in ("/A", "/B", "/H")] == [4, 2, 12]
    assert done.untrue == ()


def test_idle_slots_of_owners_stay_idle() -> None:
    """R-MIX-3: /A leaves 4 idle, and /H, which holds all that is left for it, gets none of them, nor its reserve."""
    hybrid = {"/H": {"owned": 5}, "/K": {"owned": 5, "reserved": 2}}
    done = cycle(MIXED, 16, {"/B": 2, "/H": 30}, {"/B": 2, "/H": 9}, hybrid=hybrid)
    assert by("consumer", done.document["grants"]) == {}
    assert done.document["resource_groups"][GROUP]["idle"] == 5
    assert by("consumer", done.document["reclaims"]) == {"/H": 1}, "the second slot of the reserve of /K"
    assert done.untrue == ()


def test_a_lender_beside_hybrid_takes_back_what_it_lent() -> None:
    """R-MIX-4: /A misses 1 and has lent it to /B: /B gives it, though /H is further above its quota."""
    done = cycle(
        MIXED,
        16,
        {"/A": 4, "/B": 3, "/H": 11},
        {"/A": 2, "/B": 3, "/H": 11},
        hybrid={"/H": {"owned": 10}},
        borrowed=[loan("/B", "/A", 1)],
    )
    assert by("consumer", done.document["reclaims"]) == {"/B": 1, "/H": 1}
    assert done.untrue == ()
