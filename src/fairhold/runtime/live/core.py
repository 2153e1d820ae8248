"""The core of the live service; everything here runs in the thread of the desk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP
from fairhold.errors import Fault, InputError
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import (
    JobRequeued,
    MachineClosed,
    MachineOpened,
    MachineSilent,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import JobOver, WakeAt
from fairhold.orchestrator.jobs import check as check_terms
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.outbox import Outbox
from fairhold.planio.plan import parse_plan
from fairhold.ports import PlanVersion
from fairhold.runtime.live import in_force
from fairhold.runtime.live.archive import exit_code, finished_job, finished_task
from fairhold.runtime.live.auditing import Audit, Deed
from fairhold.runtime.live.closings import Closing
from fairhold.runtime.live.cycles import CycleNotes
from fairhold.runtime.live.journal import CLOSING, LABELLED, NUMBERED, PLAN_APPLIED, Journal
from fairhold.runtime.live.notifications import Notifications
from fairhold.runtime.live.people import People
from fairhold.runtime.live.reclaims import Reclaims
from fairhold.runtime.live.recovery import check_version, follow
from fairhold.runtime.live.specs import Specs, spec_document
from fairhold.runtime.live.submitting import (
    Limits,
    Waiting,
    Waits,
    check_limits,
    check_size,
    job_of_key,
    still_waited_for,
    waiting_of,
    waits_of,
)
from fairhold.runtime.live.usage import LiveUsage
from fairhold.runtime.live.windows import windows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.events import Event, JobChanged, JobSubmitted
    from fairhold.ports import FinishedJob, Store
    from fairhold.runtime.live.closings import Return
    from fairhold.runtime.live.submitting import Submission


class Core:
    """Orchestrator, plan and store of a live service.

    plan         : in force; version: its number; seen: of the last entry of the log that was replayed
    orchestrator : decides
    specs        : what jobs run
    journal      : what the next commit writes
    outbox       : instructions to carry out after the commit
    wake         : instant at which `Woken` is due, None = nothing is
    over         : names of jobs that ended in this round
    returns      : plans that come back, the next one in front
    closings     : machine → when it closes and opens again
    nodes        : of a Kubernetes cluster, by name
    usage        : the accounts
    waiting      : counts for the limits
    reclaims     : which cycle took back what runs
    observes     : whether others decide, and nothing is done but looked at
    people       : who there is, and what each may do; audit: the record of what was done
    notifications : who wants to be told of what, and the messages to them
    began        : instants after and up to which this start counted all machines as silent, until they connect
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], int],
        *,
        own: str = "",
        limits: Limits | None = None,
        observes: bool = False,
        cycle_min_gap: int = MIN_GAP,
        cycle_max_interval: int = MAX_INTERVAL,
    ) -> None:
        self.store, self.now, self.own = store, now, own
        self.limits = limits or Limits()
        self._pace = (cycle_min_gap, cycle_max_interval)
        self.observes, self._is_closing = observes, False
        self.journal, self.cycle_notes = Journal(store), CycleNotes()
        self.specs = Specs(store, self.journal)
        self.usage = LiveUsage(store, self.journal)
        self.reclaims = Reclaims()
        self.people, self.audit = People(store, self.journal), Audit(store, self.journal)
        self.notifications = Notifications(store, self.journal, self.people)
        self.waiting, self.outbox = Waiting(), Outbox()
        self.over: list[str] = []
        self.wake: int | None = None
        self.next_job, self.version, self.seen, self.began = 1, 0, 0, (0, 0)
        self.returns: tuple[Return, ...] = ()
        self.closings: dict[str, Closing] = {}
        self.nodes: dict[str, Node] = {}
        self.plan: Plan
        self.orchestrator: Orchestrator

    # Start and state

    def open(self, text: str, name: str, author: str, look: Callable[[Core, bool], object] = lambda *_: None) -> None:
        """Recover from the store, or start with this plan; nothing is started before agents report.

        text : of the plan file, used where the store has no plan or where the file has changed since it was read last
        look : is told when what the store holds is taken up, and whether a changed file will take its place

        The first plan is durable on return. StoreFull, StoreError
        """
        latest = self.store.plan()
        self.people.open()
        self.notifications.open()
        if latest is None:
            if self.store.last:
                raise self.store.damaged("there is a log but no plan")
            self._begin(text, name, author)
        else:
            follow(self)
            check_version(self, latest.version)
            self.usage.taken_up(self.cluster)
            look(self, is_new := bool(text) and text != self.store.meta().get("plan-file", text))
            if is_new:
                number = self.apply_plan(text, author, f"read from {name}", self.version)
                self.audit.note(Deed(author, "plan file", name, "serve", f"plan {number}"), self.now())
        if text:
            self.journal.write(lambda batch: batch.put_meta("plan-file", text))
        if latest is None:
            self.commit()  # who asks before the first round finds the plan in the store
        before = self.orchestrator.now
        for machine in sorted(self.machines()):
            self.feed(MachineSilent(machine))
        self.began = (before, self.orchestrator.now)
        self.orchestrator.changed_all()

    @property
    def cluster(self) -> Cluster:
        """The state of the live cluster."""
        return self.orchestrator.cluster

    def _begin(self, text: str, name: str, author: str) -> None:
        plan = parse_plan(text, name, places=True)[0]
        now = self.now()
        self.use(plan, Cluster(open_cluster_books(plan, now), forgets=True, own=self.own))
        self.usage.begin(self.cluster, now)
        self.version = 1
        version = PlanVersion(1, now, author, f"read from {name}", text)
        self.journal.note_entry([PLAN_APPLIED, 1, {}, [], windows_of(self.cluster)], now)
        self.journal.write(lambda batch: batch.put_plan(version))

    def use(self, plan: Plan, cluster: Cluster) -> None:
        """Continue with another plan, or from another state."""
        self.plan = plan
        gap, interval = self._pace
        self.orchestrator = Orchestrator(
            cluster,
            cycle_min_gap=gap,
            cycle_max_interval=interval,
            on_cycle=self.cycle_notes.take,
            on_vectors=self.cycle_notes.take_vectors,
            on_stage=self.cycle_notes.begin,
        )
        self.orchestrator.is_closing, self.orchestrator.is_observing = self._is_closing, self.observes
        self.wake = self.orchestrator.now = self.now()
        self.orchestrator.changed_all()

    # Time

    @property
    def due(self) -> int | None:
        """When something is to be done next, None = nothing is."""
        instants = [instant for each in self.closings.values() for instant in each[:2] if instant]
        instants += self.notifications.due(self)
        if self.returns:
            instants.append(self.returns[0].at)
        if self.wake is not None:
            instants.append(self.wake)
        return min(instants, default=None)

    def pass_time(self) -> None:
        """Do what is due."""
        now = self.now()
        self.notifications.look(self, now)
        if self.returns and self.returns[0].at <= now:
            in_force.come_back(self, *self.returns)
        machines = self.machines()
        for machine, plan in list(self.closings.items()):
            if machine not in machines:  # another plan has no such host
                self._plan_closing(machine, None)
                continue
            if plan.close_at and plan.close_at <= now:
                self._plan_closing(machine, plan._replace(close_at=0))
                self.feed(MachineClosed(machine, plan.reason, plan.drain, plan.by))
            if plan.open_at and plan.open_at <= now:
                self._plan_closing(machine, None)
                self.feed(MachineOpened(machine))
        # A switch of windows asks to be woken again at once, for its cycle: nobody looks in between.
        for _ in range(2):
            if self.wake is not None and self.wake <= self.now():
                self.feed(Woken())

    def _plan_closing(self, machine: str, plan: Closing | None) -> None:
        if plan is None or not (plan.close_at or plan.open_at):
            self.closings.pop(machine, None)
        else:
            self.closings[machine] = plan
        self.journal.note_entry([CLOSING, machine, plan], self.now())

    def close_machine(
        self, machine: str, reason: str, *, drain: bool, at: int = 0, until: int = 0, by: int = 0
    ) -> None:
        """Close a machine, now or at an instant, until an instant or until it is opened; drained, `by` an instant."""
        if not at:
            self.feed(MachineClosed(machine, reason, drain, by))
        elif machine not in self.machines():
            what = f"there is no host `{machine or '-'}`"
            raise InputError([Fault("unknown-host", what, "`fairhold hosts` shows them")])
        if at or until or machine in self.closings:
            self._plan_closing(machine, Closing(at, until, reason, drain, by))

    def machines(self) -> set[str]:
        """Names of the machines of all hosts."""
        return {self.cluster.machine_of(host) for _, host in self.cluster.hosts}

    def open_machine(self, machine: str) -> None:
        """Open a machine; a planned closing is forgotten."""
        self.feed(MachineOpened(machine))
        if machine in self.closings:
            self._plan_closing(machine, None)

    def wind_down(self, *, stop: bool) -> None:
        """Start nothing more; stop: running tasks are stopped and wait for the next start of the service."""
        self._is_closing = self.orchestrator.is_closing = True
        if stop:
            for name in [job.name for job in self.orchestrator.jobs.values() if job.attempts]:
                self.feed(JobRequeued(name))

    # Events

    def commit(self) -> None:
        """Write all that was decided in one transaction; raises StoreWaits or StoreError with everything still here."""
        self.notifications.outbox.flush()
        self.journal.commit()
        self.usage.written()

    def feed(self, event: Event) -> None:
        """Hand an event to the orchestrator; what it decides goes to the journal, what it orders to the outbox."""
        now = self.now()
        instructions = self.orchestrator.handle(event, now)
        self.usage.note(self.orchestrator.changes, now, self.cluster)
        self._note(self.orchestrator.changes, now)
        self.cycle_notes.write(self.journal, self.cluster.cycles)
        self.wake = None
        for instruction in instructions:
            if isinstance(instruction, WakeAt):
                self.wake = instruction.instant
            elif isinstance(instruction, JobOver):
                self.over.append(instruction.job)
        self.outbox.add(event, instructions, self.cluster)

    def _note(self, changes: list[Change], now: int) -> None:
        codes: dict[str, int] = {}
        dropped: dict[str, say.JobDropped] = {}
        for change in changes:
            self.journal.note(change, now)
            if isinstance(change, say.JobDropped):
                dropped[change.job] = change
            elif isinstance(change, say.Ended):
                attempt = self.cluster.ended[change.attempt]
                reclaim = self.reclaims.of(change.attempt)
                self.journal.put_task(finished_task(attempt, change, now, reclaim))
                codes[attempt.job.name] = exit_code(change.then, change.code, change.signal)
            elif isinstance(change, say.JobEnded):
                job, spec = self.cluster.ended_jobs[change.job], self.specs.of(change.job)
                code, drop = codes.get(change.job, 1), dropped.get(change.job)
                self.journal.put_job(finished_job(job, change, now, self.cluster, spec, code=code, dropped=drop))
            self.reclaims.note(change, now)
        self.notifications.note(self, changes, now)

    # What users ask for

    def finished(self, job: str) -> FinishedJob | None:
        """A job that is over, also where that could not be written yet; None = there is none of this name."""
        return self.journal.jobs.get(job) or self.store.job(job)

    def take_numbers(self, last: int) -> None:
        """Give numbers up to this one to no new job."""
        if last >= self.next_job:
            self.next_job = last + 1
            self.journal.note_entry([NUMBERED, last], self.now())

    def submit(self, asked: Submission) -> str:
        """Accept a job and return its name; the same user's same key and command again give the same job."""
        if (known := job_of_key(self, asked)) is not None:
            return known
        terms = self._terms(asked)
        job = terms.job
        self.feed(terms)
        self.waiting.add(waits_of(terms))
        self.next_job += 1
        self.journal.put_spec(job, spec_document(asked.spec))
        self.specs.remember(job, asked.spec)
        if asked.key:
            self.journal.put_key(asked.user, asked.key, job, self.orchestrator.now)
        return job

    def check(self, asked: Submission) -> None:
        """Raise InputError where `submit` would; nothing is accepted."""
        if job_of_key(self, asked) is None:
            check_terms(self.orchestrator, self._terms(asked))

    def _terms(self, asked: Submission) -> JobSubmitted:
        """What the orchestrator is asked for; raises InputError where it cannot be accepted now."""
        check_limits(self, asked.terms)
        after = still_waited_for(self, asked.terms.after)
        key = (asked.terms.resource_group, asked.terms.consumer, asked.user)
        self.waiting.check_user(self, key, asked.terms.count, asked.most_waiting)
        return replace(asked.terms, job=str(self.next_job), user=asked.user, after=after)

    def change(
        self, asked: JobChanged, labels: Mapping[str, str] | None, most_waiting: int = 0, name: str = ""
    ) -> None:
        """Change what is asked of a job, and its labels (None = keep them): all of it, or nothing and an error.

        most_waiting : as in a submission; name: what it is called from now on, beside other labels, empty = as before
        Labels of a job whose command is not known any more stay as they are.
        """
        job = asked.job
        spec = None if labels is None else self.specs.of(job)  # read before anything is changed
        if asked.consumer:
            self._move(asked, most_waiting)
        else:
            self._resize(asked)
        if spec is not None and labels is not None:
            spec = replace(spec, labels=dict(labels), name=name or spec.name)
            self.journal.note_entry([LABELLED, job, spec.labels], self.now())
            self.journal.change_spec(job, spec_document(spec))
            self.specs.remember(job, spec)

    def _resize(self, asked: JobChanged) -> None:
        record = self.orchestrator.jobs.get(asked.job)
        if record is None or asked.tasks <= record.terms.tasks:
            if asked.priority is not None or asked.min_count is not None:
                self.feed(asked)
            return
        check_size(self, asked.tasks)
        more = Waits((record.resource_group, record.consumer), record.terms.user, asked.tasks - record.terms.tasks)
        self.waiting.check(self, more)
        self.feed(asked)
        self.waiting.add(more)

    def _move(self, asked: JobChanged, most_waiting: int) -> None:
        record = self.orchestrator.jobs.get(asked.job)
        before = record.consumer if record else ""
        if record:
            self.waiting.check_move(self, record, asked.consumer)
            key = (record.resource_group, asked.consumer, record.terms.user)
            if before != asked.consumer:
                self.waiting.check_user(self, key, waiting_of(record), most_waiting)
        self.feed(asked)
        if record:
            self.waiting.move(record, before, asked.consumer)

    def apply_plan(
        self,
        text: str,
        author: str,
        comment: str,
        seen: int,
        *,
        until: int = 0,
        moved: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> int:
        """Put another plan in force, whole or not at all; returns its version.

        seen  : version that the author has seen; another one in force is refused
        until : instant at which the plan in force now comes back, 0 = never
        moved : old path → new path of consumers that the plan calls otherwise
        plan  : what the text says, where it was read already
        """
        if seen != self.version:
            what = f"plan {self.version} is in force, and the change was made from plan {seen}"
            raise InputError([Fault("plan-changed", what, "read the plan in force and make the change again")])
        return in_force.apply(self, text, (author, comment), until=until, moved=moved, plan=plan)
