"""A plan with other values keeps what people wrote around them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairhold.planio.document import parse_document
from fairhold.planio.rewriting import rewritten

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = """\
# who owns what
fairhold: 1
resource_groups: {compute: {slots: 8}}   # eight
consumers:
  Trading:
  Research: {rank: 2}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      # the floor
      /Trading: {owned: 4, reserved: 1}  # four
      /Research:
        owned: 2      # two
        limit: 6
"""


def value(text: str) -> Any:
    return parse_document(text, "").value


def changed(change: Callable[[Any], None]) -> tuple[str, Any]:
    wanted = deepcopy(value(PLAN))
    change(wanted)
    return rewritten(PLAN, wanted), wanted


def entry(document: Any) -> Any:
    return document["policies"][0]["consumers"]


def of_group(plan: Any) -> Any:
    return plan["resource_groups"]["compute"]


ROW = "        owned: 2 "
EDITS: list[tuple[Callable[[Any], None], str, str]] = [
    (lambda plan: entry(plan)["/Trading"].update(owned=5), "owned: 4, reserved: 1}  #", "owned: 5, reserved: 1}  #"),
    (lambda plan: entry(plan)["/Research"].update(owned=3), "owned: 2      # two", "owned: 3      # two"),
    (lambda plan: entry(plan)["/Trading"].update(limit=9), "reserved: 1}", "reserved: 1, limit: 9}"),
    (lambda plan: entry(plan)["/Research"].update(reserved=1), ROW, f"        reserved: 1\n{ROW}"),
    (lambda plan: plan["consumers"].update(Trading={"rank": 1}), "  Trading:\n", "  Trading: {rank: 1}\n"),
    (lambda plan: of_group(plan).update(slots=20), "slots: 8}}   # eight", "slots: 20}}   # eight"),
    (lambda plan: entry(plan)["/Research"].update(lend_grace="30s"), ROW, f"        lend_grace: 30s\n{ROW}"),
]


@pytest.mark.parametrize(("change", "line", "instead"), EDITS)
def test_one_value_is_edited_where_it_stands(change: Callable[[Any], None], line: str, instead: str) -> None:
    found, wanted = changed(change)
    assert found == PLAN.replace(line, instead)
    assert value(found) == wanted


def test_several_at_once_and_consumers_that_the_entry_did_not_have() -> None:
    def change(plan: Any) -> None:
        entry(plan)["/Trading"]["owned"] = 1
        entry(plan)["/Research"]["limit"] = 4
        entry(plan)["/Research/Ärzte"] = {"owned": 1}

    found, wanted = changed(change)
    assert value(found) == wanted
    assert "# who owns what" in found
    assert "# two" in found


def test_what_no_single_edit_says_is_written_anew() -> None:
    found, wanted = changed(lambda plan: entry(plan)["/Research"].pop("limit"))
    assert value(found) == wanted
    shared = "a: &x {b: 1}\nc: *x\n"
    assert value(rewritten(shared, {"a": {"b": 2}, "c": {"b": 1}})) == {"a": {"b": 2}, "c": {"b": 1}}


SCALARS = st.integers(-5, 5) | st.sampled_from(["x", "30s", "yes", "1", "a: b", "é#", ""]) | st.booleans()
KEYS = st.sampled_from("abcde")
TREES = st.recursive(SCALARS, lambda below: st.dictionaries(KEYS, below, max_size=4) | st.lists(below, max_size=3))
DOCUMENTS = st.dictionaries(KEYS, TREES, min_size=1)


@given(DOCUMENTS, DOCUMENTS, st.sampled_from([json.dumps, yaml.safe_dump]))
def test_the_text_always_says_what_is_wanted(before: Any, after: Any, write: Callable[[Any], str]) -> None:
    assert value(rewritten(write(before), after)) == after
