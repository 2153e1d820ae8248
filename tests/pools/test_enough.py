"""Who is not looked for, and not asked: a search or a try would have found nothing."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from unittest.mock import patch

from hypothesis import given, settings

from fairhold.rules.pools import taking
from fairhold.rules.pools.enough import least_use
from fairhold.rules.pools.picking import Picker
from fairhold.rules.pools.placing import Placing
from tests.pools.lending import EventTrace, stories, story


def told(story: EventTrace) -> list[object]:
    return [cycle.document for _, cycle in [*story.cycles(), *story.later()]]


def shared(story: EventTrace) -> EventTrace:
    """The same where nobody owns anything, so that quotas and usages alone decide."""
    plan = deepcopy(story.plan)
    for entry in plan["policies"]:
        for stated in entry["consumers"].values():
            stated.pop("own", None)
    return story._replace(plan=plan)


@settings(derandomize=True)
@given(stories(gangs=True) | stories(gangs=True).map(shared))
def test_cycles_are_the_same_where_everybody_is_looked_for(story: EventTrace) -> None:
    found = told(story)
    with patch.object(taking, "least_use", lambda *_: 0):
        assert told(story) == found


@settings(derandomize=True)
@given(stories(gangs=True))
def test_cycles_are_the_same_where_everybody_is_asked_in_turn(story: EventTrace) -> None:
    found = told(story)
    with patch.object(Placing, "has_room", lambda *_: True):
        assert told(story) == found


def test_many_gangs_are_not_looked_for_or_given_up() -> None:
    """Of those stories: were nobody refused, the first test would show nothing."""
    least: list[int | None] = []
    fair: list[bool] = []

    def asked(*args: object) -> int | None:
        least.append(least_use(*args))  # type: ignore[arg-type]
        return least[-1]

    def judged(*args: object) -> bool:
        fair.append(may_be_fair(*args))  # type: ignore[arg-type]
        return fair[-1]

    may_be_fair = Picker.may_be_fair
    with patch.object(taking, "least_use", asked), patch.object(Picker, "may_be_fair", judged):
        for seed in range(60):
            made = story(Random(seed), gangs=True, limits=False)
            assert told(made if seed % 2 else shared(made))
    assert 20 < least.count(None) < len(least)
    assert any(least)
    assert 0 < fair.count(False) < len(fair)


def test_many_requests_are_not_asked() -> None:
    """Of those stories: were everybody asked, the second test would show nothing."""
    said: list[bool] = []
    has_room = Placing.has_room

    def asked(*args: object) -> bool:
        said.append(has_room(*args))  # type: ignore[arg-type]
        return said[-1]

    with patch.object(Placing, "has_room", asked):
        for seed in range(60):
            assert told(story(Random(seed), gangs=True, limits=False))
    assert 20 < said.count(False) < len(said)
