"""Usage of the live service: counted as it happens, kept in the store, told for any span (docs/reference/usage.md).

Time is cut into spans, at every whole hour, at every change of plan and after so much has happened. The end of a span
is an entry of the log that holds every step of it; its sums are rows of the store, which stay when the entry is gone.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.orchestrator.accounting import Accounting
from fairhold.orchestrator.changes import BudgetsSpent, WindowOpened
from fairhold.orchestrator.spans import HELD, Key, span_of
from fairhold.ports import Usage
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.spans import Span
    from fairhold.ports import Store
    from fairhold.runtime.live.journal import Journal

USAGE_SPAN = "UsageSpan"
"""Kind of the entry that ends a span: begin, end, all of it (JSON, zlib, Base64)."""
HOUR = 3600 * SECOND
MOST = 5_000
"""Steps after which a span ends before its hour: some ten milliseconds' work to write it."""
BY = ("consumer", "user", "job", "kind")
_OTHER_COLUMNS = (WindowOpened, BudgetsSpent)
_CHUNK = 200
_PREFIX = f'["{USAGE_SPAN}"'


class Tail(NamedTuple):
    """What need not be in the store yet: the spans up to now, in order; the last one is not over."""

    spans: tuple[Span, ...]

    @property
    def begin(self) -> int:
        """Where it begins: rows of the store that begin later are in it."""
        return self.spans[0].begin

    @property
    def end(self) -> int:
        """Now."""
        return self.spans[-1].end


class LiveUsage:
    """The accounts of a live service; used in the thread of the desk.

    most : steps of a span
    """

    def __init__(self, store: Store, journal: Journal, most: int = MOST) -> None:
        self._store = store
        self._journal = journal
        self._most = most
        self._unsure: list[Span] = []
        self._accounting: Accounting

    # What the core tells

    def begin(self, cluster: Cluster, now: int) -> None:
        """A new service: nothing was used before."""
        self._accounting = Accounting(cluster, now)

    def note(self, changes: Sequence[Change], now: int, cluster: Cluster) -> None:
        """Changes that were just applied, before they are noted in the journal; a switch of windows comes alone."""
        if any(isinstance(change, _OTHER_COLUMNS) for change in changes):
            self.end_span(now)
            self.plan_changed(cluster, now)
            return
        self.end_hours(now)
        if self._accounting.weight >= self._most:
            self.end_span(now)
        self._accounting.note(changes, now, cluster)

    def end_hours(self, now: int) -> None:
        """End the spans of the hours that are over."""
        border = self._accounting.begin // HOUR * HOUR + HOUR
        while border <= now:
            self._end_span(border)
            border += HOUR

    def end_span(self, now: int) -> None:
        """End the span at hand: what was used is written, and a new one begins."""
        self.end_hours(now)
        self._end_span(now)

    def _end_span(self, now: int) -> None:
        if now <= self._accounting.begin:
            return
        span = self._accounting.span(now)
        rows = [Usage(span.begin, now, *key, amount) for key, amount in span.totals().items()]
        last = self._journal.entries[-1][0] if self._journal.entries else self._store.last_at
        self._journal.note_entry([USAGE_SPAN, span.begin, now, packed(span)], max(now, last))
        if rows:
            self._journal.write(lambda batch: batch.put_usage(rows))
        self._unsure.append(span)
        self._accounting.cut(now)

    def written(self) -> None:
        """Everything decided so far is durable: spans that are over are in the store."""
        self._unsure.clear()

    def plan_changed(self, cluster: Cluster, now: int) -> None:
        """Another plan, or another entry of it, is in force; `end_span` came before it."""
        self._accounting.rebuild(cluster, now)

    # At a start

    def freeze(self) -> list[Any]:
        """For a snapshot: what the cluster does not tell."""
        return self._accounting.freeze()

    def thaw(self, document: Sequence[Any], cluster: Cluster) -> None:
        """The reverse of `freeze`, on the cluster of the same snapshot."""
        span = span_of(document)
        accounting = Accounting(cluster, span.end)
        accounting.thaw(span)
        self._accounting = accounting

    def replay(self, change: Change, at: int, cluster: Cluster) -> None:
        """Let a change of the log, which was just applied, happen again."""
        if isinstance(change, _OTHER_COLUMNS):
            self.plan_changed(cluster, at)
        else:
            self._accounting.note((change,), at, cluster)

    def replay_span(self, end: int) -> None:
        """A span ended here; its rows are in the store."""
        self._accounting.cut(end)

    # For who asks

    def tail(self, now: int) -> Tail:
        """All that the store need not have yet, up to now."""
        return Tail((*self._unsure, self._accounting.span(max(now, self._accounting.at))))


def packed(span: Span) -> str:
    """A span as short text."""
    return b64encode(zlib.compress(json.dumps(span.document(), separators=(",", ":")).encode(), 6)).decode()


def unpacked(text: str) -> Span:
    """The reverse of `packed`."""
    return span_of(json.loads(zlib.decompress(b64decode(text))))


def usage_document(store: Store, tail: Tail, since: int, until: int, by: Sequence[str]) -> dict[str, Any]:
    """What was used from `since` to before `until`, in sums by consumer, user, job or kind; callable in any thread.

    tail : taken before the call
    Where `by` does not name `kind`, only what was held counts, own and borrowed: slots that are lent are held by
    others, and what is lost was held before.
    Exact for any two instants as far back as the log goes. Before that it is exact for the borders of spans, and
    `from` and `to` are moved to them: the answer says for which instants it is exact.
    Raises InputError where `by` names something else, or `until` is before `since`.
    """
    _check(since, until, by)
    until = max(since, min(until, tail.end))
    sums: dict[Key, int] = {}
    cut: dict[tuple[int, int], list[Usage]] = {}
    for row in store.usage(since, until) if since < until else ():
        if row.begin >= tail.begin:
            continue
        if since <= row.begin and row.end <= until:
            _add(sums, Key(*row[2:6]), row.amount)
        else:
            cut.setdefault((row.begin, row.end), []).append(row)
    for span in tail.spans:
        _add_span(sums, span, since, until)
    asked = since, until
    for (begin, end), rows in cut.items():
        span_kept = _kept_span(store, begin, end)
        if span_kept is not None:
            _add_span(sums, span_kept, *asked)
            continue
        since, until = min(since, begin), max(until, end)
        for row in rows:
            _add(sums, Key(*row[2:6]), row.amount)
    return {"from": format_instant(since), "to": format_instant(until), "by": list(by), "rows": _rows(sums, by)}


def _check(since: int, until: int, by: Sequence[str]) -> None:
    unknown = [name for name in by if name not in BY]
    if unknown or len(set(by)) < len(by):
        what = f"usage cannot be told by `{','.join(by)}`"
        raise InputError([Fault("unknown-word", what, f"name some of {', '.join(BY)}, each once")])
    if until < since:
        raise InputError([Fault("out-of-range", "`to` is before `from`", "give them in their order")])


def _add(sums: dict[Key, int], key: Key, amount: int) -> None:
    sums[key] = sums.get(key, 0) + amount


def _add_span(sums: dict[Key, int], span: Span, since: int, until: int) -> None:
    for key, amount in span.totals(since, until).items():
        _add(sums, key, amount)


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


def _rows(sums: dict[Key, int], by: Sequence[str]) -> list[dict[str, str]]:
    grouped: dict[tuple[str, ...], int] = {}
    for key, amount in sums.items():
        if "kind" not in by and key.kind not in HELD:
            continue
        group = tuple(getattr(key, name) for name in by)
        grouped[group] = grouped.get(group, 0) + amount
    return [
        dict(zip(by, group, strict=True)) | {"unit_seconds": seconds(amount)}
        for group, amount in sorted(grouped.items())
    ]


def seconds(amount: int) -> str:
    """Unit-microseconds as an exact number of unit-seconds."""
    whole, rest = divmod(amount, SECOND)
    return f"{whole}.{rest:06}".rstrip("0") if rest else str(whole)
