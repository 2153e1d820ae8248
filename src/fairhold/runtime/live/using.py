"""What was used between two instants, as sums by account (docs/reference/usage.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from fairhold.orchestrator.spans import CAPACITY, UNKNOWN, Key
from fairhold.runtime.live.usage import USAGE_SPAN, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.model.usage import Usage
    from fairhold.orchestrator.spans import Span
    from fairhold.ports import Store
    from fairhold.runtime.live.usage import Tail

_CHUNK = 200
_PREFIX = f'["{USAGE_SPAN}"'
_NEVER = 2**62
Mark = tuple[str, int]
"""What sums of different times are told apart by; a span of usage has one, as it lies within an hour."""


def one_mark(_begin: int) -> Mark:
    """All times are added up."""
    return "", 0


class UsageSums(NamedTuple):
    """What was used from `since` to before `until`, in unit-microseconds.

    sums     : (account, mark of the time) → amount
    capacity : the same of `up` and `down`
    begins   : of the first span in which something was used; known : of the first whose capacity is on record
    """

    since: int
    until: int
    sums: Mapping[tuple[Key, Mark], int]
    capacity: Mapping[tuple[Key, Mark], int]
    begins: int
    known: int

    def of(self, is_told: Callable[[Key], bool]) -> UsageSums:
        """The same of some accounts alone; what there was is that of all."""
        return self._replace(sums={each: amount for each, amount in self.sums.items() if is_told(each[0])})


class _Sums:
    """Adds up accounts of spans.

    mark_of : begin of a span → how its time is told
    """

    def __init__(self, mark_of: Callable[[int], Mark]) -> None:
        self._mark_of = mark_of
        self.sums: dict[tuple[Key, Mark], int] = {}
        self.capacity: dict[tuple[Key, Mark], int] = {}
        self.begins = self.known = _NEVER

    def add(self, key: Key, begin: int, amount: int) -> None:
        """Something that was used in a span that began then."""
        place, sums = (key, self._mark_of(begin)), self.sums
        if key.kind in CAPACITY:
            self.known, sums = min(self.known, begin), self.capacity
        else:
            self.begins = min(self.begins, begin)
        sums[place] = sums.get(place, 0) + amount

    def add_row(self, row: Usage) -> None:
        """A whole span's."""
        self.add(_key(row), row.begin, row.amount)

    def add_span(self, span: Span, since: int, until: int, units: Mapping[Key, str] | None = None) -> None:
        """What was used in a part of a span.

        units : key of an unknown unit → what its row says by now; spans before format 6 do not say it
        """
        for key, amount in span.totals(since, until).items():
            self.add(key._replace(unit=units.get(key, key.unit)) if units else key, span.begin, amount)


def usage_sums(
    spans: KeptSpans, tail: Tail, since: int, until: int, mark_of: Callable[[int], Mark] = one_mark
) -> UsageSums:
    """What was used from `since` to before `until`, which is not before it and at most now.

    Callable in any thread.

    tail : taken before the call
    Exact for any two instants as far back as the log goes. Before that it is exact for the borders of spans, and
    `since` and `until` are moved to them: the answer says for which instants it is exact.
    """
    until = max(since, min(until, tail.end))
    found = _Sums(mark_of)
    cut: dict[tuple[int, int], list[Usage]] = {}
    for row in spans.store.usage(since, until) if since < until else ():
        if row.begin >= tail.begin:
            continue
        if since <= row.begin and row.end <= until:
            found.add_row(row)
        else:
            cut.setdefault((row.begin, row.end), []).append(row)
    for span in tail.spans:
        found.add_span(span, since, until)
    asked = since, until
    for (begin, end), rows in cut.items():
        span_kept = spans.of(begin, end)
        if span_kept is not None:
            found.add_span(span_kept, *asked, {_key(row)._replace(unit=UNKNOWN): row.unit for row in rows})
            continue
        since, until = min(since, begin), max(until, end)
        for row in rows:
            found.add_row(row)
    return UsageSums(since, until, found.sums, found.capacity, found.begins, found.known)


class KeptSpans:
    """Spans that are on record, as the log has them; each is read once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._read: dict[tuple[int, int], Span | None] = {}

    def of(self, begin: int, end: int) -> Span | None:
        """A span; None where the log does not go back so far."""
        if (begin, end) not in self._read:
            self._read[begin, end] = _kept_span(self.store, begin, end)
        return self._read[begin, end]


def _key(row: Usage) -> Key:
    return Key(row.consumer, row.user, row.job, row.kind, row.unit)


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
