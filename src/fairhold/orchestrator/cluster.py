"""The state of a live cluster, and what every change does to it."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Any

from fairhold.ledger import transitions
from fairhold.ledger.tables import NOBODY
from fairhold.model.siting import siting_of
from fairhold.model.state import REASONS
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.attempts import Attempt, Notice, leave_by
from fairhold.orchestrator.budgets import hold_attempt, move_held
from fairhold.orchestrator.due import Due
from fairhold.orchestrator.hosts import HostRecord, MachineRecord
from fairhold.orchestrator.loans import BY_CYCLES
from fairhold.orchestrator.presence import OF_MACHINES
from fairhold.orchestrator.shared_terms import SharedTerms
from fairhold.orchestrator.tasks import JobRecord
from fairhold.orchestrator.vectors import OF_VECTORS, note_end
from fairhold.orchestrator.watches import Watches
from fairhold.orchestrator.windows import BY_TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.changes import Change


class Cluster:
    """Jobs, attempts, machines and books; changed by `apply` alone.

    books    : resource group → its books
    jobs     : name → record; attempts : number → record of what runs; on_host : (group, host) → those there
    hosts    : (resource group, host) → record; machines : name → record
    paused   : resource group → (grants, reclaims) that are paused; due : retries, ends of drains
    cycles   : number of cycles so far; forgets : whether ended jobs are forgotten
    ended, ended_jobs : attempts and jobs that the last event has ended, for an archive
    watches  : snapshots in progress and the like, told of changes before these are applied; weak references
    own      : name of the host that is the service's own machine, which is the machine without a name
    """

    def __init__(self, books: Mapping[str, Books], *, forgets: bool = False, own: str = "") -> None:
        self.own = own
        self.jobs: dict[str, JobRecord] = {}
        self.attempts: dict[int, Attempt] = {}
        self.on_host: dict[tuple[str, str], dict[int, Attempt]] = {}
        self.ended: dict[int, Attempt] = {}
        self.ended_jobs: dict[str, JobRecord] = {}
        self.machines: dict[str, MachineRecord] = {}
        self.paused: dict[str, tuple[bool, bool]] = {}
        self.due = Due(self.jobs, self.attempts, self.machines)
        self.next_attempt, self.cycles, self.now = 1, 0, 0
        self.forgets = forgets
        self.watches = Watches()
        self.job_of: dict[str, list[JobRecord | None]] = {}
        self.attempt_of: dict[str, dict[int, Attempt]] = {}
        self.dependents: dict[str, dict[str, None]] = {}
        self._terms = SharedTerms()
        self._with_gangs: dict[str, dict[str, JobRecord]] = {}
        self.use(books)

    def use(self, books: Mapping[str, Books]) -> None:
        """Go on with other books, and the hosts in them; requests and allocations keep their rows."""
        self.books = dict(books)
        self.hosts = {
            (group, name): HostRecord(row, book.hosts.slots[row], book.hosts.slots[row])
            for group, book in books.items()
            for name, row in book.hosts.row_of.items()
        }
        self.job_of = {group: self.job_of.get(group, []) for group in books}
        self.attempt_of = {group: self.attempt_of.get(group, {}) for group in books}
        self.paused = {group: paused for group, paused in self.paused.items() if group in books}
        self._slots = {group: sum(book.hosts.slots) for group, book in books.items()}
        self._with_gangs = {group: self._with_gangs.get(group, {}) for group in books}

    def apply(self, change: Change, now: int) -> None:
        """Apply a change that was decided at `now`."""
        if self.watches:
            for watch in self.watches:
                watch.before(change)
        self.now = now
        _APPLY[type(change)](self, change, now)

    # Jobs

    def _add(self, change: say.JobAdded, now: int) -> None:
        job = JobRecord(change.job, self._terms.of(change), now)
        self.jobs[change.job] = job
        for needed in dict.fromkeys(needed for needed, _ in change.after) if change.after else ():
            if not self.jobs[needed].is_over:
                self.dependents.setdefault(needed, {})[change.job] = None
        self.take_in(job, 0, {})
        (self._touch if job.gangs is None else self.ask)(job)

    def add_request(self, job: JobRecord, count: int, name: str, since: int | None = None) -> int:
        """A new request of a job, for so many single units or, of another name than the job's, for one gang."""
        terms = job.terms
        books = self.books[terms.resource_group]
        request = transitions.submit(
            *(books, books.rows.by_path[job.consumer], count),
            name=name,
            minimum=count if name != job.name else job.minimum,
            priority=job.priority,
            submitted=job.submitted,
            user=terms.user,
            siting=siting_of(terms.siting),
            time_limit=terms.time_limit,
            since=since,
        )
        job_of = self.job_of[terms.resource_group]
        job_of[request : request + 1] = [job]
        return request

    def take_in(self, job: JobRecord, gangs_made: int, gangs: Mapping[str, int]) -> None:
        """The requests of a job that was before: its single units, or the gangs that wait, each since an instant."""
        if (vectors := self.books[job.resource_group].vectors) is not None:
            job.serial = vectors.next_job()
        if job.units == 1:
            job.request = self.add_request(job, job.running + job.startable, job.name)
            return
        job.gangs, job.gangs_made = [], gangs_made
        self._with_gangs[job.resource_group][job.name] = job
        for name, since in gangs.items():
            self.add_gang(job, name, since)

    def with_gangs(self, group: str) -> Iterable[JobRecord]:
        """The jobs of a resource group whose tasks are gangs."""
        return self._with_gangs[group].values()

    def add_gang(self, job: JobRecord, name: str, since: int) -> None:
        """A gang of a job waits since an instant."""
        assert job.gangs is not None
        insort(job.gangs, (name, self.add_request(job, job.units, name, since)))

    def ask(self, job: JobRecord) -> None:
        """Update the books with the demand of a job."""
        books = self.books[job.resource_group]
        if job.gangs is None:
            if job.request != job.NONE:
                transitions.want(books, job.request, job.running + job.startable, job.minimum)
            self._touch(job)
            return
        # More than the slots there are changes no share, so that not every gang of a large array stands in the books.
        wanted = min(job.startable, self._slots[job.resource_group] // job.units + 1)
        while len(job.gangs) > wanted:
            self._unask(job, job.gangs.pop()[1])
        while len(job.gangs) < wanted:
            job.gangs_made += 1
            self.add_gang(job, f"{job.name}[{job.gangs_made}]", self.now)

    def _touch(self, job: JobRecord, attempts: Iterable[int] = ()) -> None:
        """What a cycle of vectors reads of a job, and of some of its attempts, may be another."""
        if (vectors := self.books[job.resource_group].vectors) is not None:
            vectors.touch_job(job.name, attempts)

    def _unask(self, job: JobRecord, request: int) -> None:
        transitions.forget(self.books[job.resource_group], request)
        self.job_of[job.resource_group][request] = None

    def leaf_of(self, job: JobRecord) -> int:
        """Row of its leaf in the books of its resource group."""
        return self.books[job.terms.resource_group].rows.by_path[job.consumer]

    def requests(self, job: JobRecord) -> list[int]:
        """Rows of all requests of a job."""
        if job.gangs is None:
            return [] if job.request == job.NONE else [job.request]
        return [*(row for _, row in job.gangs), *(self.attempts[name].request for name in job.attempts)]

    def _drop(self, change: say.JobDropped, _now: int) -> None:
        job = self.jobs[change.job]
        job.drop()
        self.ask(job)

    def _set_hold(self, change: say.HoldSet, _now: int) -> None:
        job = self.jobs[change.job]
        job.hold = change.hold
        if change.hold is None:
            job.failed_on = None
        self.ask(job)

    def _rank(self, change: say.JobRanked, _now: int) -> None:
        job = self.jobs[change.job]
        job.priority = change.priority
        self._touch(job)
        for request in self.requests(job):
            transitions.rank(self.books[job.resource_group], request, change.priority)

    def _move(self, change: say.JobMoved, now: int) -> None:
        job = self.jobs[change.job]
        books = move_held(self, job, change.consumer, now)
        self._touch(job, job.attempts)
        for request in self.requests(job):
            transitions.move(books, request, self.leaf_of(job))

    def _resize(self, change: say.JobResized, _now: int) -> None:
        job = self.jobs[change.job]
        job.resize(self._terms.of(job.terms._replace(tasks=change.tasks, min_count=change.min_count)))
        self.ask(job)

    def _leave_out(self, change: say.TaskDropped, _now: int) -> None:
        job = self.jobs[change.job]
        job.leave_out(change.task)
        self.ask(job)

    def _free(self, change: say.JobFreed, _now: int) -> None:
        job = self.jobs[change.dependent]
        job.needs -= 1
        self.ask(job)

    def _end_job(self, change: say.JobEnded, _now: int) -> None:
        job = self.jobs[change.job]
        if job.request != job.NONE:
            self._unask(job, job.request)
            job.request = job.NONE
            self._touch(job)
        self._with_gangs[job.resource_group].pop(change.job, None)
        self.dependents.pop(change.job, None)
        for needed, _ in job.terms.after if job.needs else ():
            if needed in self.dependents:
                self.dependents[needed].pop(change.job, None)
        self.ended_jobs[change.job] = job
        if self.forgets:
            del self.jobs[change.job]

    # Attempts

    def _start(self, change: say.Started, now: int) -> None:
        job = self.jobs[change.job]
        request = job.request if job.gangs is None else job.gangs.pop(0)[1]
        job.take(change.task, change.number)
        attempt = Attempt(change.attempt, job, change.task, change.number, request, change.places, now)
        self.add_attempt(attempt.stands(*change[5:]))
        self.next_attempt = change.attempt + 1
        self.ask(job)

    def _take_numbers(self, change: say.AttemptNumbersTaken, _now: int) -> None:
        self.next_attempt = max(self.next_attempt, change.last + 1)

    def add_attempt(self, attempt: Attempt) -> None:
        """An attempt holds its units from its start on."""
        group = attempt.job.resource_group
        books, attempt_of = self.books[group], self.attempt_of[group]
        allocations, machines = [], []
        for host, units in attempt.places:
            row = transitions.grant(books, attempt.request, self.hosts[group, host].row, units, attempt.started)
            attempt_of[row] = attempt
            allocations.append(row)
            machines.append(self.machine_of(host))
        attempt.allocations, attempt.machines = tuple(allocations), tuple(dict.fromkeys(machines))
        hold_attempt(self, attempt, 1, attempt.started)
        attempt.job.begin(attempt.name)
        self.attempts[attempt.name] = attempt
        if books.vectors is not None:
            books.vectors.touch_attempt(attempt.name)

    def _run(self, change: say.Running, _now: int) -> None:
        attempt = self.attempts[change.attempt]
        attempt.is_running = True
        if (machine := self.machines.get(attempt.machine)) is not None:
            machine.refusals = machine.pauses = 0

    def _notice(self, change: say.Noticed, _now: int) -> None:
        attempt = self.attempts[change.attempt]
        attempt.noticed = True
        attempt.notice = Notice(*change[1:-1])
        self.book_notice(attempt)

    def book_notice(self, attempt: Attempt) -> None:
        """All units of an attempt are under its notice."""
        assert attempt.notice is not None
        deadline, reason, path, *_ = attempt.notice
        books = self.books[attempt.job.resource_group]
        taker = NOBODY if not path else books.rows.by_path[path]
        for allocation, (_, units) in zip(attempt.allocations, attempt.places, strict=True):
            transitions.give_notice(books, allocation, units, taker, deadline, REASONS.index(reason))

    def _withdraw(self, change: say.Withdrawn, _now: int) -> None:
        attempt = self.attempts[change.attempt]
        books = self.books[attempt.job.resource_group]
        for allocation in attempt.allocations:
            for notice in list(books.notices.by_allocation.get(allocation, ())):
                transitions.withdraw(books, notice, books.notices.units[notice])
        attempt.notice = None if attempt.leaving is None else leave_by(attempt.leaving)

    def _stop(self, change: say.Stopping, _now: int) -> None:
        self.attempts[change.attempt].stopping = change.reason

    def _end(self, change: say.Ended, now: int) -> None:
        attempt = self.ended[change.attempt] = self.attempts.pop(change.attempt)
        job, group, books = attempt.job, attempt.job.resource_group, self.books[attempt.job.resource_group]
        hold_attempt(self, attempt, -1, now)
        job.finish(change.attempt)
        job.settle(attempt, change)
        if change.then == say.LATER:
            self.due.ready(change.instant, job.name, attempt.index)
        if books.vectors is not None:
            note_end(books.vectors, attempt)
        wanted = transitions.AS_BEFORE if job.gangs is not None else job.running + job.startable
        for allocation, (_, units) in zip(attempt.allocations, attempt.places, strict=True):
            del self.attempt_of[group][allocation]
            transitions.release(books, allocation, units, wanted)
        if job.gangs is not None:
            self._unask(job, attempt.request)
        for host, _ in attempt.places:
            if not self.is_open(group, host):
                self.fit(group, host)
        self.ask(job)

    def _ready(self, change: say.Ready, _now: int) -> None:
        job = self.jobs[change.job]
        job.resume(change.task)
        self.ask(job)

    # Machines

    def add_host(self, group: str, name: str, slots: int) -> HostRecord:
        """A host that the plan does not have joins a group."""
        host = self.hosts[group, name] = HostRecord(transitions.add_host(self.books[group], name, slots), slots)
        return host

    def count_slots(self, group: str) -> None:
        """The slots of a group's hosts have changed."""
        self._slots[group] = sum(host.slots for (at, _), host in self.hosts.items() if at == group)

    def machine_of(self, host: str) -> str:
        """Name of the machine that a host is."""
        return "" if host == self.own else host

    def hosts_of(self, machine: str) -> tuple[str, ...]:
        """Names of the hosts that a machine is: a group without hosts has one without a name on the service's own."""
        return (machine,) if machine else tuple({"": None, self.own: None})

    def accepts(self, host: str) -> bool:
        """Whether a host may start work as far as its machine goes."""
        machine = self.machines.get(self.machine_of(host))
        return machine is None or (machine.shut is None and not machine.is_silent)

    def is_open(self, group: str, host: str) -> bool:
        """Whether a host is up and may start work."""
        return self.hosts[group, host].is_up and self.accepts(host)

    def fit(self, group: str, name: str) -> None:
        """Update the books with the slots of a host; for one that starts nothing, those in use (R-UP-1)."""
        books, host = self.books[group], self.hosts[group, name]
        is_open = self.is_open(group, name)
        slots = host.slots if is_open else min(host.slots, books.hosts.used[host.row])
        transitions.set_host(books, host.row, slots=slots, up=host.is_up, closed=not is_open)
        if books.vectors is not None:
            books.vectors.touch_hosts()

    def fit_all(self) -> None:
        """The same of all hosts."""
        for group, host in self.hosts:
            self.fit(group, host)

    def machine(self, name: str) -> MachineRecord:
        """The record of a machine, a new one where it has none."""
        return self.machines.setdefault(name, MachineRecord())

    def machines_of(self, attempt: Attempt) -> list[MachineRecord]:
        """The machines where an attempt holds units, as far as they have records."""
        return [self.machines[name] for name in attempt.machines if name in self.machines]

    def on(self, machine: str) -> list[Attempt]:
        """The attempts that hold units of a machine, oldest first; a gang may run on another one."""
        return [attempt for attempt in self.attempts.values() if machine in attempt.machines]


_APPLY: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.JobAdded: Cluster._add,
    say.JobDropped: Cluster._drop,
    say.HoldSet: Cluster._set_hold,
    say.JobRanked: Cluster._rank,
    say.JobMoved: Cluster._move,
    say.JobResized: Cluster._resize,
    say.TaskDropped: Cluster._leave_out,
    say.JobFreed: Cluster._free,
    say.JobEnded: Cluster._end_job,
    say.Started: Cluster._start,
    say.AttemptNumbersTaken: Cluster._take_numbers,
    say.Running: Cluster._run,
    say.Noticed: Cluster._notice,
    say.Withdrawn: Cluster._withdraw,
    say.Stopping: Cluster._stop,
    say.Ended: Cluster._end,
    say.Ready: Cluster._ready,
    **BY_TIME,
    **BY_CYCLES,
    **OF_MACHINES,
    **OF_VECTORS,
}
