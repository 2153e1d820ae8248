"""Usage as documents: rows by what is asked, what there was of the cluster, and whether lent is borrowed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.model.vector import decimal_text
from fairhold.orchestrator.spans import BORROWED, CAPACITY, DOWN, HELD, LENT, UNKNOWN, UP, Key
from fairhold.runtime.live.using import KeptSpans, usage_sums
from fairhold.runtime.live.views.costs import HOUR, Costs
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from fairhold.ports import Store
    from fairhold.runtime.live.usage import Tail
    from fairhold.runtime.live.using import Mark, UsageSums

Document = dict[str, Any]
OF_ACCOUNTS = ("consumer", "user", "job", "kind")
TIMES = {"hour": "%Y-%m-%dT%H:00:00Z", "day": "%Y-%m-%d", "month": "%Y-%m"}
"""By which spans of the calendar, in UTC, usage may be told: every hour begins a new span of usage."""
LABEL = "label:"
SLOTS = "slots"
"""What slots are called beside resources; no resource has this name."""
UNSIZED = ""
"""What is said in the place of a resource where it is not known of what size units were."""
_ALL_HELD = "held"
_DIGITS = 9
MOST_PARTS = 1_000
MONEY = 6
"""Digits of a currency behind the point."""
_UNSEEN = "capacity and the lenders of resources are on record only from {} on"


class Others(NamedTuple):
    """Accounts of which somebody is told no more than sums.

    keeps : whether an account is one of them
    name  : what stands for all their consumers; empty = nothing is told of them
    """

    keeps: Callable[[Key], bool]
    name: str = ""


class UsageQuery(NamedTuple):
    """What is asked of usage.

    by        : keys of `OF_ACCOUNTS`, `TIMES` or `label:NAME`, each once, of times one
    resources : those that are asked for, `SLOTS` among them; none = all
    consumer  : path; what is below it too, empty = all
    step      : microseconds of each part of the time that has rows of its own, 0 = the time is one part
    others    : whose names are kept from who asks, None = nobody's are
    """

    since: int
    until: int
    by: Sequence[str]
    resources: Collection[str] = ()
    consumer: str = ""
    step: int = 0
    others: Others | None = None

    def is_told(self, key: Key) -> bool:
        """Whether an account is part of what is told, be it among the sums of others."""
        if self.others is not None and not self.others.name and self.others.keeps(key):
            return False
        return f"{key.consumer}/".startswith(f"{self.consumer.rstrip('/')}/")

    @property
    def is_whole(self) -> bool:
        """Whether all accounts are told of."""
        return not self.consumer.strip("/") and (self.others is None or bool(self.others.name))

    def check(self) -> None:
        """Raise InputError where `by` names something else, or `until` is before `since`."""
        known = {*OF_ACCOUNTS, *TIMES}
        unknown = [name for name in self.by if name not in known and not (name.startswith(LABEL) and name != LABEL)]
        if unknown or len(set(self.by)) < len(self.by) or sum(name in TIMES for name in self.by) > 1:
            what = f"usage cannot be grouped by `{','.join(self.by)}`"
            mend = f"name some of {', '.join((*OF_ACCOUNTS, f'{LABEL}NAME'))} and one of {', '.join(TIMES)}, each once"
            raise InputError([Fault("unknown-word", what, mend)])
        if self.until < self.since:
            raise InputError([Fault("out-of-range", "`to` is before `from`", "give them in their order")])
        if self.step and (self.until - self.since) // self.step >= MOST_PARTS:
            what = f"there are more than {MOST_PARTS:,} parts of this length"
            raise InputError([Fault("out-of-range", what, "give a later `from`, or a longer `step`")])

    def parts(self) -> Iterator[UsageQuery]:
        """The same for each part of the time, cut at multiples of the step."""
        first = self.since // self.step * self.step + self.step
        for since, until in pairwise((self.since, *range(first, self.until, self.step), self.until)):
            yield self._replace(since=since, until=until, step=0)


def usage_document(store: Store, tail: Tail, query: UsageQuery) -> Document:
    """What was used, of every resource in sums by what is asked; see `usage_sums`.

    Where `by` does not name `kind`, only what was held counts, own and borrowed: slots that are lent are held by
    others, and what is lost was held before.
    Raises InputError as `UsageQuery.check` does, where the span lies in the future, and where nobody knows a resource.
    """
    query.check()
    if query.since > tail.end:
        what = f"`from` is in the future: now is {format_instant(tail.end)}"
        raise InputError([Fault("out-of-range", what, "ask for a time that has begun")])
    spans = KeptSpans(store)
    return _in_parts(spans, tail, query) if query.step else _document(spans, tail, query)


def _in_parts(spans: KeptSpans, tail: Tail, query: UsageQuery) -> Document:
    """Rows of each part of the time, with its `from` and `to`; what there was, shares and balances are not told."""
    found = [_document(spans, tail, part) for part in query.parts() if part.since < tail.end]
    rows = [{"from": each["from"], "to": each["to"]} | row for each in found for row in each["rows"]]
    begin = found[0]["from"] if found else format_instant(query.since)
    end = found[-1]["to"] if found else begin
    nothing: Document = {"capacity": [], "capacity_from": None, "capacity_whole": False, "dominant": [], "balance": []}
    return {"from": begin, "to": end, "by": list(query.by), "rows": rows, **nothing}


def _document(spans: KeptSpans, tail: Tail, query: UsageQuery) -> Document:
    """The whole time as one part."""
    store, costs = spans.store, Costs(tail.prices)
    found = usage_sums(spans, tail, query.since, query.until, _marks(query.by, costs))
    amounts = _Amounts()
    capacity = _capacity(found, amounts)
    if not query.is_whole:
        found = found.of(query.is_told)
    rows = _rows(found, query, _labels(store, found, query.by), amounts, costs)
    told = {resource for *_, resource in rows}
    _check_resources(query.resources, {*tail.units, *told})
    wanted = set(query.resources) or {*told, *(resource for _, resource in capacity)}
    units = tail.units
    shown = {group: row for group, row in sorted(rows.items()) if group[-1] in wanted}
    return {
        "from": format_instant(found.since),
        "to": format_instant(found.until),
        "by": list(query.by),
        "rows": [
            dict(zip((*query.by, "resource"), group, strict=True))
            | {"unit": units.get(group[-1], ""), "resource_seconds": _seconds(row.amount)}
            | ({} if row.cost is None else {"cost": rounded(row.cost, MONEY)})
            for group, row in shown.items()
        ],
        **_cost_in_all(costs, shown),
        "capacity": [
            {name_of_time: time for name_of_time in query.by if name_of_time in TIMES}
            | {"resource": name, "unit": units.get(name, "")}
            | {f"{kind}_seconds": _seconds(there[kind]) for kind in (*CAPACITY, _ALL_HELD)}
            for (time, name), there in sorted(capacity.items(), key=lambda item: item[0])
            if name in wanted
        ],
        "capacity_from": format_instant(max(found.since, found.known)) if found.capacity else None,
        "capacity_whole": _knows_all(found),
        "dominant": _dominant(found, query.by, shown, capacity),
        "balance": _balance(found, amounts, wanted) if query.is_whole else [],
    }


class _Amounts:
    """How much of every resource one unit is."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[str, Fraction]]] = {}

    def of(self, unit: str) -> list[tuple[str, Fraction]]:
        """(resource, amount) of a unit as `Key` says it."""
        if unit not in self._known:
            self._known[unit] = (
                [(UNSIZED if unit else SLOTS, Fraction(1))]
                if unit in {"", UNKNOWN}
                else [(resource, Fraction(text)) for resource, text in json.loads(unit).items()]
            )
        return self._known[unit]


class Row:
    """Sums of a group.

    amount : resource-microseconds, of what was held where kinds are not told apart
    cost   : None = nothing of it has a price
    is_free : something that was held has none
    """

    __slots__ = ("amount", "cost", "is_free")

    def __init__(self) -> None:
        self.amount = Fraction(0)
        self.cost: Fraction | None = None
        self.is_free = False


Group = tuple[str, ...]
"""Values of the keys that are asked for, and a resource."""


def _marks(by: Sequence[str], costs: Costs) -> Callable[[int], Mark]:
    """The time of the calendar that is asked for, and the period of prices."""
    forms = [TIMES[name] for name in by if name in TIMES]

    @cache
    def of_hour(hour: int) -> Mark:
        word = datetime.fromtimestamp(hour * 3600, UTC).strftime(forms[0]) if forms else ""
        return word, costs.period_of(hour * HOUR)

    return lambda begin: of_hour(begin // HOUR)


def _labels(store: Store, found: UsageSums, by: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    if not any(name.startswith(LABEL) for name in by):
        return {}
    return store.labels(sorted({key.job for key, _ in found.sums if key.job}))


def _rows(
    found: UsageSums, query: UsageQuery, labels: Mapping[str, Mapping[str, str]], amounts: _Amounts, costs: Costs
) -> dict[Group, Row]:
    grouped: dict[Group, Row] = {}
    for (key, mark), units in found.sums.items():
        is_told = "kind" in query.by or key.kind in HELD
        told = key
        if query.others is not None and query.others.keeps(key):
            told = key._replace(consumer=query.others.name, user="", job="")
        names = [_value(name, told, mark, labels) for name in query.by]
        for resource, of_unit in amounts.of(key.unit):
            amount = units * of_unit
            cost = costs.of(key, mark[1], resource, amount)
            if not is_told and cost is None:
                continue
            row = grouped.setdefault((*names, resource), Row())
            row.amount += amount if is_told else 0
            row.is_free |= cost is None and key.kind in HELD
            if cost is not None:
                row.cost = (row.cost or Fraction(0)) + cost
    return grouped


def _cost_in_all(costs: Costs, rows: Mapping[Group, Row]) -> Document:
    """The sum of all costs, and the resources that were held without a price; nothing where there are no prices."""
    if not costs.currency:
        return {}
    total = sum((row.cost for row in rows.values() if row.cost is not None), Fraction(0))
    free = sorted({group[-1] for group, row in rows.items() if row.is_free})
    return {"currency": costs.currency, "cost": rounded(total, MONEY), "unpriced": free}


def _value(name: str, key: Key, mark: Mark, labels: Mapping[str, Mapping[str, str]]) -> str:
    if name in TIMES:
        return mark[0]
    if name.startswith(LABEL):
        return labels.get(key.job, {}).get(name.removeprefix(LABEL), "")
    return str(getattr(key, name))


def _capacity(found: UsageSums, amounts: _Amounts) -> dict[tuple[str, str], dict[str, Fraction]]:
    """(time as it is told, resource) → kind of `CAPACITY`, or `_ALL_HELD` → what there was, and what all held of it."""
    sums: dict[tuple[str, str], dict[str, Fraction]] = {}
    for (key, (time, _)), amount in found.capacity.items():
        for resource, of_unit in amounts.of(key.unit):
            there = sums.setdefault((time, resource), dict.fromkeys((*CAPACITY, _ALL_HELD), Fraction(0)))
            there[key.kind] += amount * of_unit
    for (key, (time, _)), amount in found.sums.items():
        for resource, of_unit in amounts.of(key.unit) if key.kind in HELD else ():
            if (time, resource) in sums:
                sums[time, resource][_ALL_HELD] += amount * of_unit
    return sums


def _knows_all(found: UsageSums) -> bool:
    """Whether capacity is on record for all the time in which something was used."""
    return found.known <= found.begins


def _dominant(
    found: UsageSums,
    by: Sequence[str],
    rows: Mapping[Group, Row],
    capacity: Mapping[tuple[str, str], Mapping[str, Fraction]],
) -> list[Document]:
    """The largest part of what there was of any resource, up or down; none where it is not known for the whole time."""
    if not _knows_all(found) or any(name in TIMES for name in by):
        return []
    largest: dict[Group, tuple[Fraction, str]] = {}
    for (*names, resource), row in rows.items():
        of = capacity.get(("", resource))
        there = of[UP] + of[DOWN] if of else 0
        if there:
            largest[(*names,)] = max(largest.get((*names,), (Fraction(-1), "")), (row.amount / there, resource))
    length = found.until - max(found.since, found.known)
    return [
        dict(zip(by, names, strict=True))
        | {"resource": resource, "share": rounded(share), "cluster_seconds": rounded(share * length / SECOND)}
        for names, (share, resource) in largest.items()
    ]


def _balance(found: UsageSums, amounts: _Amounts, wanted: Collection[str]) -> list[Document]:
    """Of every resource, what was borrowed in all and lent in all; why, where they differ."""
    sums: dict[str, dict[str, Fraction]] = {}
    for (key, _), amount in found.sums.items():
        for resource, of_unit in amounts.of(key.unit) if key.kind in {BORROWED, LENT} else ():
            both = sums.setdefault(resource, {BORROWED: Fraction(0), LENT: Fraction(0)})
            both[key.kind] += amount * of_unit
    known = format_instant(found.known) if found.capacity else format_instant(found.until)
    return [
        {"resource": name, "borrowed_seconds": _seconds(both[BORROWED]), "lent_seconds": _seconds(both[LENT])}
        | {"why": "" if both[BORROWED] == both[LENT] else _UNSEEN.format(known)}
        for name, both in sorted(sums.items())
        if name in wanted
    ]


def _check_resources(asked: Iterable[str], known: set[str]) -> None:
    known = (known | {SLOTS}) - {UNSIZED}
    for name in asked:
        if name not in known:
            mend = f"what there is: {', '.join(sorted(known))}"
            raise InputError([Fault("unknown-resource", f"there is no resource `{name}`", mend)])


def _seconds(amount: Fraction) -> str:
    """Exact seconds of unit-microseconds: their denominators are powers of ten."""
    return decimal_text(amount / SECOND)


def rounded(value: Fraction, digits: int = _DIGITS) -> str:
    """A number that need not be a decimal, rounded to so many digits."""
    return decimal_text(Fraction(round(value * 10**digits), 10**digits))
