"""From the log of a service to an event trace, what came from outside: events are found again from what they changed.

A log holds what was decided, not what happened (ADR 0012). Whatever a change is, either somebody or some machine caused
it, or it follows from the state and the time. Only the first is taken over; that the second follows again is what a
replay shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.run import quotas
from fairhold.errors import Fault, InputError
from fairhold.lab.backtesting import Known
from fairhold.lab.rebuilding import FORCES, RESTORE, UNREADABLE, Rebuilt, damaged, read_fields
from fairhold.lab.retracing import Retracing
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.journal import PLAN_APPLIED
from fairhold.sim.event_trace import EventTrace, Replanned
from fairhold.sim.log import line_of
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.lab.rebuilding import Saved, Source
    from fairhold.orchestrator.changes import Change
    from fairhold.ports import Entry

QUIET = {"UsageSpan": "", "JobNumbersTaken": "", "JobLabelled": "labels of jobs", "Closing": "plans to close hosts"}
"""Kinds of entries that are no changes → what of them a scenario cannot say; empty = nothing is lost."""
FOR_EVER = 2**62


class Record(NamedTuple):
    """What was recorded.

    plans    : texts of the plans, that of the begin in front
    versions : their numbers, in the same order
    left_out : what cannot be said → how often
    is_cut   : what was before the begin was asked for, and is no longer in the log
    """

    event_trace: EventTrace
    plans: tuple[str, ...]
    versions: tuple[int, ...]
    left_out: Mapping[str, int]
    is_cut: bool = False


def record(source: Source, since: int = 0, until: int = FOR_EVER) -> Record:
    """What happened from an instant to another, as far as the log reaches: it may begin later than asked for.

    Raises InputError: `record-empty` where nothing happened, `record-gone` where all of it is no longer in the log, or
    no snapshot is as early as what is, `record-damaged`
    """
    if until <= since:
        raise InputError([Fault("out-of-range", "the record ends before it begins", "set a later --until")])
    saved = source.snapshot(since)
    entries = source.entries(saved.seq if saved else 0)
    return _Recording(source, since, until).run(saved, list(_until(entries, until)))


def _until(entries: Iterable[Entry], until: int) -> Iterable[Entry]:
    for entry in entries:
        if entry.at > until:
            return
        yield entry


def end_of_log(source: Source) -> tuple[Rebuilt, list[tuple[str, int]], int]:
    """The cluster at the end of a log, how long attempts ran that ended by themselves, and the instant; InputError."""
    recording = _Recording(source, 0, FOR_EVER)
    saved = source.snapshot(0)
    entries = list(source.entries(saved.seq if saved else 0))
    recording.begin(saved, [(entry, *read_fields(entry, source.name)) for entry in entries])
    known: Known | None = None
    for entry in entries:
        kind, fields, change = read_fields(entry, source.name)
        recording.pass_by(entry, kind, fields, change)
        cluster = recording.rebuilt.cluster
        if known is None and cluster is not None:
            known = Known(cluster)
        if known is not None and change is not None:
            known.note(entry.at, (change,))
    if known is None:
        what = "the log is empty"
        raise InputError([Fault("record-empty", what, "name another service", file=source.name)])
    return recording.rebuilt, known.rows, entries[-1].at


class _Recording:
    def __init__(self, source: Source, since: int, until: int) -> None:
        self.source, self.since, self.until = source, since, until
        self.left_out: dict[str, int] = {}
        self.plans: list[str] = []
        self.versions: list[int] = []
        self.decided: list[str] = []

    def run(self, saved: Saved | None, entries: list[Entry]) -> Record:
        name = self.source.name
        read = [(entry, *read_fields(entry, name)) for entry in entries]
        if saved is None and read and read[0][0].seq > 1:
            what = f"entries of the log before {read[0][0].seq} are no longer kept, and there is no earlier snapshot"
            raise InputError([Fault("record-gone", what, "record from a later instant: --since", file=name)])
        if saved is not None and saved.at > self.until:
            what = f"the time before {format_instant(saved.at)} is no longer in the log"
            raise InputError([Fault("record-gone", what, "record until a later instant: --until", file=name)])
        self.begin(saved, read)
        first, begin = 0, max(self.since, saved.at if saved else 0)
        cycles, told = self._last_cycles(read), dict[str, tuple[int, ...]]()
        while first < len(read) and (self.rebuilt.cluster is None or read[first][0].at < self.since):
            begin = max(self.since, read[first][0].at)
            if (group := cycles.get(first)) is not None:
                told[group] = self._quotas(group, begin)
            self.pass_by(*read[first])
            first += 1
        cluster = self.rebuilt.cluster
        if cluster is None or all(change is None for *_, change in read[first:]):
            what = "nothing happened in that time" if entries or saved else "the log is empty"
            raise InputError([Fault("record-empty", what, "name a longer time, or another service", file=name)])
        is_fresh = not (cluster.jobs or cluster.machines or cluster.next_attempt > 1)
        state, own, nodes = None if is_fresh else freeze(cluster), cluster.own, dict(self.rebuilt.nodes)
        self.plans, self.versions = [self.rebuilt.text], [self.rebuilt.version]
        self.retracing = Retracing(governs=bool(nodes))
        for row in read[first:]:
            self._take(*row)
        end = min(self.until, entries[-1].at + 1)
        lines = self.retracing.close(is_running=self.source.is_running() or end == self.until)
        event_trace = EventTrace(
            *(own, begin, end, state, tuple(lines), tuple(self.decided), self.retracing.has_cycles),
            quotas=told,
            nodes=nodes,
            is_observing=self.retracing.is_observing,
        )
        is_cut = saved is not None and saved.at > self.since
        return Record(event_trace, tuple(self.plans), tuple(self.versions), self.left_out, is_cut)

    def _last_cycles(self, read: list[tuple[Entry, str, list[Any], Change | None]]) -> dict[int, str]:
        """Place of the last cycle of slots before the begin → its group, but where its quotas count no longer."""
        last: dict[str, int] = {}
        for place, (entry, kind, _, change) in enumerate(read):
            if entry.at >= self.since:
                break
            if kind in FORCES:
                last.clear()
            elif isinstance(change, said.CycleRan):
                last[change.resource_group] = place
            elif isinstance(change, (said.WindowOpened, said.BudgetsSpent)):
                last.pop(change.resource_group, None)
        last.pop(POOLED, None)
        return {place: group for group, place in last.items()}

    def _quotas(self, group: str, at: int) -> tuple[int, ...]:
        """Those that the cycle found that comes next: by them units were handed on, and no log says them."""
        cluster = self.rebuilt.cluster
        assert cluster is not None, "a cycle runs under a plan"
        return tuple(quotas(cluster.books[group], at).draft.quota)

    def begin(self, saved: Saved | None, read: list[tuple[Entry, str, list[Any], Change | None]]) -> None:
        """Stand where a log begins, or a snapshot was taken."""
        self.rebuilt = Rebuilt(self.source.plan, self._own(saved, read))
        if saved is not None:
            self._guarded(lambda: self.rebuilt.begin(saved), "the snapshot cannot be used")

    def _own(self, saved: Saved | None, read: list[tuple[Entry, str, list[Any], Change | None]]) -> str:
        """The host that is the service's own machine: the one that no machine is called after."""
        names = {name for name, *_ in saved.document["cluster"]["machines"]} if saved else set()
        names |= {each.machine for *_, each in read if isinstance(each, (said.MachineSeen, said.MachineMissed))}
        if "" not in names:
            return ""
        version = saved.document["version"] if saved else next((row[2][0] for row in read if row[1] == PLAN_APPLIED), 0)
        if not version:
            return ""
        plan = parse_plan(self.source.plan(version), f"plan {version}")[0]
        hosts = {host.name for group in plan.resource_groups.values() for host in group.hosts} - names
        return hosts.pop() if len(hosts) == 1 else ""

    def pass_by(self, entry: Entry, kind: str, fields: list[Any], change: Change | None) -> None:
        """An entry before the begin."""
        what = f"entry {entry.seq} of the log does not fit what was before it"
        if kind in FORCES:
            self._guarded(lambda: self.rebuilt.take(entry.at, kind, fields), what)
        elif change is not None:
            self._guarded(lambda: self.rebuilt.apply(change, entry.at), what)

    def _take(self, entry: Entry, kind: str, fields: list[Any], change: Change | None) -> None:
        if change is None and kind not in FORCES:
            word = QUIET.get(kind, f"entries of the kind {kind}")
            if word:
                self.left_out[word] = self.left_out.get(word, 0) + 1
            return
        if change is None:
            what = f"entry {entry.seq} of the log does not fit"
            put = self._guarded(lambda: self.rebuilt.take(entry.at, kind, fields), what)
            if isinstance(put, Replanned):
                self.plans.append(self.rebuilt.text)
                self.versions.append(self.rebuilt.version)
            self.retracing.tell(entry.at, put)
            return
        cluster = self.rebuilt.cluster
        assert cluster is not None
        what = f"entry {entry.seq} of the log does not fit what was before it"
        self._guarded(lambda: self.retracing.take(entry.at, change, cluster), what)
        self._guarded(lambda: self.rebuilt.apply(change, entry.at), what)
        if not isinstance(change, said.CycleRan):
            self.decided.append(line_of(entry.at, change))

    def _guarded(self, work: Callable[[], Any], what: str) -> Any:  # noqa: ANN401 - whatever the work gives
        try:
            return work()
        except UNREADABLE as error:
            raise damaged(self.source.name, f"{what}: {error}; {RESTORE}") from error
