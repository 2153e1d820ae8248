"""Rounding stops nobody, but for whole slots that are sure: five small clusters, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.statewrite import state_document
from tests.cycle.cluster import cycle
from tests.cycle.test_share_ratio import Json, cluster

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def moves(plan: Plan, state: State) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """What leaves are granted, and units by holder and taker; the independent check agrees, a second cycle is quiet."""
    found = run_cycle(plan, state, check=True)
    assert found.untrue == ()
    assert verify(plan, state, quota_document(plan, state)) == ()
    assert verify(plan, state, found.document | {"state": state_document(plan, found.after)}) == ()
    again = run_cycle(plan, found.after).document
    assert (again["grants"], again["reclaims"], again["withdrawn"]) == ([], [], [])
    granted = {row["consumer"]: row["units"] for row in found.document["grants"]}
    return granted, {(row["consumer"], row.get("for") or ""): row["units"] for row in found.document["reclaims"]}


def shared(
    slots: int, consumers: Json, settings: Json, demand: dict[str, int], held: dict[str, int], **modes: str
) -> Any:
    return cluster(slots, consumers, settings, demand, held, enforce="leaf", **modes)


def test_a_whole_slot_of_a_planned_share_is_taken_from_who_has_it_by_rounding() -> None:
    """/R/b is sure of 2 and has 1 of 16: /R/a/c, which holds 1 of an exact 9/13, gives it.

    Weights 1/3, 1/2, 1/24 and 1/8; /P wants 5, /Q 9, c 1 and b 2. Filled: 5, λ/2, λ/24 and 2 are 16 at λ = 216/13, so
    /Q has 8 4/13, c 9/13, /R 2 9/13. One slot is left over; /Q comes first: 5, 9 and 2, and in /R 0 and 2. Of 15 idle
    slots 5, 9 and 1 are granted. c is protected (1 is 9/13 rounded up), but b holds 1 of its planned 2.
    """
    tree: Json = {"P": {}, "Q": {}, "R": {"consumers": {"a": {"consumers": {"c": {}}}, "b": {}}}}
    ratios = {"/P": {"share_ratio": 2}, "/Q": {"share_ratio": 3}, "/R/b": {"share_ratio": 3}}
    demand = {"/P": 5, "/Q": 9, "/R/a/c": 1, "/R/b": 2}
    granted, reclaimed = moves(*shared(16, tree, ratios, demand, {"/R/a/c": 1}, entitlement="workload"))
    assert granted == {"/P": 5, "/Q": 9, "/R/b": 1}
    assert reclaimed == {("/R/a/c", "/R/b"): 1}


def test_with_fixed_shares_a_whole_planned_slot_is_taken_from_who_has_one_by_rounding() -> None:
    """/T/b/b wants 1 of 11/7 planned and has none: /R/a, which holds 4 of an exact 22/7, gives it.

    Ratios 3, 1, 2 and 1 of 11 slots: 33/7, 11/7, 22/7 and 11/7. Whole 4, 1, 3 and 1; the 2 left over go to /P and /Q in
    plan order: 5, 2, 3 and 1. Of 7 idle slots 5 and 2 are granted. /R/a is protected (4 is 22/7 rounded up), but /T/b/b
    holds 0 of the whole slot that it is sure of.
    """
    tree: Json = {"P": {}, "Q": {}, "R": {"consumers": {"a": {}}}}
    tree["T"] = {"consumers": {"b": {"consumers": {"b": {}}}}}
    ratios = {"/P": {"share_ratio": 3}, "/R": {"share_ratio": 2}}
    demand = {"/P": 5, "/Q": 2, "/R/a": 4, "/T/b/b": 1}
    granted, reclaimed = moves(*shared(11, tree, ratios, demand, {"/R/a": 4}, entitlement="fixed"))
    assert granted == {"/P": 5, "/Q": 2}
    assert reclaimed == {("/R/a", "/T/b/b"): 1}


def test_a_whole_planned_slot_is_taken_inside_a_branch() -> None:
    """/P/a/b wants 1 of 25/18 planned and has none: /P/a/a, which holds 4 of an exact 3 1/5, gives it.

    Weights 1/18, 1/18, 2/9, 1/3 and 1/3; b wants 1, /Q/c 5, /R/b 3. The other 16 of 25 go to a and /P/b by 1:4: 3 1/5
    and 12 4/5. /P has 17, of these /P/b (the better rank) 13 and /P/a 4, in it 3 and 1. All 21 idle slots are granted.
    """
    tree: Json = {"P": {"consumers": {"a": {"rank": 1, "consumers": {"a": {}, "b": {}}}, "b": {}}}}
    tree |= {"Q": {"consumers": {"c": {}}}, "R": {"consumers": {"b": {}}}}
    demand = {"/P/a/a": 4, "/P/a/b": 1, "/P/b": 13, "/Q/c": 5, "/R/b": 3}
    case = shared(25, tree, {"/P/b": {"share_ratio": 2}}, demand, {"/P/a/a": 4}, entitlement="workload")
    granted, reclaimed = moves(*case)
    assert granted == {"/P/b": 13, "/Q/c": 5, "/R/b": 3}
    assert reclaimed == {("/P/a/a", "/P/a/b"): 1}


EVENLY: Json = {
    "/P": {"owned": 1},
    "/P/a": {"wants": 2},
    "/Q": {"owned": 6},
    "/Q/a": {"owned": 6, "wants": 8},
    "/Q/c": {},
    "/Q/c/b": {"wants": 1, "holds": 1},
}


def test_rounding_up_goes_level_by_level() -> None:
    """/Q/c/b holds 1, has no quota and an exact share of 0; it is protected all the same, and /Q/a waits for one slot.

    Owned now: 1 2/7 and 7 5/7 of 9 slots. Those are the shares of /P and /Q; the slot left over goes to /P: 2 and 7,
    and all 7 to /Q/a. With every level rounded up /Q has 8. Of these /Q/a is filled to 7 5/7 first, the other 2/7 are
    added in equal amounts: /Q/c has 1/7, rounded up 1, and so has its b. /Q/a holds 6 of the 6 that it owns, so that it
    is sure of no more, and no rank differs.
    """
    seen = cycle(9, EVENLY, configured=7, distribute_evenly=True)
    assert seen.quota("/P/a", "/Q/a", "/Q/c/b") == (2, 7, 0)
    assert seen.granted == {"/P/a": 2, "/Q/a": 6}
    assert seen.reclaimed == {}


def test_beside_what_it_is_sure_of_a_leaf_takes_what_rounding_protects_from_a_worse_rank() -> None:
    """As before, but /Q/c has a worse rank than /Q/a: only rounding gave b its slot, and rank takes it."""
    seen = cycle(9, EVENLY | {"/Q/c": {"rank": 1}}, configured=7, distribute_evenly=True)
    assert seen.quota("/P/a", "/Q/a", "/Q/c/b") == (2, 7, 0)
    assert seen.reclaimed == {"/Q/c/b": 1}


def test_the_slot_that_is_set_aside_is_granted_to_nobody_outside_a_full_branch() -> None:
    """/T/b has a limit of 1, its c holds 11 and its a reserves 1: the idle slot is a's, and /R waits.

    Owned now is 12 for /T, /T/b and a, so that a's reserve is 1. Set aside: a 1 - 0 = 1, /T/b max(1, 1 - 11) = 1, /T 1.
    /R misses its quota of 1. Under /T/b 11 are held and 1 set aside, 11 above the limit, and c can give all 11: so many
    go, one for /R and ten for nobody.
    """
    consumers: Json = {
        "/R": {"wants": 1},
        "/T": {"owned": 1},
        "/T/b": {"owned": 1, "limit": 1},
        "/T/b/a": {"owned": 1, "reserved": 1},
        "/T/b/c": {"wants": 0, "holds": 11},
    }
    seen = cycle(12, consumers, configured=1)
    assert seen.quota("/R", "/T/b/a", "/T/b/c") == (1, 1, 0)
    assert seen.granted == {}
    assert seen.idle == 1
    assert seen.moved("reclaims", "for") == {"/R": 1, None: 10}
    assert seen.reclaimed == {"/T/b/c": 11}
    after = cycle(12, consumers | {"/T/b/c": {"wants": 0}}, configured=1)
    assert after.granted == {"/R": 1}
    assert after.reclaimed == {}
