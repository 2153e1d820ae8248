"""The rules of the lottery, LOT-1 to LOT-5: its README says them, and here they are held against what cycles do."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import shake_256
from typing import TYPE_CHECKING

import pytest
from fairhold_lottery.division import draws_of
from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cli.words import in_words
from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.explain import Change, explain
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import quotas, run
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.statewrite import state_document
from fairhold.runtime.explaining import as_document
from tests.examples import FEWER
from tests.lottery.package import lotteries
from tests.properties.machinery import books_of, comes_to_rest
from tests.properties.strategies import GROUP, Case

if TYPE_CHECKING:
    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books

ROUNDS = 12


def case_of(slots: int, demand: dict[str, int], stated: dict[str, dict[str, int]], seed: int = 0) -> Case:
    """Consumers side by side."""
    entry = {"resource_groups": [GROUP], "policy": "lottery", "settings": {"seed": seed}, "consumers": stated}
    consumers: dict[str, object] = {path[1:]: {} for path in demand}
    group = {"slots": slots, "configured_slots": slots}
    plan = {"fairhold": 1, "resource_groups": {GROUP: group}, "consumers": consumers, "policies": [entry]}
    wanted = {path: {GROUP: units} for path, units in demand.items()}
    return Case(plan, {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": wanted})


def quota_of(case: Case) -> dict[str, int]:
    numbers = quota_document(case.plan, case.state)["resource_groups"][GROUP]["consumers"]
    return {path: row["quota"] for path, row in numbers.items() if path != "/"}


def result_of(case: Case) -> CycleResult:
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    return quotas(books[GROUP], case.state.now)


def test_lot_3_a_draw_is_decided_by_the_stated_hash() -> None:
    """Written out: who has the smallest number on a ticket of eight bytes wins, and who has enough drops out."""
    tickets, room = {"/A": 2, "/B": 1, "/C": 3}, {"/A": 9, "/B": 1, "/C": 2}
    won = dict.fromkeys(tickets, 0)
    for draw in range(1, 7):
        numbers = {}
        for path, count in tickets.items():
            stream = shake_256(f"7\n{GROUP}\n{draw}\n{path}".encode()).digest(8 * count)
            numbers[path] = min(int.from_bytes(stream[at : at + 8], "big") for at in range(0, 8 * count, 8))
        won[min((path for path in won if won[path] < room[path]), key=numbers.__getitem__)] += 1
    stated = {"/A": {"tickets": 2}, "/C": {"tickets": 3}}
    assert quota_of(case_of(6, room, stated, seed=7)) == won == {"/A": 3, "/B": 1, "/C": 2}


def test_lot_1_who_owns_slots_and_wants_them_has_them_whatever_is_drawn() -> None:
    for seed in range(40):
        stated = {"/A": {"owned": 3, "tickets": 0}, "/B": {"tickets": 1000}}
        assert quota_of(case_of(5, {"/A": 9, "/B": 9}, stated, seed)) == {"/A": 3, "/B": 2}
        assert quota_of(case_of(5, {"/A": 1, "/B": 9}, stated, seed)) == {"/A": 1, "/B": 4}


def test_lot_2_without_tickets_nobody_gets_more_than_is_sure() -> None:
    """Not even where slots stay idle."""
    case = case_of(9, {"/A": 9, "/B": 2}, {"/A": {"owned": 3, "tickets": 0}})
    assert quota_of(case) == {"/A": 3, "/B": 2}
    told = explain(case.plan, result_of(case), "/A")
    assert "it has no tickets, so it gets no more than it is sure of [LOT-2]." in in_words(told)


def test_lot_3_over_many_draws_wins_are_as_many_as_tickets_say() -> None:
    """6,000 draws for 1, 2 and 3 tickets; three times the standard deviation is 116 at most."""
    stated = {"/B": {"tickets": 2}, "/C": {"tickets": 3}}
    for seed in range(3):
        found = quota_of(case_of(6000, dict.fromkeys(("/A", "/B", "/C"), 6000), stated, seed))
        for path, expected in (("/A", 1000), ("/B", 2000), ("/C", 3000)):
            assert abs(found[path] - expected) < 116, (seed, found)


def test_lot_3_seeds_and_groups_draw_apart() -> None:
    entrants = (("/A", 1), ("/B", 1))
    first = {
        name: tuple(draws_of(seed, group, entrants).order(draw)[0] for draw in range(1, 65))
        for name, seed, group in (("one", 1, "g"), ("two", 2, "g"), ("other", 1, "h"))
    }
    assert len({*first.values()}) == 3


@given(lotteries())
def test_a_cycle_is_checked_in_both_ways(case: Case) -> None:
    """Sums, limits, what is owned, and a second cycle that decides nothing; and all again by the twin."""
    cycle = run_cycle(case.plan, case.state, check=True)
    assert cycle.untrue == ()
    document = cycle.document | {"state": state_document(case.plan, cycle.after)}
    assert verify(case.plan, case.state, json.loads(json.dumps(document))) == ()


@given(lotteries())
def test_an_explanation_adds_up(case: Case) -> None:
    result = result_of(case)
    rows = result.snapshot.rows
    for leaf in rows.leaves:
        document = as_document(explain(case.plan, result, rows.path(leaf), what_if=False))
        for level in document["levels"]:
            wanted = sum(row["need"] for row in level["siblings"])
            assert sum(row["quota"] for row in level["siblings"]) == min(level["amount"], wanted)
            for row in level["siblings"]:
                assert row["quota"] == row["sure"] + row["won"]
                assert (row["bound"] == "lottery") == (row["quota"] < row["need"]), row
                assert row["bound"] != "lottery" or row["tickets"]


def more_wanted(books: Books, leaf: int, units: int) -> list[int]:
    books.demand[leaf] += units
    found = [*quotas(books, 0).draft.quota]
    books.demand[leaf] -= units
    return found


@given(lotteries(requested=False), st.data())
def test_lot_4_one_unit_more_that_is_wanted_moves_one_slot_at_most(case: Case, data: st.DataObject) -> None:
    """Who wants it gets one or nothing, and one other leaf gives one or nothing: nothing else is drawn anew."""
    books = books_of(case)
    rows = books.rows
    leaf = data.draw(st.sampled_from(rows.leaves))
    before = more_wanted(books, leaf, 0)
    after = more_wanted(books, leaf, 1)
    moved = {row: after[row] - before[row] for row in rows.leaves if after[row] != before[row]}
    assert moved.pop(leaf, 0) in {0, 1}
    assert [*moved.values()] in ([], [-1])


@given(lotteries(requested=False), st.integers(1, 4))
def test_lot_4_a_slot_more_takes_none_from_anybody(case: Case, more: int) -> None:
    """At the same owned slots: where the group has as many as were configured."""
    books = books_of(case)
    host = next((at for at, up in enumerate(books.hosts.up) if up), None)
    assume(host is not None and books.slots >= books.rows.configured)
    assert host is not None
    before = more_wanted(books, books.rows.leaves[0], 0)
    books.hosts.slots[host] += more
    after = more_wanted(books, books.rows.leaves[0], 0)
    assert all(after[row] >= before[row] for row in range(len(before)))


@given(lotteries(requested=False), st.data())
def test_lot_4_more_tickets_lose_nothing(case: Case, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(case.plan_document["policies"][0]["consumers"])))
    before = quota_of(case)
    plan = json.loads(json.dumps(case.plan_document))
    stated = plan["policies"][0]["consumers"][path]
    stated["tickets"] = stated.get("tickets", 1) + data.draw(st.integers(1, 50))
    assert quota_of(Case(plan, case.state_document))[path] >= before[path]


@given(lotteries(requested=False), st.data())
def test_quotas_are_kept_while_more_is_wanted_than_they_are(case: Case, data: st.DataObject) -> None:
    """What the policy promises with `keeps_quotas`; each division here is made on columns that remember none."""
    books = books_of(case)
    quota = more_wanted(books, books.rows.leaves[0], 0)
    for leaf in books.rows.leaves:
        if books.demand[leaf] > quota[leaf]:
            books.demand[leaf] = quota[leaf] + data.draw(st.integers(1, 30))
    books.rows = replace(books.rows, known={})
    assert [*quotas(books, 0).draft.quota] == quota


@FEWER
@given(lotteries(requested=False))
def test_cycles_on_counts_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)


@FEWER
@given(lotteries(requested=True))
def test_cycles_on_requests_come_to_rest(case: Case) -> None:
    """Gangs among them."""
    assert comes_to_rest(case, ROUNDS)


@given(lotteries(), st.integers(1, 10**15))
def test_an_instant_decides_no_draw(case: Case, later: int) -> None:
    books = books_of(case)
    assert run(books, case.state.now).draft.quota == run(books, case.state.now + later).draft.quota


def test_the_smallest_change_for_one_slot_more_may_be_a_ticket() -> None:
    """All 40 slots are owned: one more that is owned would be scaled down to none."""
    case = case_of(40, {"/A": 10, "/B": 40, "/C": 40}, {"/A": {"owned": 40}})
    before = quota_of(case)["/B"]
    told = explain(case.plan, result_of(case), "/B")
    assert told.counterfactual is not None
    assert told.counterfactual.changes == (Change("tickets", 1, 2, consumer="/B"),)
    with_it = case_of(40, {"/A": 10, "/B": 40, "/C": 40}, {"/A": {"owned": 40}, "/B": {"tickets": 2}})
    assert quota_of(with_it)["/B"] == told.counterfactual.quota > before


@pytest.mark.parametrize("tickets", [-1, 1001, 1.5])
def test_tickets_are_whole_numbers_up_to_a_thousand(tickets: float) -> None:
    case = case_of(4, {"/A": 1}, {"/A": {"tickets": tickets}})  # type: ignore[dict-item]  # what is refused
    with pytest.raises(Exception, match="tickets"):
        parse_plan(json.dumps(case.plan_document), "plan.json")
