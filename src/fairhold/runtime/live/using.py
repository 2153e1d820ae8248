"""What was used between two instants, as the service tells it (docs/reference/usage.md)."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.model.vector import decimal_text
from fairhold.orchestrator.spans import HELD, UNKNOWN, Key
from fairhold.runtime.live.usage import USAGE_SPAN, unpacked
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from fairhold.model.usage import Usage
    from fairhold.orchestrator.spans import Span
    from fairhold.ports import Store
    from fairhold.runtime.live.usage import Tail

BY = ("consumer", "user", "job", "kind")
SLOTS = "slots"
"""What slots are called beside resources; no resource has this name."""
UNSIZED = ""
"""What is said in the place of a resource where it is not known of what size units were."""
MOST_PARTS = 1_000
"""Parts of the time in one answer."""
_CHUNK = 200
_PREFIX = f'["{USAGE_SPAN}"'


class Terms(NamedTuple):
    """What is asked of usage.

    by        : some of `BY`
    resources : `SLOTS` among them; none = all
    consumer  : path; what is below it too, empty = all
    step      : microseconds of each part of the time that has rows of its own, 0 = the time is one part
    """

    by: Sequence[str]
    resources: Collection[str] = ()
    consumer: str = ""
    step: int = 0


def usage_document(store: Store, tail: Tail, since: int, until: int, terms: Terms) -> dict[str, Any]:
    """What was used from `since` to before `until`, of every resource in sums by consumer, user, job or kind.

    Callable in any thread.

    tail : taken before the call
    Where `by` does not name `kind`, only what was held counts, own and borrowed: slots that are lent are held by
    others, and what is lost was held before.
    Exact for any two instants as far back as the log goes. Before that it is exact for the borders of spans, and
    `from` and `to` are moved to them: the answer says for which instants it is exact.
    Raises InputError where `by` names something else, nobody knows a resource, `until` is before `since`, or there are
    too many parts.
    """
    by = terms.by
    _check(since, until, by)
    until = max(since, min(until, tail.end))
    counted = _Counted(store, tail, terms.consumer)
    rows: list[dict[str, str]] = []
    begin, end = since, until
    for part in _parts(since, until, terms.step):
        sums, first, last = counted.sums(*part)
        begin, end = min(begin, first), max(end, last)
        told = {"from": format_instant(first), "to": format_instant(last)} if terms.step else {}
        rows += [told | row for row in _rows(sums, by, tail.units)]
    _check_resources(terms.resources, {*tail.units, *(row["resource"] for row in rows)})
    return {
        "from": format_instant(begin),
        "to": format_instant(end),
        "by": list(by),
        "rows": [row for row in rows if not terms.resources or row["resource"] in terms.resources],
    }


def _parts(since: int, until: int, step: int) -> list[tuple[int, int]]:
    """The time as a whole, or cut at multiples of a step; InputError where that are too many parts."""
    if not step:
        return [(since, until)]
    if (until - since) // step >= MOST_PARTS:
        what = f"there are more than {MOST_PARTS:,} parts of this length"
        raise InputError([Fault("out-of-range", what, "give a later `from`, or a longer `step`")])
    cuts = [since, *range(since // step * step + step, until, step), until]
    return [*pairwise(cuts)]


class _Counted:
    """Sums of usage of a consumer in several parts of the time; a span of the log is read once."""

    def __init__(self, store: Store, tail: Tail, consumer: str) -> None:
        self._store = store
        self._begin = tail.begin
        self._above = consumer.rstrip("/") + "/" if consumer.strip("/") else ""
        self._tail = [self._of(span) for span in tail.spans]
        self._kept: dict[tuple[int, int], Span | None] = {}

    def sums(self, since: int, until: int) -> tuple[dict[Key, int], int, int]:
        """Unit-microseconds by account, and the instants from and to which they are exact."""
        sums: dict[Key, int] = {}
        cut: dict[tuple[int, int], list[Usage]] = {}
        for row in self._store.usage(since, until) if since < until else ():
            if row.begin >= self._begin or not self._is_meant(row.consumer):
                continue
            if since <= row.begin and row.end <= until:
                _add(sums, _key(row), row.amount)
            else:
                cut.setdefault((row.begin, row.end), []).append(row)
        for span in self._tail:
            _add_span(sums, span, since, until)
        asked = since, until
        for (begin, end), rows in cut.items():
            span_kept = self._span(begin, end)
            if span_kept is not None:
                _add_span(sums, span_kept, *asked, {_key(row)._replace(unit=UNKNOWN): row.unit for row in rows})
                continue
            since, until = min(since, begin), max(until, end)
            for row in rows:
                _add(sums, _key(row), row.amount)
        return sums, since, until

    def _span(self, begin: int, end: int) -> Span | None:
        if (begin, end) not in self._kept:
            found = _kept_span(self._store, begin, end)
            self._kept[begin, end] = None if found is None else self._of(found)
        return self._kept[begin, end]

    def _is_meant(self, consumer: str) -> bool:
        return f"{consumer}/".startswith(self._above)

    def _of(self, span: Span) -> Span:
        """What a span says of the consumer."""
        if not self._above:
            return span
        steps = {key: each for key, each in span.steps.items() if self._is_meant(key.consumer)}
        return span._replace(steps=steps, lost={key: each for key, each in span.lost.items() if self._is_meant(key[0])})


def _check(since: int, until: int, by: Sequence[str]) -> None:
    unknown = [name for name in by if name not in BY]
    if unknown or len(set(by)) < len(by):
        what = f"usage cannot be grouped by `{','.join(by)}`"
        raise InputError([Fault("unknown-word", what, f"name some of {', '.join(BY)}, each once")])
    if until < since:
        raise InputError([Fault("out-of-range", "`to` is before `from`", "give them in their order")])


def _check_resources(asked: Iterable[str], known: set[str]) -> None:
    known = (known | {SLOTS}) - {UNSIZED}
    for name in asked:
        if name not in known:
            mend = f"name some of {', '.join(sorted(known))}"
            raise InputError([Fault("unknown-resource", f"there is no resource `{name}`", mend)])


def _key(row: Usage) -> Key:
    return Key(row.consumer, row.user, row.job, row.kind, row.unit)


def _add(sums: dict[Key, int], key: Key, amount: int) -> None:
    sums[key] = sums.get(key, 0) + amount


def _add_span(sums: dict[Key, int], span: Span, since: int, until: int, units: Mapping[Key, str] | None = None) -> None:
    """What was used in a part of a span.

    units : key of an unknown unit → what its row says by now; spans before format 6 do not say it
    """
    for key, amount in span.totals(since, until).items():
        _add(sums, key._replace(unit=units.get(key, key.unit)) if units else key, amount)


def _kept_span(store: Store, begin: int, end: int) -> Span | None:
    """A span as the log has it; None where the log does not go back so far.

    It stands behind all that happened in it, before the next one; how long after its end, nobody can say.
    """
    seq = store.seq_at(end - 1)
    while entries := store.entries(seq, limit=_CHUNK):
        for entry in entries:
            if entry.body.startswith(_PREFIX):
                fields = json.loads(entry.body)
                if fields[1] == begin:
                    return unpacked(fields[3])
                if fields[1] > begin:
                    return None
        seq = entries[-1].seq
    return None


def _rows(sums: dict[Key, int], by: Sequence[str], units: Mapping[str, str]) -> list[dict[str, str]]:
    grouped: dict[tuple[str, ...], Fraction] = {}
    amounts: dict[str, list[tuple[str, Fraction]]] = {}
    for key, amount in sums.items():
        if "kind" not in by and key.kind not in HELD:
            continue
        if key.unit not in amounts:
            amounts[key.unit] = _amounts(key.unit)
        for resource, of_unit in amounts[key.unit]:
            group = (*(getattr(key, name) for name in by), resource)
            grouped[group] = grouped.get(group, Fraction(0)) + amount * of_unit
    return [
        dict(zip((*by, "resource"), group, strict=True))
        | {"unit": units.get(group[-1], ""), "resource_seconds": decimal_text(amount / SECOND)}
        for group, amount in sorted(grouped.items())
    ]


def _amounts(unit: str) -> list[tuple[str, Fraction]]:
    """(resource, how much of it) that one unit is."""
    if unit in {"", UNKNOWN}:
        return [(UNSIZED if unit else SLOTS, Fraction(1))]
    return [(resource, Fraction(text)) for resource, text in json.loads(unit).items()]
