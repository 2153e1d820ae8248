"""Random plans and states of all policies: every picture can be read, names everybody, and nothing lies on another."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from fairhold.drawing.letters import cut
from fairhold.drawing.picture import draw
from fairhold.planio.plan import parse_plan
from tests.drawing.reading import Picture, read
from tests.examples import FEW, FEWER
from tests.ownership.strategies import owning
from tests.pools.strategies import plans as vector_plans
from tests.pools.strategies import read as read_documents
from tests.pools.strategies import states as vector_states
from tests.properties.strategies import Case, sharing
from tests.properties.strategies import cases as hybrid
from tests.queues.strategies import stories
from tests.windows.plans import random_plan

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]


def seen(plan: Plan, state: State | None = None) -> Picture:
    """The picture of a plan, in which everything is as it has to be."""
    text = draw(plan, state)
    assert draw(plan, state) == text
    picture = read(text)
    assert list(picture.faults()) == []
    untold = [
        path
        for path in plan.tree.paths
        if not any(title == path or title.startswith(f"{path}: ") for title in picture.titles)
    ]
    assert untold == []
    return picture


@st.composite
def vectors(draw_: st.DrawFn) -> tuple[Plan, State]:
    plan, leaves = draw_(vector_plans())
    return read_documents(plan, draw_(vector_states(plan, leaves)))


@FEWER
@given(vectors())
def test_hosts_and_pools(case: tuple[Plan, State]) -> None:
    plan, state = case
    for picture in (seen(plan), seen(plan, state)):
        hosts = [host.name for group in plan.resource_groups.values() for host in group.hosts]
        assert sorted(mark.text for mark in picture.marks if mark.text in hosts) == sorted(hosts)
        assert len(picture.of("host")) == len(hosts)
        assert "public pool" in picture.texts


@FEWER
@given(stories())
def test_queues(case: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read_documents(*case[:2])
    seen(plan)
    assert "fair share" in seen(plan, state).texts


@FEWER
@given(st.one_of(hybrid(), sharing(), owning(requested=None)))
def test_slots(case: Case) -> None:
    seen(case.plan)
    seen(case.plan, case.state)


@FEW
@given(st.integers(0, 10_000))
def test_windows(number: int) -> None:
    seen(random_plan(Random(number)))


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300).filter(
    lambda name: name.isprintable() and name == name.strip() and "/" not in name
)


@FEWER
@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), NAMES)
@example(["<b>", "&amp;", "'\"", "]]>"], "<svg>")
@example(["W" * 300, "\N{HEBREW LETTER ALEF}" * 9, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 80], "g")
def test_any_name_may_stand_in_a_plan(names: list[str], group: str) -> None:
    plan: Json = {
        "fairhold": 1,
        "cluster": names[0],
        "resources": {"cpu": {}},
        "resource_groups": {group: {"hosts": [{"name": f"h{at}", "cpu": 4} for at in range(len(names))]}},
        "consumers": {name: {"consumers": {names[0]: {}}} for name in names},
        "policies": [
            {
                "resource_groups": [group],
                "policy": "multidimensional",
                "consumers": {f"/{name}": {"own": [{"resource_group": group, "hosts": 1}]} for name in names},
            }
        ],
    }
    picture = seen(parse_plan(json.dumps(plan), "plan.json")[0])
    assert [name for name in names if cut(name, 240, 12, bold=True) not in picture.texts] == []
    assert picture.titles[0] == f"The plan of {names[0]}"
