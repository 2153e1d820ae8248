"""`serve --limit NAME=N` sets each limit by its name."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from fairhold.cli.live.limits import the_limits
from fairhold.errors import UsageError
from fairhold.runtime.live.submitting import Limits
from fairhold.service.settings import RequestLimits


@pytest.mark.parametrize("name", [*Limits._fields, *asdict(RequestLimits())])
def test_each_limit_is_set_by_its_name_alone(name: str) -> None:
    of_all, of_one = the_limits([f"{name}=7"])
    before = Limits()._asdict() | asdict(RequestLimits())
    assert of_all._asdict() | asdict(of_one) == before | {name: 7}


def test_several_are_set_and_without_any_all_is_as_it_was() -> None:
    of_all, of_one = the_limits(["waiting=5", "labels=6", "waiting_in_leaf=4"])
    assert (of_all.waiting, of_all.waiting_in_leaf, of_one.labels) == (5, 4, 6)
    assert the_limits([]) == (Limits(), RequestLimits())


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (["waitings=5"], "waiting, waiting_in_leaf, jobs, tasks, head, body"),
        (["waiting"], "waiting=1000"),
        (["waiting="], "waiting=1000"),
        (["waiting=0"], "waiting=1000"),
        (["waiting=-1"], "waiting=1000"),
        (["waiting=1e6"], "waiting=1000"),
        (["waiting=٣"], "waiting=1000"),
        (["waiting=1000000000000000"], "waiting=1000"),
        (["waiting=5", "waiting=6"], "twice"),
        (["argument=131072"], "131071"),
        (["=5"], "there is no such limit"),
    ],
)
def test_what_is_no_limit_is_refused_with_what_there_is(pairs: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        the_limits(pairs)


def test_one_leaf_cannot_keep_the_others_out() -> None:
    limits = Limits()
    assert limits.waiting >= 10 * limits.waiting_in_leaf
    assert limits.waiting_in_leaf >= limits.tasks, "the largest job fits into its leaf"
