"""`verify` recomputes cycles of `ownership`, alone and beside `hybrid`, and finds every number that was changed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import not_judged, verify
from fairhold.planio.state import state_document
from tests.examples import FEWER
from tests.ownership.strategies import owning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.properties.strategies import Case, Json


def result_of(case: Case) -> Json:
    cycle = run_cycle(case.plan, case.state)
    found: Json = json.loads(json.dumps(cycle.document | {"state": state_document(case.plan, cycle.after)}))
    return found


@FEWER
@given(owning(switched=None))
def test_a_cycle_is_verified(case: Case) -> None:
    assert verify(case.plan, case.state, quota_document(case.plan, case.state)) == ()
    assert verify(case.plan, case.state, result_of(case)) == ()


def numbers(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Places of all whole numbers of a document."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers(each, (*place, key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from numbers(each, (*place, at))
    elif type(value) is int:
        yield place


@given(owning(switched=None), st.data())
def test_a_changed_number_is_found_out(case: Case, data: st.DataObject) -> None:
    result = result_of(case)
    places = [place for place in numbers(result) if place[-1] != "fairhold_state"]
    assume(places and not not_judged(case.plan, case.state))
    place = data.draw(st.sampled_from(places))
    changed = deepcopy(result)
    node = changed
    for step in place[:-1]:
        node = node[step]  # type: ignore[index]
    node[place[-1]] += data.draw(st.sampled_from([1, -1, 7]))  # type: ignore[index]
    assert verify(case.plan, case.state, changed), place


@FEWER
@given(owning(switched=None), st.data())
def test_a_loan_or_a_reason_that_was_changed_is_found_out(case: Case, data: st.DataObject) -> None:
    result = result_of(case)
    rows = [("reason", row) for row in result["reclaims"] if row["reason"] == "window"]
    rows += [("lender", row) for row in result["state"].get("borrowed", ())]
    assume(rows and not not_judged(case.plan, case.state))
    key, row = data.draw(st.sampled_from(rows))
    row[key] = "quota" if key == "reason" else "/elsewhere"
    assert verify(case.plan, case.state, result)
