"""`explain` of who owns exactly: the parts of a quota, and a smallest change that is true when it is tried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cli.words import in_words
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.open import open_books
from fairhold.cycle.run import quotas, run
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
