"""`prices:` of a plan: which price holds for what, and what no price may say."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.price import PriceList
from fairhold.planio.plan import parse_plan
from fairhold.units import parse_instant

NEW_YEAR, SPRING = "2026-01-01T00:00:00Z", "2026-04-01T00:00:00+02:00"


def plan_of(prices: Any) -> str:
    return json.dumps(
        {
            "fairhold": 1,
            "resources": {"gpu": {}, "memory": {"unit": "GiB"}},
            "resource_groups": {"train": {"hosts": [{"name": "h1", "gpu": 4, "memory": 64}]}},
            "consumers": {"A": {"consumers": {"a1": {}, "a2": {}}}, "AB": {}},
            "policies": [{"resource_groups": ["train"], "policy": "fair_share"}],
            "prices": prices,
        }
    )


def read(*rates: dict[str, Any], currency: str = "CHF") -> PriceList:
    return parse_plan(plan_of({"currency": currency, "rates": list(rates)}), "plan.json")[0].prices


def refused(prices: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_plan(plan_of(prices), "plan.json")
    return [fault.code for fault in caught.value.faults]


def gpu(**more: Any) -> dict[str, Any]:
    return {"resource": "gpu", "per_hour": 2.5} | more


def test_the_nearest_consumer_comes_before_the_kind_and_the_kind_before_the_time() -> None:
    prices = read(
        gpu(per_hour=1),
        gpu(per_hour="2", kind="borrowed"),
        gpu(per_hour=3, **{"from": NEW_YEAR, "to": SPRING}),
        gpu(per_hour=4, consumer="/A"),
        gpu(per_hour=5, consumer="/A/a1", to=NEW_YEAR),
        gpu(per_hour="0.000000001", kind="lent"),
    )
    new_year, spring = (parse_instant(text) or 0 for text in (NEW_YEAR, SPRING))
    assert prices.borders() == (new_year, spring)

    def price(consumer: str, kind: str, instant: int, resource: str = "gpu") -> Fraction | None:
        return prices.of(resource, consumer, kind, instant)

    assert price("/AB", "own", new_year - 1) == 1
    assert price("/AB", "own", new_year) == 3
    assert price("/AB", "own", spring) == 1
    assert price("/AB", "borrowed", new_year) == 2
    assert price("/A/a2", "borrowed", new_year) == 4
    assert price("/A/a1", "own", new_year - 1) == 5
    assert price("/A/a1", "own", new_year) == 4
    assert price("/AB", "lent", 0) == Fraction(1, 10**9)
    assert price("/AB", "lost", 0) is None
    assert price("/AB", "own", 0, "memory") is None


def test_a_plan_without_prices_has_none() -> None:
    assert parse_plan(plan_of(None), "plan.json")[0].prices == PriceList()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"per_hour": -1}, "negative"),
        ({"per_hour": "cheap"}, "not-a-number"),
        ({"per_hour": True}, "not-a-number"),
        ({"per_hour": "0.0000000001"}, "out-of-range"),
        ({"per_hour": 1e30}, "out-of-range"),
        ({"resource": "gpux"}, "unknown-resource"),
        ({"resource": 7}, "not-a-string"),
        ({"consumer": "/A/a3"}, "unknown-consumer"),
        ({"kind": "stolen"}, "unknown-word"),
        ({"from": "yesterday"}, "instant"),
        ({"from": "2026-01-01T00:30:00Z"}, "price-hour"),
        ({"from": SPRING, "to": NEW_YEAR}, "out-of-range"),
        ({"from": NEW_YEAR, "to": NEW_YEAR}, "out-of-range"),
        ({"per_day": 1}, "unknown-key"),
    ],
)
def test_a_price_that_cannot_be_is_refused_by_name(change: dict[str, Any], code: str) -> None:
    assert refused({"currency": "CHF", "rates": [gpu(**change)]}) == [code]


def test_prices_that_are_no_prices_are_refused() -> None:
    assert refused({"currency": "CHF"}) == ["missing-key"]
    assert refused({"rates": [{}], "currency": "CHF"}) == ["missing-key"] * 2
    assert refused({"rates": [], "currency": "Swiss francs"}) == ["name"]
    assert refused({"rates": {}, "currency": ""}) == ["wrong-type", "name"]
    assert refused([]) == ["wrong-type"]


def test_two_prices_for_the_same_time_are_refused_and_two_that_meet_are_not() -> None:
    meeting = [gpu(to=NEW_YEAR), gpu(**{"from": NEW_YEAR, "to": SPRING}), gpu(**{"from": SPRING}), gpu()]
    assert len(read(*meeting).prices) == 4
    for twice in (
        [gpu(), gpu(per_hour=1)],
        [gpu(**{"from": NEW_YEAR}), gpu(to=SPRING)],
        [gpu(**{"from": SPRING}), gpu(**{"from": NEW_YEAR})],
    ):
        assert refused({"currency": "CHF", "rates": twice}) == ["price-overlap"]
