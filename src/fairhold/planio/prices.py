"""`prices:` of a plan: a currency, and what an hour of a resource costs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from fairhold.model.price import NO_PRICES, PRICED, Price, PriceList
from fairhold.planio.names import unknown_path
from fairhold.planio.report import kind, listed, shown
from fairhold.planio.resources import exact_number
from fairhold.units import LARGEST, SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.tree import ConsumerTree
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

KEYS = ("currency", "rates")
RATE_KEYS = ("resource", "per_hour", "consumer", "kind", "from", "to")
SLOTS = "slots"
LONGEST_CURRENCY = 10
DIGITS = 9
"""Most digits of a price behind the point."""
HOUR = 3600 * SECOND
_PLACE = ("prices",)


def read_prices(report: Report, value: Value, resources: Sequence[str], tree: ConsumerTree) -> PriceList:
    """Read the prices of a plan; none where it has none.

    resources : names of the plan's resources
    """
    top = report.mapping(value, _PLACE, what="`{currency: …, rates: […]}`")
    if not top:
        return NO_PRICES
    report.keys(top, KEYS, _PLACE, {})
    report.missing(top, KEYS, _PLACE, "`prices`")
    currency = _read_currency(report, top["currency"]) if "currency" in top else ""
    items = report.sequence(top["rates"], (*_PLACE, "rates"), what="prices") if "rates" in top else []
    prices: list[tuple[int, Price]] = []
    for at, item in enumerate(items):
        place = (*_PLACE, "rates", at)
        node = report.mapping(item, place, what="a price")
        report.keys(node, RATE_KEYS, place, {})
        report.missing(node, ("resource", "per_hour"), place, "a price")
        prices.append((at, _read_rate(report, node, place, resources, tree)))
    _check_overlaps(report, prices)
    return PriceList(currency, tuple(price for _, price in prices))


def _read_currency(report: Report, value: Value) -> str:
    place = (*_PLACE, "currency")
    word = report.text(value, place, what="a currency such as `CHF`")
    if isinstance(value, str) and not (word.isprintable() and 0 < len(word) <= LONGEST_CURRENCY and " " not in word):
        mend = f"use one word of at most {LONGEST_CURRENCY} printable characters"
        report.fault("name", f"`{shown(word)}` is not a currency", mend, place)
    return word


def _read_rate(
    report: Report, node: dict[str, Value], place: Place, resources: Sequence[str], tree: ConsumerTree
) -> Price:
    known = (SLOTS, *resources)
    resource = report.text(node.get("resource", SLOTS), (*place, "resource"), what="the name of a resource")
    if resource and resource not in known:
        mend = report.suggest(resource, known, f"name one of {listed(known)}")
        report.fault("unknown-resource", f"there is no resource `{shown(resource)}`", mend, (*place, "resource"))
    consumer = ""
    if "consumer" in node:
        consumer = report.text(node["consumer"], (*place, "consumer"), what="the path of a consumer")
        if consumer and consumer not in tree.rows:
            unknown_path(report, tree, consumer, (*place, "consumer"))
    which = report.word(node["kind"], (*place, "kind"), PRICED) if "kind" in node else ""
    since, until = (_read_border(report, node, name, place) for name in ("from", "to"))
    if since and until and until <= since:
        what = f"the price ends at {format_instant(until)}, which is not after its begin"
        report.fault("out-of-range", what, "let `to` be after `from`", (*place, "to"))
    per_hour = _read_amount(report, node["per_hour"], (*place, "per_hour")) if "per_hour" in node else Fraction(0)
    return Price(resource, per_hour, consumer.rstrip("/"), which, since, until)


def _read_amount(report: Report, value: Value, place: Place) -> Fraction:
    number = exact_number(value)
    if number is None:
        report.fault("not-a-number", f"expected a price, found {kind(value)}", "write a number such as 2.5", place)
    elif number < 0:
        mend = "write 0 or more; what is lent or lost is credited by a price of that `kind`"
        report.fault("negative", f"a price of {shown(value)} is below 0", mend, place)
    elif number > LARGEST or (number * 10**DIGITS).denominator != 1:
        mend = f"write at most {LARGEST}, with at most {DIGITS} digits behind the point"
        report.fault("out-of-range", f"{shown(value)} is too large or too fine for a price", mend, place)
    else:
        return number
    return Fraction(0)


def _read_border(report: Report, node: dict[str, Value], name: str, place: Place) -> int:
    """Usage is kept by the hour, so that prices change with a whole hour."""
    if name not in node:
        return 0
    instant = report.instant(node[name], (*place, name))
    if instant % HOUR:
        what = f"a price changes at {format_instant(instant)}, inside an hour of UTC"
        report.fault("price-hour", what, "let it change at a whole hour: usage is kept hour by hour", (*place, name))
    return instant


def _check_overlaps(report: Report, prices: Sequence[tuple[int, Price]]) -> None:
    """At every instant one price holds: two for the same may not both be for a time, or both for all times."""
    alike: dict[tuple[str, str, str, bool], list[tuple[int, Price]]] = {}
    for at, price in prices:
        alike.setdefault((price.resource, price.consumer, price.kind, price.is_bounded), []).append((at, price))
    for group in alike.values():
        for (first, one), (second, other) in combinations(sorted(group, key=lambda each: each[1].since), 2):
            if not one.until or other.since < one.until:
                mend = "let one end where the other begins, or take one out"
                earlier, later = sorted((first, second))
                what = f"this price is for the same resource, consumer, kind and time as number {earlier + 1}"
                report.fault("price-overlap", what, mend, (*_PLACE, "rates", later))
                break
