"""Random plans and states: what explanations say would help does, and nothing smaller, or else nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given

from tests.counterfactuals.claims import Claims
from tests.counterfactuals.situations import situations
from tests.counterfactuals.slots import SlotClaims
from tests.cycle.test_what_if import small_cases
from tests.examples import FEW
from tests.pools.test_random import stories as pool_stories
from tests.queues.strategies import stories as queue_stories

if TYPE_CHECKING:
    from tests.properties.strategies import Case

Json = dict[str, Any]
SOME = 30


@FEW
@given(situations(pool_stories))
def test_what_would_help_in_pools_is_true_smallest_and_complete(situation: tuple[Json, Json]) -> None:
    claims = Claims(SOME)
    claims.check(situation)
    assert not any(claims.broken.values()), claims.broken


@FEW
@given(situations(queue_stories))
def test_what_would_help_in_queues_is_true_smallest_and_complete(situation: tuple[Json, Json]) -> None:
    claims = Claims(SOME)
    claims.check(situation)
    assert not any(claims.broken.values()), claims.broken


@FEW
@given(small_cases())
def test_one_slot_more_is_true_smallest_and_complete(case: Case) -> None:
    claims = SlotClaims(SOME)
    claims.check(case)
    assert not any(claims.broken.values()), claims.broken
