"""What usage costs equals an integral of the log by the prices of every instant."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.runtime.live.usage import HOUR
from fairhold.runtime.live.views.usage import UsageQuery, usage_document
from fairhold.units import format_instant
from tests.live.play import PLAIN, START, Play, plan_text
from tests.live.test_usage import integral, naive

if TYPE_CHECKING:
    from pathlib import Path

FIRST = START // HOUR * HOUR
RATES: list[dict[str, Any]] = [
    {"resource": "slots", "per_hour": 1.25},
    {"resource": "slots", "per_hour": 2, "kind": "borrowed"},
    {"resource": "slots", "per_hour": 3, "consumer": "/A/a1"},
    {
        "resource": "slots",
        "per_hour": 7,
        "from": format_instant(FIRST + 2 * HOUR),
        "to": format_instant(FIRST + 5 * HOUR),
    },
    {"resource": "slots", "per_hour": 0.5, "kind": "lent"},
    {"resource": "slots", "per_hour": 1, "kind": "lost"},
]


def priced(rates: list[dict[str, Any]]) -> str:
    return json.dumps(json.loads(plan_text(PLAIN)) | {"prices": {"currency": "CHF", "rates": rates}})


def rate(consumer: str, kind: str, instant: int) -> Fraction:
    """By hand; below 0 where it is credited."""
    if kind in {"lent", "lost"}:
        return Fraction(-1, 2) if kind == "lent" else Fraction(-1)
    if consumer == "/A/a1":
        return Fraction(3)
    if kind == "borrowed":
        return Fraction(2)
    return Fraction(7) if FIRST + 2 * HOUR <= instant < FIRST + 5 * HOUR else Fraction(5, 4)


@pytest.mark.parametrize("seed", range(2))
def test_costs_are_the_integral_of_prices_over_the_log(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, priced(RATES))
    for _ in range(8):
        play.wander(random, 12, [priced(RATES)])
        play.pass_time(HOUR * random.randint(0, 2) + random.randrange(HOUR))
    play.commit()
    now = play.clock.instant
    pieces = naive(play.store, play.store.entries(0, limit=10**6), now)
    borders = [START, FIRST + 2 * HOUR, FIRST + 5 * HOUR, now]
    expected: dict[str, Fraction] = {}
    for since, until in itertools.pairwise(borders):
        for (consumer, _, _, kind, _), amount in integral(pieces, since, until).items():
            if kind not in {"up", "down"}:
                cost = rate(consumer, kind, since) * Fraction(amount) / HOUR
                expected[consumer] = expected.get(consumer, Fraction(0)) + cost
    document = usage_document(play.store, play.core.usage.tail(now), UsageQuery(0, now, ("consumer",)))
    told = {row["consumer"]: Fraction(row["cost"]) for row in document["rows"]}
    assert {path: Fraction(round(cost * 10**6), 10**6) for path, cost in expected.items()} == told
    assert Fraction(document["cost"]) == Fraction(round(sum(expected.values()) * 10**6), 10**6)
    assert (document["currency"], document["unpriced"]) == ("CHF", [])
    play.store.close()


def test_what_has_no_price_is_said_and_a_plan_without_prices_costs_nothing(tmp_path: Path) -> None:
    play = Play(tmp_path, priced([{"resource": "slots", "per_hour": 1, "consumer": "/B"}]))
    play.submit("/B", 2)
    play.submit("/C", 1)
    play.pass_time(HOUR)

    def told() -> dict[str, Any]:
        now = play.clock.instant
        return usage_document(play.store, play.core.usage.tail(now), UsageQuery(0, now, ("consumer",)))

    found = told()
    assert [(row["consumer"], "cost" in row) for row in found["rows"]] == [("/B", True), ("/C", False)]
    assert found["unpriced"] == ["slots"]
    play.core.apply_plan(plan_text(PLAIN), "ann", "", play.core.version)
    assert "cost" not in told()
    assert not any("cost" in row for row in told()["rows"])
    play.store.close()
