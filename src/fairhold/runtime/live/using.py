"""What was used between two instants, as the service tells it (docs/reference/usage.md)."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
_CHUNK = 200
_PREFIX = f'["{USAGE_SPAN}"'


def usage_document(  # noqa: PLR0917 - the terms of the request, in their order
    store: Store, tail: Tail, since: int, until: int, by: Sequence[str], resources: Collection[str] = ()
) -> dict[str, Any]:
    """What was used from `since` to before `until`, of every resource in sums by consumer, user, job or kind.

    Callable in any thread.

    tail : taken before the call
    resources : those that are asked for, `SLOTS` among them; none = all
    Where `by` does not name `kind`, only what was held counts, own and borrowed: slots that are lent are held by
    others, and what is lost was held before.
    Exact for any two instants as far back as the log goes. Before that it is exact for the borders of spans, and
    `from` and `to` are moved to them: the answer says for which instants it is exact.
    Raises InputError where `by` names something else, nobody knows a resource, or `until` is before `since`.
    """
    _check(since, until, by)
    until = max(since, min(until, tail.end))
    sums: dict[Key, int] = {}
    cut: dict[tuple[int, int], list[Usage]] = {}
    for row in store.usage(since, until) if since < until else ():
        if row.begin >= tail.begin:
            continue
        if since <= row.begin and row.end <= until:
            _add(sums, _key(row), row.amount)
        else:
            cut.setdefault((row.begin, row.end), []).append(row)
    for span in tail.spans:
        _add_span(sums, span, since, until)
    asked = since, until
    for (begin, end), rows in cut.items():
        span_kept = _kept_span(store, begin, end)
        if span_kept is not None:
            _add_span(sums, span_kept, *asked, {_key(row)._replace(unit=UNKNOWN): row.unit for row in rows})
            continue
        since, until = min(since, begin), max(until, end)
        for row in rows:
            _add(sums, _key(row), row.amount)
    rows_found = _rows(sums, by, tail.units)
    _check_resources(resources, {*tail.units, *(row["resource"] for row in rows_found)})
    return {
        "from": format_instant(since),
        "to": format_instant(until),
        "by": list(by),
        "rows": [row for row in rows_found if not resources or row["resource"] in resources],
    }


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
