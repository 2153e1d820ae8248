"""`explain` of who owns exactly: the parts of a quota, and a smallest change that is true when it is tried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cli.words import in_words
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.explain.loans import bound_of_loan
from fairhold.cycle.open import open_books
from fairhold.cycle.run import quotas, run
from fairhold.ledger.divisions import Divisions
from fairhold.runtime.explaining import as_document
from tests.cycle.test_cases import inputs
from tests.ownership.strategies import owning
from tests.ownership.test_cases import GOOD
from tests.properties.machinery import books_of
from tests.properties.strategies import GROUP, Case

if TYPE_CHECKING:
    from fairhold.cycle.explain import Explanation

LENT = next(case for case in GOOD if case["id"] == "cyc-own-lend-both-sides")


def explained(case: Any, path: str) -> Explanation:
    plan, state = inputs(case)
    return explain(plan, run(open_books(plan, state)["compute"], state.now), path)


def test_a_quota_has_parts() -> None:
    """R-LEND-2: own slots, and those of lenders by name."""
    (level,) = explained(LENT, "/Ops").levels
    parts = {row.path: row.parts for row in level.siblings}
    ops, risk = parts["/Ops"], parts["/Risk"]
    assert ops is not None
    assert risk is not None
    assert (ops.own, ops.borrowed, ops.lent) == (6, {"/Risk": 3, "/FX": 1}, {})
    assert (risk.own, risk.borrowed, risk.lent) == (3, {}, {"/Ops": 3, "/Batch": 4})


def test_lenders_that_have_no_more_are_named_as_the_bound() -> None:
    explanation = explained(LENT, "/Batch")
    mine = next(row for row in explanation.levels[-1].siblings if row.path == "/Batch")
    assert mine.bound is Bound.LENDERS
    text = in_words(explanation)
    assert "3 /FX, 4 /Risk" in text
    assert "R-LEND-2" in text
    assert explanation.counterfactual is not None


def told(case_id: str, path: str) -> set[tuple[str, str, int, int, str]]:
    """Borrower, lender, slots by the quotas, slots after the cycle, and why it is no more."""
    case = next(case for case in GOOD if case["id"] == case_id)
    return {(loan.borrower, loan.lender, loan.units, loan.held, loan.bound) for loan in explained(case, path).loans}


@pytest.mark.parametrize(
    ("case_id", "path", "loans"),
    [
        ("cyc-own-mutual-one-wants-more", "/A", {("/A", "/B", 2, 2, "lists"), ("/B", "/A", 0, 0, "demand")}),
        ("cyc-own-mutual-both-want-more", "/B", {("/A", "/B", 0, 2, "needed"), ("/B", "/A", 0, 0, "needed")}),
        ("cyc-own-mutual-turned", "/A", {("/A", "/B", 2, 0, "lists"), ("/B", "/A", 0, 3, "demand")}),
        ("cyc-own-mutual-few-slots", "/B", {("/A", "/B", 0, 0, "demand"), ("/B", "/A", 1, 1, "slots")}),
        ("cyc-own-circle-is-not-passed-on", "/A", {("/A", "/C", 0, 0, "needed"), ("/B", "/A", 0, 0, "demand")}),
        ("cyc-own-circle-lender-borrows", "/C", {("/A", "/C", 0, 0, "needed"), ("/C", "/B", 3, 1, "lent")}),
    ],
)
def test_loans_say_who_lends_to_whom_and_why_it_is_no_more(
    case_id: str, path: str, loans: set[tuple[str, str, int, int, str]]
) -> None:
    """R-LEND-2, R-LEND-4: both ways of a pair, and both neighbours in a circle."""
    assert told(case_id, path) == loans


def test_loans_in_words() -> None:
    case = next(case for case in GOOD if case["id"] == "cyc-own-mutual-turned")
    text = in_words(explained(case, "/B"))
    assert "/A borrows 2 of /B (has 0 now): the lists allow no more than 2 [R-LEND-2]" in text
    assert "/B borrows nothing of /A (has 3 now): it needs no more [R-LEND-2]" in text


def test_where_slots_are_too_few_to_lend_that_is_the_bound() -> None:
    case = next(case for case in GOOD if case["id"] == "cyc-own-mutual-few-slots")
    mine = next(row for row in explained(case, "/B").levels[-1].siblings if row.path == "/B")
    assert mine.bound is Bound.SLOTS


@given(owning(requested=False), st.data())
def test_a_larger_loan_helps_only_where_the_lists_bind(case: Case, data: st.DataObject) -> None:
    """Without the limit of a pair its borrower has more of it just where that limit is what binds."""
    books = books_of(case)
    lists = books.rows.lists
    if not lists.borrower:
        return
    pair = data.draw(st.integers(0, len(lists.borrower) - 1))
    before = quotas(books, case.state.now)
    bound = bound_of_loan(before, pair)
    most = lists.most[:]
    most[pair] = max(most[pair], books.slots)
    books.rows.__dict__["lists"] = lists._replace(most=most)
    books.divisions = Divisions()
    after = quotas(books, case.state.now).draft.owning
    assert before.draft.owning is not None
    assert after is not None
    more = after.lent[pair] - before.draft.owning.lent[pair]
    assert more >= 0
    assert not more or bound == "lists"


@given(owning(requested=False), st.data())
def test_the_smallest_change_is_true_when_tried(case: Case, data: st.DataObject) -> None:
    books = books_of(case)
    leaf = data.draw(st.sampled_from(books.rows.leaves))
    result = run(books, case.state.now)
    explanation = explain(case.plan, result, books.rows.path(leaf))
    json.dumps(as_document(explanation))
    assert in_words(explanation)
    found = explanation.counterfactual
    if found is None:
        return
    plan, state = json.loads(json.dumps([case.plan_document, case.state_document]))
    for change in found.changes:
        _apply(plan, state, change, books)
    changed = books_of(Case(plan, state))
    draft = quotas(changed, case.state.now).draft
    assert draft.quota[changed.rows.by_path[books.rows.path(leaf)]] == found.quota > explanation.quota


def _apply(plan: Any, state: Any, change: Any, books: Any) -> None:
    """Write a change into the documents."""
    if change.what == "demand":
        state["demand"][change.consumer][GROUP] = change.new
    elif change.what == "slots":
        if change.host:
            host = next(each for each in plan["resource_groups"][GROUP]["hosts"] if each["name"] == change.host)
            host["slots"] = change.new
        else:
            assume("hosts" not in plan["resource_groups"][GROUP])  # they are all down: a file cannot say so
            state["resource_groups"] = {GROUP: {"slots": change.new}}
    elif change.what in {"hosts_down", "hosts_closed"}:
        state[change.what].remove(change.host)
    elif change.what == "configured_slots":
        plan["resource_groups"][GROUP]["configured_slots"] = change.new
    elif change.what == "loan":
        both = ((change.consumer, "borrow_from", change.lender), (change.lender, "lend_to", change.consumer))
        for one, key, other in both:
            for entry in plan["policies"]:
                for peer in entry["consumers"].get(one, {}).get(key, ()):
                    if peer["consumer"] == other and peer.get("limit", change.new) < change.new:
                        peer["limit"] = change.new
    else:
        entry = books.rows.entries[books.rows.chosen[books.rows.by_path[change.consumer]]]
        stated = plan["policies"][list(books.rows.source.policies).index(entry)]["consumers"]
        stated.setdefault(change.consumer, {})[change.what] = change.new
