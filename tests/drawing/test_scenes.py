"""Which pictures a plan has: one for all that windows bring, and with a state for what is in force at its instant."""

from __future__ import annotations

import json

import pytest

from fairhold.drawing.letters import cut, width, wrap
from fairhold.drawing.picture import draw
from fairhold.drawing.scenes import scenes
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.drawing.reading import read
from tests.pools.test_commands import PLAN, STATE

SPECIAL = """\
fairhold: 1
time_zone: Europe/Zurich
special_days: {fair: {dates: ["1970-01-08", "2030-03-31"]}}
resource_groups: {g: {slots: 10}}
consumers: {A: {}, B: {}}
policies:
  - {resource_groups: [g], policy: hybrid, window: "fair 10:00-12:00", consumers: {/A: {owned: 9}, /B: {owned: 1}}}
  - {resource_groups: [g], policy: hybrid, window: "Sun 02:00-03:00", consumers: {/A: {owned: 8}, /B: {owned: 2}}}
  - {resource_groups: [g], policy: hybrid, consumers: {/A: {owned: 5}, /B: {owned: 5}}}
"""


def test_slots_and_vectors_each_with_their_windows() -> None:
    plan = parse_plan(PLAN, "plan.yaml")[0]
    found = [(scene.groups, scene.force, scene.when(plan)) for scene in scenes(plan, None)]
    assert found == [
        (("main",), (0,), "Mon-Fri 08:00-18:00"),
        (("main",), (1,), "at all other times"),
        (("slow",), (2,), ""),
        (("big",), (3,), ""),
    ]
    now = scenes(plan, parse_state(STATE, plan, "state.yaml"))
    assert [scene.force for scene in now] == [(0,), (2,), (3,)]


def test_only_who_takes_part_in_pools_stands_in_their_tree() -> None:
    plan = parse_plan(PLAN, "plan.yaml")[0]
    trees = {
        group: [title.split(": ")[0] for title in read(draw(plan, None, group)).titles if title.startswith("/")]
        for group in ("main", "slow", "big")
    }
    assert trees == {"main": ["/", "/A", "/B"] * 2, "slow": ["/", "/A", "/B", "/C"], "big": ["/", "/C"]}


def test_windows_of_special_days_and_of_hours_that_are_left_out_are_found() -> None:
    plan = parse_plan(SPECIAL, "plan.yaml")[0]
    assert [scene.force for scene in scenes(plan, None)] == [(0,), (1,), (2,)]


def test_a_group_that_nothing_shares_has_no_picture() -> None:
    document = {"fairhold": 1, "resource_groups": {"g": {"slots": 1}, "h": {"slots": 1}}, "consumers": {"A": {}}}
    entry = {"resource_groups": ["h"], "policy": "hybrid", "consumers": {"/A": {"owned": 1}}}
    plan = parse_plan(json.dumps(document | {"policies": [entry]}), "plan.json")[0]
    assert [scene.groups for scene in scenes(plan, None)] == [("h",)]
    picture = read(draw(plan, None, "g"))
    assert picture.rows == []


@pytest.mark.parametrize("text", ["a" * 500, "x", "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 50, "iiiiiiiiiiiiiiii"])
@pytest.mark.parametrize("room", [60, 120, 240])
def test_what_is_cut_fits_and_keeps_both_ends(text: str, room: int) -> None:
    short = cut(text, room, 12)
    assert width(short, 12) <= room
    assert (short == text) == (width(text, 12) <= room)
    assert short[0] == text[0]
    assert short[-1] == text[-1]


def test_words_are_wrapped_and_none_is_lost() -> None:
    lines = wrap("what is idle goes up to the public pool", 100, 11)
    assert " ".join(lines) == "what is idle goes up to the public pool"
    assert max(width(line, 11) for line in lines) <= 100
    assert len(lines) == 3
