"""What is remembered while a gang takes: every unit looked for anew, and every gang, would say the same."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import given, settings

from fairhold.rules.pools import levels, taking
from fairhold.rules.pools.gathering import Gathering
from tests.pools.lending import EventTrace, stories, story

if TYPE_CHECKING:
    from fairhold.rules.pools.picking import Pick


@settings(derandomize=True)
@given(stories(gangs=True))
def test_cycles_are_the_same_where_all_are_looked_at_for_every_unit(story: EventTrace) -> None:
    found = [cycle.document for _, cycle in [*story.cycles(), *story.later()]]
    with patch.object(taking, "can_gather", lambda *_: False), patch.object(levels, "_alike", lambda *_: None):
        assert [cycle.document for _, cycle in [*story.cycles(), *story.later()]] == found


def test_many_gangs_gather_several_units() -> None:
    """Of those stories: were none to find a second unit, the test above would show nothing."""
    found: list[int] = []
    best = Gathering.best

    def counted(self: Gathering) -> Pick | None:
        pick = best(self)
        found.append(pick is not None and bool(pick.victims))
        return pick

    with patch.object(Gathering, "best", counted):
        for seed in range(60):
            made = story(Random(seed), gangs=True, limits=False)
            assert [*made.cycles(), *made.later()]
    assert 10 < sum(found) < len(found)
