"""Fair shares: the worked cases in both ways of dividing, and random trees against the slow twin (S4.3-S4.12)."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.ledger.queues import QueueTerms
from fairhold.model.queue import FairShareSettings
from fairhold.rules.queues.shares import fair_shares, with_children
from fairhold.units import UNLIMITED
from tests.examples import FEWER
from tests.oracles.queueing import Queue, shares
from tests.planio.support import cases
from tests.queues.differences import listed
from tests.queues.kai import RESOURCES, numbers

Json = dict[str, Any]
DIVISIONS = [case for case in cases("kai") if case["kind"] == "fair_share"]
of_all = pytest.mark.parametrize("case", DIVISIONS, ids=lambda case: case["id"])
EMPTY: dict[int, Fraction] = {}


def shares_of(case: Json, division: str) -> dict[str, dict[str, Fraction]]:
    """Queue → resource → fair share, in the unit of the case."""
    terms, rows, base, requested, usage = numbers(case, division)
    found: dict[str, dict[str, Fraction]] = {name: {} for name in rows if name}
    for at, resource in enumerate(RESOURCES):
        if resource in case["total"]:
            total = int(Fraction(str(case["total"][resource])) * base)
            history = with_children(terms, usage[at]) if case.get("k") else EMPTY
            share = fair_shares(terms, at, total, requested[at], history)
            for name, mine in found.items():
                mine[resource] = Fraction(share[rows[name]]) / base
    return found


def told(case: Json, key: str) -> list[dict[str, dict[str, Any]]]:
    """What a case expects; several where KAI's answer changes from run to run."""
    expected: Json = case.get(key) or case["expected"]
    if "nondeterministic" in expected:
        return [each["fair_share"] for each in expected["nondeterministic"]]
    return [expected]


@of_all
def test_exact_shares_are_those_of_the_case(case: Json) -> None:
    found = shares_of(case, "exact")
    (expected, *_) = told(case, "expected_exact")
    for name, amounts in expected.items():
        assert {key: found[name][key] for key in amounts} == {
            key: Fraction(str(value)) for key, value in amounts.items()
        }, name


def test_the_page_lists_the_faults_of_kai() -> None:
    assert {case["id"] for case in DIVISIONS if "expected_exact" in case} == listed("Fair shares")


@of_all
def test_shares_as_kai_has_them_are_those_that_it_gave(case: Json) -> None:
    found = shares_of(case, "kai")
    answers = told(case, "expected")
    assert any(
        all(
            float(found[name][key]) == pytest.approx(value, abs=1e-6)
            for name, amounts in answer.items()
            for key, value in amounts.items()
        )
        for answer in answers
    ), json.dumps({name: {key: float(value) for key, value in each.items()} for name, each in found.items()})


AMOUNTS = st.fractions(0, 9, max_denominator=4)
BOUNDS = st.one_of(st.none(), AMOUNTS)
WEIGHTS = st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 3), Fraction(0)])
USAGES = st.sampled_from([None, Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)])


@st.composite
def trees(draw: st.DrawFn) -> tuple[Queue, ...]:
    def queue(name: str, children: tuple[Queue, ...] = ()) -> Queue:
        priority = draw(st.sampled_from((100, 100, 50, 200)))
        bounds = draw(BOUNDS), draw(BOUNDS)
        return Queue(name, *bounds, draw(WEIGHTS), priority, draw(AMOUNTS), draw(USAGES), children)

    def below(name: str, most: int) -> tuple[Queue, ...]:
        names = [f"{name}{at}" for at in range(draw(st.integers(0, most)))]
        return tuple(queue(each, below(each, most - 2) if most > 2 else ()) for each in names)

    return tuple(queue(name, below(name, 3)) for name in "abcd"[: draw(st.integers(1, 4))])


def terms_of(queues: tuple[Queue, ...], k: Fraction, base: int) -> tuple[QueueTerms, list[Queue | None]]:
    """The same queues as rows, breadth first."""
    rows: list[Queue | None] = [None, *queues]
    children: list[tuple[int, ...]] = [tuple(range(1, len(queues) + 1))]
    above: list[tuple[int, ...]] = [(0,), *((at, 0) for at in children[0])]
    for at, queue in enumerate(rows):
        if queue is not None:
            children.append(tuple(range(len(rows), len(rows) + len(queue.children))))
            above += [(row, *above[at]) for row in children[-1]]
            rows += queue.children
    known = [each for each in rows if each is not None]

    def units(amount: Fraction | None) -> int:
        return UNLIMITED if amount is None else int(amount * base)

    zeros = (0,) * len(rows)
    return (
        QueueTerms(
            children=tuple(children),
            above=tuple(above),
            steps=(base,),
            settings=FairShareSettings(k=k),
            deserved=([UNLIMITED, *(units(each.deserved) for each in known)],),
            limit=([UNLIMITED, *(units(each.limit) for each in known)],),
            weight=([3, *(int(each.weight * 3) for each in known)],),
            weight_of_one=(3,),
            priority=(0, *(each.priority for each in known)),
            reclaim_min_runtime=zeros,
            preempt_min_runtime=zeros,
            delay=zeros,
        ),
        rows,
    )


@given(trees(), st.integers(0, 30), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(10)]))
def test_shares_are_those_of_the_slow_twin(queues: tuple[Queue, ...], total: int, k: Fraction) -> None:
    base = 12
    terms, rows = terms_of(queues, k, base)
    requested = [0 if each is None or each.children else int(each.requested * base) for each in rows]
    usage = {at: each.usage for at, each in enumerate(rows) if each is not None and each.usage is not None}
    found = fair_shares(terms, 0, total * base, requested, with_children(terms, usage))
    expected = shares(Fraction(total), queues, k, Fraction(total))
    assert {each.name: Fraction(found[at], base) for at, each in enumerate(rows) if each is not None} == expected


@FEWER
@given(trees(), st.integers(0, 30))
def test_what_is_given_is_no_more_than_there_is_but_where_more_is_deserved(
    queues: tuple[Queue, ...], total: int
) -> None:
    terms, _ = terms_of(queues, Fraction(0), 12)
    flat = tuple(each._replace(children=()) for each in queues)
    found = shares(Fraction(total), flat, Fraction(0), Fraction(total))
    deserved = sum(min(total if each.deserved is None else each.deserved, found[each.name]) for each in flat)
    assert sum(found[each.name] for each in flat) <= max(total, deserved)
    assert terms.steps == (12,)
