"""Every change of a right result is found; an unchanged one never is."""

from __future__ import annotations

import copy
import json
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.verify import verify
from tests.cycle.random_states import random_case
from tests.reference.cases import cases, told_cycle, told_quotas
from tests.reference.cases import read as inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Path = tuple[str | int, ...]
HYBRID, SHARED = list(cases("hybrid").values()), list(cases("share_ratio").values())
CYCLES = [case for case in cases("cycles").values() if case["policy"] in {"hybrid", "share_ratio"}]
ROWS = {"stops", "grants", "reclaims", "withdrawn", "allocations", "requests", "held"}
SHORT = 7
"""One change of so many is tried in the short run."""
STATES = [*range(7), *range(8, 12), 13]
"""Random states; in number 7 a gang holds less than its minimum, which is not judged (R-GANG-1)."""
FREE_KEYS = {"unit"}
"""A unit is always one slot."""


def places(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place of a document with its value, parents before what is in them."""
    yield path, node
    members: Any = ()
    if isinstance(node, dict):
        members = node.items()
    elif isinstance(node, list):
        members = enumerate(node)
    for key, value in members:
        yield from places(value, (*path, key))


def changed(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    made = copy.deepcopy(document)
    node: Any = made
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return made


def without(document: dict[str, Any], path: Path) -> dict[str, Any]:
    made = copy.deepcopy(document)
    node: Any = made
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return made


def others(value: Any) -> list[Any]:
    """Values of the same kind that mean something else, and one of a wrong kind."""
    if type(value) is int:
        return [value + 1, value - 1, float(value), str(value), None]
    if isinstance(value, str):
        instant = value[:4].isdigit() and value.endswith("Z")
        return [value.replace("2026", "2027"), 0] if instant else [value + "x", 0]
    return [7]


def is_default(path: Path, value: Any) -> bool:
    """Whether leaving a place out means the same as its value."""
    defaults = {"for": None, "min_count": 0, "priority": 0, "reason": "quota", "submitted": "1970-01-01T00:00:00Z"}
    return path[0] == "state" and str(path[-1]) in defaults and defaults[str(path[-1])] == value


def mutations(result: dict[str, Any]) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """The name of each change, and how to make the changed result."""
    for path, value in places(result):
        where = "/".join(map(str, path))
        if not path or FREE_KEYS & set(path):
            continue
        if not isinstance(value, dict | list):
            for other in others(value):
                yield f"{where} = {other!r}", partial(changed, result, path, other)
        redundant = path[0] == "state" and path[-1] in {"resource_group", "consumer", "unit"}
        if not redundant and not is_default(path, value):
            yield f"without {where}", partial(without, result, path)
        if isinstance(value, list) and value and path[-1] in ROWS:
            yield f"{where} doubled", partial(changed, result, path, [*value, value[0]])
            for field in ("consumer", "request"):
                row = value[0] | {field: "/nobody"}
                yield f"{where} with a strange {field}", partial(changed, result, path, [*value, row])


def assert_are_found(plan: Plan, state: State, result: dict[str, Any], step: int, first: int) -> None:
    """Every so many of the changes."""
    result = json.loads(json.dumps(result))
    assert verify(plan, state, result) == ()
    tried = [*islice(mutations(result), first % step, None, step)]
    assert len(tried) * step > 40
    assert [name for name, made in tried if not verify(plan, state, made())] == []


def all_and_some(cases: list[Any]) -> pytest.MarkDecorator:
    """Cases with a step: some changes of each, others for each case, and in the long run all."""
    short = [pytest.param(case, SHORT, at, id=f"{name(case)}") for at, case in enumerate(cases)]
    whole = [pytest.param(case, 1, 0, id=f"{name(case)}-whole", marks=pytest.mark.slow) for case in cases]
    return pytest.mark.parametrize(("case", "step", "first"), short + whole)


def name(case: Any) -> str:
    return str(case["id"]) if isinstance(case, dict) else str(case)


@all_and_some(HYBRID[:6] + SHARED[1:5])
def test_changed_quotas_are_found(case: dict[str, Any], step: int, first: int) -> None:
    plan, state = inputs(case)
    assert_are_found(plan, state, told_quotas(plan, state), step, first)


@all_and_some(CYCLES)
def test_changed_cycles_are_found(case: dict[str, Any], step: int, first: int) -> None:
    plan, state = inputs(case)
    assert_are_found(plan, state, told_cycle(plan, state), step, first)


@all_and_some(STATES)
def test_changed_cycles_of_random_states_are_found(case: int, step: int, first: int) -> None:
    plan, state = random_case(case)
    assert_are_found(plan, state, told_cycle(plan, state), step, first)


@pytest.mark.parametrize("kind", ["grants", "reclaims", "stops", "withdrawn"])
def test_a_row_out_of_nothing_is_found(kind: str) -> None:
    plan, state = inputs(CYCLES[0])
    result = told_cycle(plan, state)
    row = {"consumer": "/A", "resource_group": "compute", "units": 1}
    if kind == "reclaims":
        row |= {"for": None, "deadline": result["now"], "reason": "quota"}
    result[kind].append(row)
    assert verify(plan, state, result) != ()


def test_units_moved_between_leaves_break_named_rules() -> None:
    plan, state = inputs(CYCLES[0])
    result = told_cycle(plan, state)
    table = result["resource_groups"]["compute"]["consumers"]
    table["/A"]["quota"] -= 1
    table["/C"]["quota"] += 1
    found = verify(plan, state, result)
    assert [(each.rule, each.where) for each in found[:2]] == [
        ("R-QUOTA-2", "compute /A quota"),
        ("R-QUOTA-2", "compute /C quota"),
    ]
    assert str(found[0]) == "R-QUOTA-2 compute /A quota: differs from what the rules give (said 29, expected 30)"


@pytest.mark.parametrize("wrong", [[], None, "x", {}, {"grants": 1}, {"state": {}, "resource_groups": []}])
def test_what_is_no_result_is_found(wrong: Any) -> None:
    plan, state = inputs(CYCLES[0])
    assert verify(plan, state, wrong) != ()


def test_a_taker_that_misses_nothing_and_one_that_the_state_does_not_repeat_are_found() -> None:
    plan, state, result = next(found for found in map(taking, CYCLES) if found)
    for at, row in enumerate(result["reclaims"]):
        for other in (None, row["consumer"]):
            both = copy.deepcopy(result)
            both["reclaims"][at]["for"] = other
            assert "R-FOR-1" in {each.rule for each in verify(plan, state, both)}
    alone = copy.deepcopy(result)
    alone["state"]["reclaims"][-1]["for"] = None
    assert {each.where.split(" ")[1] for each in verify(plan, state, alone)} == {"reclaims"}


def taking(case: dict[str, Any]) -> tuple[Plan, State, dict[str, Any]] | None:
    """A cycle of which every new notice is for somebody."""
    plan, state = inputs(case)
    result = told_cycle(plan, state)
    return (plan, state, result) if result["reclaims"] and all(row["for"] for row in result["reclaims"]) else None
