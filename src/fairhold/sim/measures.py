"""The measures of a run: who waited how long, who held how much of what it owns and of others', what was reclaimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.owned import amount_of, capacity, owned_amounts, place_of, unit_of
from fairhold.sim.account import Account
from fairhold.sim.borrowing import Borrowing
from fairhold.sim.measured_jobs import MeasuredJob, MeasuredRun, Tallies, was_waiting
from fairhold.sim.starvation import Starvation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.rows import Rows
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.account import Spans
    from fairhold.sim.quotas import Quotas

SHORT = 10_000_000
"""Microseconds that a task counts at least for its slowdown: shorter ones would say nothing."""
BACK = 600_000_000
"""Units that are taken back within ten minutes of having been taken the other way round went to and fro."""
_SIZES = frozenset(
    {
        *(said.HostSet, said.MachineSeen, said.MachineMissed, said.MachineShut, said.MachineLapsed),
        *(said.WindowOpened, said.BudgetsSpent, said.OwnershipAdjusted),
    }
)
"""Changes after which there is another capacity, or others own it."""
_GOES_ON = frozenset({said.AGAIN, said.LATER})
"""Words of ends after which the task runs again."""


class Measures:
    """One resource group of slots, or one resource of all vectors, over a run.

    accounts : path → what it held and wanted; `/` for all
    tallies  : path of a leaf → its tasks
    preempted_again  : (holder, taker) → reclaims that went back where units had come from shortly before
    taken    : (holder, taker) → attempts told to leave for somebody
    unit, base : what the resource is counted in, empty = a plain number, and base units of one
    room     : capacity over time as an account holds it
    starvation : who waited for what they own
    quotas   : of leaves over time, None where nobody asks for them
    notified_in, lost_in : piece → attempts told to leave, and work lost in unit-microseconds; only pieces that have any
    """

    def __init__(self, cluster: Cluster, group: str, resource: str, spans: Spans) -> None:
        self.group, self.resource, self.spans = group, resource, spans
        self._cluster = cluster
        books = cluster.books[group]
        self.unit, self.base = unit_of(books, resource)
        self._books = books
        paths = books.rows.paths
        self.accounts = {path: Account(spans) for path in ("/", *paths[1:])}
        self._above = {path: tuple(self.accounts[each] for each in _line(path)) for path in paths[1:]}
        self._borrowing = Borrowing(self.accounts, place_of(books, resource)) if group == POOLED else None
        self.room = Account(spans)
        self.starvation = Starvation(cluster, group, spans.begin)
        self.end = spans.begin
        self.tallies: dict[str, Tallies] = {}
        self.taken: dict[tuple[str, str], int] = {}
        self.preempted_again: dict[tuple[str, str], int] = {}
        self.notified_in: dict[int, int] = {}
        self.lost_in: dict[int, int] = {}
        self._last_taken: dict[tuple[str, str], int] = {}
        self._jobs: dict[str, MeasuredJob] = {}
        self._left: dict[str, int] = {}  # job → tasks that have not ended
        self._fresh: set[str] = set()  # jobs that count and of which no task has started
        self._running: dict[int, MeasuredRun] = {}
        self._notified: dict[int, int] = {}
        self.quotas: Quotas | None = None
        self._has_run = False
        self._is_stale = True
        self._drains = False
        self._notes: dict[type, Callable[[int, Any], None]] = {
            said.JobAdded: self._add,
            said.Started: self._start,
            said.Ended: self._end,
            said.JobEnded: self._over,
            said.Noticed: self._notice,
            said.Withdrawn: self._withdraw,
            said.JobMoved: self._move,
            said.JobResized: self._resize,
            said.TaskDropped: self._leave_out,
            said.CycleRan: self._ran,
            said.Rebooked: self._rebook,
        }

    def take_over(self, cluster: Cluster, now: int) -> None:
        """What there is at the begin: jobs that came before it, of which only what is held and wanted counts."""
        for job in cluster.jobs.values():
            if job.resource_group == self.group and not job.is_over:
                amount = amount_of(self._books, job.terms.unit, job.units, self.resource)
                leaf = job.consumer
                self._jobs[job.name] = MeasuredJob(leaf, ((0, job.submitted),), job.terms.tasks, amount, counts=False)
                self._left[job.name] = job.waiting + job.running + len(job.delays or ())
                self._want(leaf, self._left[job.name] * amount, now)
        for attempt in cluster.attempts.values():
            if attempt.job.name in self._jobs:
                known = self._jobs[attempt.job.name]
                self._running[attempt.name] = MeasuredRun(attempt.job.name, attempt.index, attempt.started)
                for account in self._above[known.leaf]:
                    account.advance(now)
                    account.held += known.amount
                self._borrow(now, attempt.name)
        self.starvation.take_over(now)

    def replan(self, cluster: Cluster) -> None:
        """Another plan is in force; consumers that it does not have keep what they had."""
        self._is_stale = True
        self.starvation.replan(cluster)
        if self.group not in cluster.books:
            return
        self._cluster, self._books = cluster, cluster.books[self.group]
        for path in self._books.rows.paths[1:]:
            for each in _line(path):
                self.accounts.setdefault(each, Account(self.spans))
            self._above[path] = tuple(self.accounts[each] for each in _line(path))
        for name, known in self._jobs.items():
            job = cluster.jobs.get(name)
            leaf = job.consumer if job is not None else known.leaf
            if leaf != known.leaf:
                self._move(cluster.now, said.JobMoved(name, leaf))
        for attempt in self._running:
            self._borrow(cluster.now, attempt)

    def _move(self, now: int, change: said.JobMoved) -> None:
        """A job is of another leaf from now on, and so is what it holds and wants."""
        job = self._jobs.get(change.job)
        if job is None:
            return
        held = sum(run.job == change.job for run in self._running.values()) * job.amount
        for leaf, sign in ((job.leaf, -1), (change.consumer, 1)):
            self._want(leaf, sign * self._left[change.job] * job.amount, now)
            for account in self._above[leaf]:
                account.held += sign * held
        self._jobs[change.job] = job._replace(leaf=change.consumer)
        for number in [each for each, run in self._running.items() if run.job == change.job]:
            self._borrow(now, number)

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in, in the order in which they happened."""
        if self._is_stale:
            self._size(now)
        while self.spans.is_long(now):
            self._fold()
        for change in changes:
            handler = self._notes.get(type(change))
            if handler is not None:
                handler(now, change)
            if type(change) in _SIZES or (self._drains and type(change) is said.Ended):
                self._is_stale = True
        if self._is_stale:
            self._size(now)
        if self._has_run and self.quotas is not None:
            self.quotas.read(self._books.rows, now)
        self._has_run = False
        self.starvation.note(now, changes)

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Work of an attempt is lost."""
        if attempt in self._running and now >= self.spans.begin:
            job = self._jobs[self._running[attempt].job]
            self._tallies(job.leaf).lost += work * job.amount
            self._count(self.lost_in, now, work * job.amount)

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing: what a cycle decides is told as changes."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""

    def held(self, rows: Rows) -> list[int]:
        """(rows,) slots or base units that each consumer holds now."""
        return [self.accounts[path].held for path in ("/", *rows.paths[1:])]

    def close(self, now: int) -> None:
        """The run is over at an instant; `end` says which."""
        self.end = now
        while self.spans.is_long(now):
            self._fold()
        for account in (*self.accounts.values(), self.room):
            account.advance(now)
        if self.quotas is not None:
            self.quotas.close(now)
        self.starvation.close(now)

    def _fold(self) -> None:
        for account in (*self.accounts.values(), self.room):
            account.fold()
        if self.quotas is not None:
            self.quotas.fold()
        self.notified_in, self.lost_in = _folded(self.notified_in), _folded(self.lost_in)
        self.spans.piece *= 2

    def _size(self, now: int) -> None:
        """Hosts or the entries in force are others: so are capacity and what everybody owns."""
        self._is_stale = False
        self.starvation.resize()
        hosts = self._books.hosts  # of a closed one of slots those in use are there, and fewer with every end
        self._drains = self.group != POOLED and any(hosts.slots[host] for host in hosts.closed)
        room = capacity(self._cluster, self.group, self.resource)
        self.room.advance(now)
        self.room.held = room
        owned = owned_amounts(self._cluster, self.group, self.resource, now)
        for path, account in self.accounts.items():
            amount = room if path == "/" else owned.get(path, 0)
            if amount != account.owned:
                account.advance(now)
                account.owned = amount
        if self._borrowing is not None:
            self._borrowing.sort_out(self._cluster, self.group, now)

    def _ran(self, _now: int, change: said.CycleRan) -> None:
        self._has_run |= change.resource_group == self.group

    def _count(self, column: dict[int, int], now: int, amount: int) -> None:
        piece = (now - self.spans.begin) // self.spans.piece
        column[piece] = column.get(piece, 0) + amount

    def _tallies(self, leaf: str) -> Tallies:
        found = self.tallies.get(leaf)
        if found is None:
            found = self.tallies[leaf] = Tallies()
        return found

    def _want(self, leaf: str, amount: int, now: int) -> None:
        for account in self._above[leaf]:
            account.advance(now)
            account.wanted += amount

    def _add(self, now: int, change: said.JobAdded) -> None:
        if change.resource_group != self.group:
            return
        amount = amount_of(self._books, change.unit, change.units, self.resource)
        counts = now >= self.spans.begin
        job = self._jobs[change.job] = MeasuredJob(change.consumer, ((0, now),), change.tasks, amount, counts)
        if job.counts:
            self._tallies(job.leaf).submitted += change.tasks
            self._fresh.add(change.job)
        self._left[change.job] = change.tasks
        self._want(job.leaf, change.tasks * amount, now)

    def _resize(self, now: int, change: said.JobResized) -> None:
        """A job has more tasks from now on."""
        job = self._jobs.get(change.job)
        if job is None or change.tasks <= job.tasks:
            return
        more = change.tasks - job.tasks
        if job.counts:
            self._tallies(job.leaf).submitted += more
        self._left[change.job] += more
        self._want(job.leaf, more * job.amount, now)
        self._jobs[change.job] = job._replace(since=(*job.since, (job.tasks, now)), tasks=change.tasks)

    def _leave_out(self, now: int, change: said.TaskDropped) -> None:
        """A task that waits does so no more; of one that runs its end counts."""
        job = self._jobs.get(change.job)
        if job is not None and was_waiting(self._cluster, change):
            self._left[change.job] -= 1
            self._want(job.leaf, -job.amount, now)

    def _start(self, now: int, change: said.Started) -> None:
        job = self._jobs.get(change.job)
        if job is None:
            return
        if change.number == 1 and job.counts:
            tallies = self._tallies(job.leaf)
            tallies.waits.append(now - job.submitted(change.task))
            if change.job in self._fresh:
                self._fresh.remove(change.job)
                tallies.job_waits.append(now - job.since[0][1])
        self._running[change.attempt] = MeasuredRun(change.job, change.task, now)
        for account in self._above[job.leaf]:
            account.advance(now)
            account.held += job.amount
        self._borrow(now, change.attempt)

    def _rebook(self, now: int, change: said.Rebooked) -> None:
        if change.attempt in self._running:
            self._borrow(now, change.attempt)

    def _borrow(self, now: int, attempt: int) -> None:
        """A unit stands where it did not before, or has gone."""
        if self._borrowing is not None:
            self._borrowing.stands(self._cluster, self.group, attempt, now)

    def _end(self, now: int, change: said.Ended) -> None:
        known = self._running.pop(change.attempt, None)
        if known is None:
            return
        self._borrow(now, change.attempt)
        name, task, started = known
        job = self._jobs[name]
        tallies = self._tallies(job.leaf)
        told = self._notified.pop(change.attempt, None)
        if told is not None and now >= self.spans.begin:
            tallies.released.append(now - told)
        for account in self._above[job.leaf]:
            account.advance(now)
            account.held -= job.amount
            if change.then not in _GOES_ON:
                account.wanted -= job.amount
        self._left[name] -= change.then not in _GOES_ON
        if change.then == said.DONE and job.counts:
            tallies.finished += 1
            tallies.slowdowns.append(max(1000, (now - job.submitted(task)) * 1000 // max(now - started, SHORT)))
        elif change.then == said.FAILED and job.counts:
            tallies.failed += 1
        elif change.then in _GOES_ON:
            tallies.stopped += now >= self.spans.begin

    def _over(self, now: int, change: said.JobEnded) -> None:
        job, left = self._jobs.pop(change.job, None), self._left.pop(change.job, 0)
        self._fresh.discard(change.job)
        if job is not None and left:  # tasks that never ran: the job was cancelled
            self._want(job.leaf, -left * job.amount, now)

    def _notice(self, now: int, change: said.Noticed) -> None:
        known = self._running.get(change.attempt)
        if known is None:
            return
        self._notified.setdefault(change.attempt, now)
        if now < self.spans.begin:
            return
        holder = self._jobs[known.job].leaf
        self._tallies(holder).notified += 1
        way = holder, change.taker
        self.taken[way] = self.taken.get(way, 0) + 1
        self._count(self.notified_in, now, 1)
        if change.taker:
            back = self._last_taken.get((change.taker, holder))
            if back is not None and now - back <= BACK:
                self.preempted_again[way] = self.preempted_again.get(way, 0) + 1
            self._last_taken[way] = now

    def _withdraw(self, now: int, change: said.Withdrawn) -> None:
        known = self._running.get(change.attempt)
        if known is not None and self._notified.pop(change.attempt, None) is not None and now >= self.spans.begin:
            self._tallies(self._jobs[known.job].leaf).withdrawn += 1


def _folded(counts: dict[int, int]) -> dict[int, int]:
    folded: dict[int, int] = {}
    for piece, count in counts.items():
        folded[piece // 2] = folded.get(piece // 2, 0) + count
    return folded


def _line(path: str) -> list[str]:
    """A consumer and all above it, up to `/`."""
    line = ["/"]
    at = path.find("/", 1)
    while at > 0:
        line.append(path[:at])
        at = path.find("/", at + 1)
    return [*line, path]
