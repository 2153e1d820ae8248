"""Gangs for which nobody is looked for, as all who may go would not be enough: the search would have found nobody."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

from hypothesis import given, settings

from fairhold.rules.pools import taking
from fairhold.rules.pools.enough import may_be_enough
from tests.pools.lending import Story, stories, story


@settings(derandomize=True)
@given(stories(gangs=True))
def test_cycles_are_the_same_where_everybody_is_looked_for(story: Story) -> None:
    found = [cycle.document for _, cycle in [*story.cycles(), *story.later()]]
    with patch.object(taking, "may_be_enough", lambda *_: True):
        assert [cycle.document for _, cycle in [*story.cycles(), *story.later()]] == found


def test_many_gangs_are_not_looked_for() -> None:
    """Of those stories: were nobody refused, the test above would show nothing."""
    said: list[bool] = []

    def asked(*args: object) -> bool:
        said.append(may_be_enough(*args))  # type: ignore[arg-type]
        return said[-1]

    with patch.object(taking, "may_be_enough", asked):
        for seed in range(60):
            made = story(Random(seed), gangs=True, limits=False)
            assert [*made.cycles(), *made.later()]
    assert 20 < said.count(False) < len(said)
