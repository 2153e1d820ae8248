"""Laws of fair shares that hold whatever siblings there are (fair-share.md, SPEC §10, R-QUEUE-1 to R-QUEUE-4)."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from fairhold.rules.queues.dividing import Correction, Siblings, divide
from fairhold.units import UNLIMITED
from tests.examples import FEWER

STEP = 4
"""Base units; amounts that are no multiples of it are fractions of a device."""


class Sibling(NamedTuple):
    deserved: int
    wanted: int
    weight: int
    priority: int
    usage: int = 0


AMOUNTS = st.integers(0, 60)
SIBLINGS = st.builds(
    Sibling,
    st.one_of(AMOUNTS, st.just(UNLIMITED), st.just(0), st.just(0)),
    AMOUNTS,
    st.sampled_from((0, 1, 1, 2, 3, 7)),
    st.sampled_from((100, 100, 100, 50)),
    st.integers(0, 10),
)
LISTS = st.lists(SIBLINGS, min_size=1, max_size=5)
TOTALS = st.integers(0, 120)
HISTORY = Correction((1, 2), 10)


def shares(total: int, siblings: list[Sibling], history: Correction | None = None) -> list[int]:
    columns = [list(column) for column in zip(*siblings, strict=True)]
    return divide(total, STEP, Siblings(*columns), history)


def changed(siblings: list[Sibling], at: int, **more: int) -> list[Sibling]:
    found = list(siblings)
    found[at] = found[at]._replace(**more)
    return found


@given(TOTALS, LISTS, st.sampled_from((None, HISTORY)))
def test_nothing_is_lost_and_nobody_has_more_than_it_can_use(
    total: int, siblings: list[Sibling], history: Correction | None
) -> None:
    found = shares(total, siblings, history)
    least = [min(each.deserved, each.wanted, total if each.deserved >= UNLIMITED else UNLIMITED) for each in siblings]
    most = [each.wanted if each.weight else base for each, base in zip(siblings, least, strict=True)]
    assert all(base <= mine <= top for base, mine, top in zip(least, found, most, strict=True))
    assert sum(found) == max(sum(least), min(total, sum(most)))


@given(TOTALS, LISTS)
def test_a_lower_priority_has_surplus_only_when_all_above_have_all_that_they_can_use(
    total: int, siblings: list[Sibling]
) -> None:
    found = shares(total, siblings)
    for each, mine in zip(siblings, found, strict=True):
        if mine > min(each.deserved, each.wanted):
            pairs = zip(siblings, found, strict=True)
            assert all(a.priority <= each.priority or not a.weight or b == a.wanted for a, b in pairs)


@given(TOTALS, LISTS, SIBLINGS, st.integers(0, 5))
def test_equal_siblings_differ_by_a_step_at_most(total: int, siblings: list[Sibling], one: Sibling, place: int) -> None:
    mine = [one, *siblings[:place], one, *siblings[place:]]
    for history in (None, HISTORY):
        found = shares(total, mine, history)
        assert 0 <= found[0] - found[1 + min(place, len(siblings))] <= STEP


@given(TOTALS, LISTS, st.integers(2, 9))
def test_weights_count_by_their_proportion_alone(total: int, siblings: list[Sibling], by: int) -> None:
    more = [each._replace(weight=each.weight * by) for each in siblings]
    for history in (None, HISTORY):
        assert shares(total, more, history) == shares(total, siblings, history)


@FEWER
@given(TOTALS, LISTS, st.integers(0, 4), st.integers(1, 30))
def test_who_weighs_more_or_has_used_less_has_no_less(total: int, siblings: list[Sibling], at: int, by: int) -> None:
    at %= len(siblings)
    mine = siblings[at]
    for history in (None, HISTORY):
        has = shares(total, siblings, history)[at]
        assert shares(total, changed(siblings, at, weight=mine.weight + by), history)[at] >= has
        assert shares(total, changed(siblings, at, usage=max(0, mine.usage - by)), history)[at] >= has


@FEWER
@given(TOTALS, LISTS, st.integers(0, 4), st.integers(1, 30))
def test_who_wants_or_deserves_more_of_as_much_or_more_has_no_less_but_for_a_part_of_a_step(
    total: int, siblings: list[Sibling], at: int, by: int
) -> None:
    at %= len(siblings)
    mine = siblings[at]
    for history in (None, HISTORY):
        has = shares(total, siblings, history)[at]
        assert shares(total, changed(siblings, at, wanted=mine.wanted + by), history)[at] > has - STEP
        assert shares(total, changed(siblings, at, deserved=mine.deserved + by), history)[at] > has - STEP
        assert shares(total + by, siblings, history)[at] > has - STEP


@FEWER
@given(TOTALS, LISTS, st.integers(0, 4), st.integers(1, 30))
def test_who_wants_more_takes_nothing_of_what_others_deserve(
    total: int, siblings: list[Sibling], at: int, by: int
) -> None:
    at %= len(siblings)
    found = shares(total, changed(siblings, at, wanted=siblings[at].wanted + by))
    for place, each in enumerate(siblings):
        if place != at and each.deserved < UNLIMITED:
            assert found[place] >= min(each.deserved, each.wanted)
