"""Hosts join: nothing is taken for anybody of equal rank, but for what is sure to him (docs/no-thrash.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.run import run
from fairhold.ledger import transitions
from tests.examples import FEWER
from tests.properties.machinery import books_of, cycle, is_quiet, stop_expired
from tests.properties.strategies import GROUP, LONGEST_GRACE, NOW, Case, Json, plans, sharing, whole

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from fairhold.ledger.books import Books

JOINS = 5


def plain(plan: Json) -> Json:
    """A plan without what may move a slot for other reasons: ranks, limits, reserves, even mode."""

    def strip(consumers: Json) -> None:
        for node in consumers.values():
            node.pop("rank", None)
            strip(node.get("consumers", {}))

    strip(plan["consumers"])
    for entry in plan["policies"]:
        entry["settings"].pop("distribute_evenly", None)
        entry["settings"].pop("disable_reclaim_own", None)
        for stated in entry["consumers"].values():
            for key in ("rank", "limit", "reserved"):
                stated.pop(key, None)
    plan.pop("default_rank", None)
    plan["resource_groups"][GROUP] = {"slots": 24}
    return plan


@st.composite
def owners(draw: DrawFn) -> Json:
    return plain(draw(plans(aged=False)))


@st.composite
def sharers(draw: DrawFn) -> Json:
    return plain(draw(sharing(requested=False, enforce="parent", entitlement="workload")).plan_document)


def rested(plan: Json, slots: int, demand: dict[str, int]) -> tuple[Books, int]:
    """Nobody holds anything at first; then cycles until nothing moves."""
    state = {"fairhold_state": 1, "now": NOW, "resource_groups": {GROUP: {"slots": slots}}}
    case = Case(plan, state)
    books, now = books_of(case), case.state.now
    for path, units in demand.items():
        transitions.submit(books, books.rows.by_path[path], units)
    return books, come_to_rest(books, now)


def come_to_rest(books: Books, now: int) -> int:
    while not is_quiet(cycle(books, now)):
        now += LONGEST_GRACE
        stop_expired(books, now)
    return now


def taken_and_sure(books: Books, now: int) -> tuple[int, int]:
    """Slots that the next cycle takes back, and those that are sure to leaves that miss them."""
    result = run(books, now)
    missing = sum(max(0, result.draft.firm[leaf] - result.draft.held[leaf]) for leaf in books.rows.leaves)
    return sum(notice.units for notice in result.decision.notices), missing


def look(plan: Json, slots: int, data: st.DataObject) -> None:
    leaves = [path for path in books_of(Case(plan, {"fairhold_state": 1, "now": NOW})).rows.paths if path != "/"]
    leaves = [path for path in leaves if not any(other.startswith(f"{path}/") for other in leaves)]
    books, now = rested(plan, slots, {path: data.draw(st.sampled_from([100, 0, 1, 2, 5])) for path in leaves})
    for _ in range(JOINS):
        quota = run(books, now).draft.quota
        if any(books.held[leaf] > quota[leaf] for leaf in books.rows.leaves):
            break  # rounding has left somebody above the quota
        transitions.set_host(books, 0, slots=books.hosts.slots[0] + 1)
        taken, sure = taken_and_sure(books, now)
        assert taken <= sure
        now = come_to_rest(books, now)


@FEWER
@given(owners(), whole(30), st.data())
def test_among_owners(plan: Json, slots: int, data: st.DataObject) -> None:
    look(plan, slots, data)


@FEWER
@given(sharers(), whole(30), st.data())
def test_among_sharers_at_the_parents(plan: Json, slots: int, data: st.DataObject) -> None:
    look(plan, slots, data)


def shared(ratios: dict[str, int], **settings: str) -> Json:
    tops: Json = {}
    for path in ratios:
        top, _, leaf = path[1:].partition("/")
        node = tops.setdefault(top, {})
        if leaf:
            node.setdefault("consumers", {})[leaf] = {}
    stated = {path: {"share_ratio": ratio} for path, ratio in ratios.items()}
    entry = {"resource_groups": [GROUP], "policy": "share_ratio", "settings": settings, "consumers": stated}
    return {"fairhold": 1, "resource_groups": {GROUP: {"slots": 1}}, "consumers": tops, "policies": [entry]}


def test_whole_slots_of_a_planned_share_are_sure() -> None:
    """R-SHARE-6: two of three equal leaves hold 2 of 4 slots each; the third takes one, though both are rounded up."""
    plan = shared({"/A": 1, "/B": 1, "/C": 1})
    books, now = rested(plan, 4, {"/A": 0, "/B": 2, "/C": 2})
    transitions.want(books, books.requests.by_leaf[books.rows.by_path["/A"]][0], 2)
    now = come_to_rest(books, now)
    held = {path: books.held[books.rows.by_path[path]] for path in ("/A", "/B", "/C")}
    assert held == {"/A": 1, "/B": 2, "/C": 1}


def test_rounding_of_a_branch_stops_nobody_inside_it() -> None:
    """R-PROTECT-1: /B has 4 of 23 slots and 3 of 24; /B/x holds them, more than its exact 2.82 rounded up."""
    owned = {"/A": 13, "/A/z": 4, "/B": 5, "/B/x": 4, "/B/y": 1, "/C": 16, "/C/z": 4}
    plan: Json = {
        "fairhold": 1,
        "resource_groups": {GROUP: {"slots": 23}},
        "consumers": {
            top: {"consumers": {key: {} for key in below}} for top, below in (("A", "z"), ("B", "xy"), ("C", "z"))
        },
        "policies": [
            {
                "resource_groups": [GROUP],
                "policy": "hybrid",
                "consumers": {path: {"owned": units} for path, units in owned.items()},
            }
        ],
    }
    books, now = rested(plan, 23, dict.fromkeys(("/A/z", "/B/x", "/B/y", "/C/z"), 100))
    mine = books.rows.by_path["/B/x"]
    assert (books.held[mine], run(books, now).draft.quota[mine]) == (4, 4)
    transitions.set_host(books, 0, slots=24)
    result = cycle(books, now)
    assert (result.draft.quota[mine], result.decision.notices) == (3, ())
