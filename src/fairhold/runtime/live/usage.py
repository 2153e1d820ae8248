"""Usage of the live service: counted as it happens, kept in the store (docs/reference/usage.md).

Time is cut into spans, at every whole hour, at every change of plan and after so much has happened. The end of a span
is an entry of the log that holds every step of it; its sums are rows of the store, which stay when the entry is gone.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.model.price import NO_PRICES
from fairhold.model.usage import Usage
from fairhold.orchestrator.accounting import Accounting
from fairhold.orchestrator.changes import BudgetsSpent, WindowOpened
from fairhold.orchestrator.spans import UNKNOWN, span_of, unit_text
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.price import PriceList
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.spans import Key, Span
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import Batch, Store
    from fairhold.runtime.live.journal import Journal

USAGE_SPAN = "UsageSpan"
"""Kind of the entry that ends a span: begin, end, all of it (JSON, zlib, Base64)."""
HOUR = 3600 * SECOND
MOST = 5_000
"""Steps after which a span ends before its hour: some ten milliseconds' work to write it."""
_OTHER_COLUMNS = (WindowOpened, BudgetsSpent)


class Tail(NamedTuple):
    """What need not be in the store yet: the spans up to now, in order; the last one is not over.

    units, prices : of the plan in force: resource → what amounts of it are in; what an hour of it costs
    """

    spans: tuple[Span, ...]
    units: Mapping[str, str]
    prices: PriceList = NO_PRICES

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
        rows = [Usage(span.begin, now, *key[:4], amount, key.unit) for key, amount in span.totals().items()]
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
        span = self._with_units(span_of(document), cluster)
        accounting = Accounting(cluster, span.end)
        accounting.thaw(span)
        self._accounting = accounting

    def _with_units(self, span: Span, cluster: Cluster) -> Span:
        """A span with the units of its jobs, which a snapshot before format 6 did not say."""
        known: dict[str, str] = {}

        def key_of(key: Key) -> Key:
            if key.unit != UNKNOWN:
                return key
            if key.job not in known:
                known[key.job] = self._unit_of(key.job, cluster)
            return key._replace(unit=known[key.job])

        return span._replace(
            steps={key_of(key): steps for key, steps in span.steps.items()},
            lost={key_of(key): ends for key, ends in span.lost.items()},
        )

    def _unit_of(self, job: str, cluster: Cluster) -> str:
        if job in cluster.jobs:
            return unit_of(cluster.jobs[job])
        finished = self._store.job(job)
        if finished is None:
            return UNKNOWN
        unit = json.loads(finished.summary).get("unit")
        return unit_text(tuple(unit.items())) if unit else ""

    def taken_up(self, cluster: Cluster) -> None:
        """All of the log has happened again: rows that an earlier format wrote learn the units of jobs that go on."""
        units = {job: unit_of(cluster.jobs[job]) for job in self._store.jobs_of_unknown_unit() if job in cluster.jobs}
        for job, unit in units.items():
            self._journal.write(partial(_put_unit, job, unit))

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
        spans = (*self._unsure, self._accounting.span(max(now, self._accounting.at)))
        return Tail(spans, self._accounting.units(), self._accounting.prices())


def unit_of(job: JobRecord) -> str:
    """What one unit of a job is, as `Key` says it."""
    return unit_text(job.terms.unit) if job.terms.unit else ""


def _put_unit(job: str, unit: str, batch: Batch) -> None:
    batch.put_unit(job, unit)


def packed(span: Span) -> str:
    """A span as short text."""
    return b64encode(zlib.compress(json.dumps(span.document(), separators=(",", ":")).encode(), 6)).decode()


def unpacked(text: str) -> Span:
    """The reverse of `packed`."""
    return span_of(json.loads(zlib.decompress(b64decode(text))))
