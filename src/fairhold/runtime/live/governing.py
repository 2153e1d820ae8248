"""Between the core and the governor of a cluster: pods become jobs, and jobs find their pods again after a start."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import decimal_text
from fairhold.orchestrator.events import (
    Exit,
    JobChanged,
    JobHeld,
    JobReleased,
    Outcome,
    TaskAdopted,
    TaskCancelled,
    TaskEnded,
)
from fairhold.orchestrator.queue_fitting import shares_queues
from fairhold.ports.governor import (
    AWAITED,
    REFUSED,
    AllSeen,
    Appeared,
    GangChanged,
    NodesChanged,
    Parted,
    Replaced,
    Unclear,
)
from fairhold.runtime.live import in_force
from fairhold.runtime.live.explaining import Explaining
from fairhold.runtime.live.resized import booked_for, is_booked, is_sited, is_within
from fairhold.runtime.live.seats import gang_of, gangs, part, seat_of_going, seats
from fairhold.runtime.live.submitting import Submission, give_key

if TYPE_CHECKING:
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports.governor import Governor, Report, Seat
    from fairhold.runtime.live.core import Core

_LOG = logging.getLogger("fairhold")

INCOMPLETE = "its gang cannot start: "
"""How the reason begins for which a job is held until so many pods are there as start together."""
MOST_PODS = 1_000
"""Pods of one gang in all; those that come later in its life are jobs of their own."""


class Governing:
    """Hands the governor's reports to the core, and answers them."""

    def __init__(self, core: Core, governor: Governor) -> None:
        self.governor = governor
        self._seat_of = seats(core)
        """Uid of a pod → its task, of jobs from before this start that were not met again."""
        governor.met_before(self._seat_of)
        for job, key in gangs(core):
            governor.begin_gang(key, job, core.cluster.jobs[job].terms.min_count)
        self._has_seen_all, self._empty = False, set[str]()
        self._plan = core.plan
        self._explaining = Explaining(governor)

    def begin(self, core: Core) -> None:
        """A round begins: tell the governor what clients have changed."""
        if core.plan is not self._plan:
            self._use(core)
        self._explaining.look(core)

    def end(self, core: Core) -> None:
        """All of a round is taken in: tell the governor which jobs are over."""
        for job in core.over:
            self.governor.is_over(job)

    def _use(self, core: Core) -> None:
        self._plan = core.plan
        self.governor.use(core.plan)
        if self._has_seen_all:
            self._warn(core)

    def _warn(self, core: Core) -> None:
        """Say once of a resource group that no node of the cluster is in it, until there is one."""
        empty = {name for name, group in core.plan.resource_groups.items() if group.has_unknown_hosts}
        for name in sorted(empty - self._empty):
            selector = core.plan.resource_groups[name].selector or ()
            labels = ",".join(f"{key}={value}" if value else key for key, value in selector)
            what = f"has the labels `{labels}`" if labels else "is there"
            _LOG.warning("no node %s: nothing starts in the resource group `%s`", what, name)
        self._empty = empty

    def take(self, core: Core, report: Report) -> None:
        """Hand a report to the core."""
        if isinstance(report, NodesChanged):
            if in_force.change_nodes(core, report.nodes):
                self._use(core)
        elif isinstance(report, Appeared):
            self._ask(core, report)
        elif isinstance(report, Replaced):
            self._replace(core, report)
        elif isinstance(report, Parted):
            part(core, report)
        elif isinstance(report, Unclear):
            self._keep(core, report)
        elif isinstance(report, GangChanged):
            self._fit_gang(core, report)
        elif isinstance(report, AllSeen):
            self._compare(core, report.uids)
        else:
            try:
                core.feed(report)
            except InputError as error:  # the job is over meanwhile, or the node is no host
                _LOG.debug("not done: %s", error)

    def _ask(self, core: Core, asked: Appeared) -> None:
        """Work has appeared: it gets a job, finds the one that it had, or is refused."""
        uid = asked.work[0]
        is_last = uid in self._seat_of
        job, index = self._seat(core, asked)
        if self._has_gone(core, uid, (job, index), asked):
            return
        if not job and asked.host and (asked.terms.resource_group, asked.host) not in core.cluster.hosts:
            what = f"it runs on the node `{asked.host}`, which is no host of `{asked.terms.consumer}`"
            mend = "compare `nodes` of the plan with the node's labels"
            self.governor.refused(uid, Fault("unknown-host", what, mend))
            return
        try:
            if not job:
                job, index = self._join(core, asked) if asked.job else (self._submit(core, asked), 0)
        except InputError as error:
            for each in asked.work:
                self.governor.refused(each, error.faults[0])
            return
        record = _going_on(core, job)
        if record is None:
            for each in asked.work:
                self.governor.unwanted(each)
        elif len(asked.work) > 1:
            for number, each in enumerate(asked.work):
                self.governor.accepted(each, (job, index + number))
            self._explaining.look_later(core)
        else:
            self._find(core, asked, record, index, is_last=is_last or not asked.is_going)

    def _has_gone(self, core: Core, uid: str, seat: Seat, said: Appeared | Unclear) -> bool:
        """Whether a pod is over, and the service has written that down already, or never knew of it."""
        known = core.cluster.jobs.get(seat[0])
        if not said.is_going or (known is not None and said.attempt in known.attempts):
            return False
        self.governor.unwanted(uid)
        if known is not None and known.hold == AWAITED:  # its end was recorded, and its object is still there
            self._await(core, seat)
        return True

    def _keep(self, core: Core, said: Unclear) -> None:
        """A pod whose terms cannot be worked out keeps what is booked for it; one at the gate has nothing to keep."""
        uid = said.uid
        job, index = self._seat_of.pop(uid, ("", 0))
        if not job:
            job, index = self.governor.seat_of(uid)
        if self._has_gone(core, uid, (job, index), said):
            return
        record = _going_on(core, job)
        if record is None:
            self.governor.unwanted(uid)
            return
        index, attempts = _standing(core, record, index, said.attempt)
        if said.has_begun and attempts:
            self.governor.accepted(uid, (job, index), attempts[0], _host_of(core, attempts[0]))
            self._outgrow(core, uid, record, said.fault.what)
        else:
            self._part(core, Parted(uid, said.user, job, index))
            self.governor.refused(uid, said.fault)

    def _part(self, core: Core, parted: Parted) -> None:
        """The governor and the core forget that a pod is the one of a task, whose end is no reason to stop it."""
        self.governor.part(parted.uid)
        part(core, parted)

    def _seat(self, core: Core, asked: Appeared) -> Seat:
        """The task that a pod has already: from before this start, or as others let it go; without a job = none."""
        seat = self._seat_of.pop(asked.work[0], None) or self.governor.seat_of(asked.work[0])
        return seat if seat[0] else seat_of_going(core, asked)

    def _submit(self, core: Core, asked: Appeared, *, is_rebooked: bool = False) -> str:
        """A new job. Raises InputError where it cannot be accepted.

        Whoever submits a pod chooses its priority class, and must not put it out of reach of others by that.
        is_rebooked : the pod has a job, which it keeps if this is refused
        """
        terms, books = asked.terms, core.cluster.books.get(POOLED)
        if books is not None and shares_queues(books, terms.consumer):
            terms = replace(terms, preemptible=True)
        is_again = core.observes or is_rebooked  # what others take back and give again comes again
        job = core.submit(Submission(asked.user, "" if is_again else asked.work[0], terms, asked.spec))
        if key := gang_of(asked.spec):
            self.governor.begin_gang(key, job, asked.terms.min_count)
        return job

    def _join(self, core: Core, asked: Appeared) -> Seat:
        """More tasks for the job of a gang, the first of them; a job of their own where that has very many.

        Raises InputError where it cannot be accepted.
        """
        job, spec = core.cluster.jobs.get(asked.job), core.specs.of(asked.job)
        if job is None or job.is_over or job.is_cancelled:  # a moment ago: this is the first pod of another gang
            self.governor.is_over(asked.job)
            return self._submit(core, asked), 0
        is_full = job.terms.tasks >= MOST_PODS or (asked.host and (job.waiting or job.hold is not None))
        is_mixed = spec is not None and "gang-unit" in asked.spec.labels
        if is_mixed and not asked.host and not is_within(asked.terms, job):
            what = "it asks for more than each pod of its gang counts as"
            raise InputError([Fault("gang-differs", what, "have the largest pod there when the gang starts")])
        is_other = job.consumer != asked.terms.consumer or not (is_mixed or job.terms.unit == asked.terms.unit)
        if spec is None or is_full or is_other:
            alone = {name: text for name, text in asked.spec.labels.items() if name != "gang"}
            return self._submit(core, replace(asked, spec=replace(asked.spec, labels=alone))), 0
        labels = {key: f"{spec.labels[key]},{asked.spec.labels[key]}" for key in ("pod", "uid", "owner")}
        first = job.terms.tasks
        core.change(JobChanged(job.name, tasks=first + len(asked.work)), {**spec.labels, **labels})
        return job.name, first

    def _fit_gang(self, core: Core, gang: GangChanged) -> None:
        """Tell the core how many pods of a gang start together, and hold it as long as they cannot."""
        job, lacks = core.cluster.jobs.get(gang.job), gang.lacks
        if job is None or job.is_over or job.is_cancelled:
            return
        least = min(gang.least, job.terms.tasks)
        if least != job.terms.min_count:
            try:
                core.change(JobChanged(job.name, min_count=least), None)
            except InputError as error:
                lacks = lacks or error.faults[0].what
        is_ours = job.hold == AWAITED or (job.hold or "").startswith(INCOMPLETE)
        hold = lacks if lacks in {"", AWAITED} else f"{INCOMPLETE}{lacks}"
        if hold and (job.hold is None or is_ours) and job.hold != hold:
            core.feed(JobHeld(job.name, hold))
        elif not hold and is_ours:
            core.feed(JobReleased(job.name))

    def _find(self, core: Core, asked: Appeared, job: JobRecord, index: int, *, is_last: bool) -> None:
        """Tell the governor where a pod stands: it waits, was let go, or is adopted as it runs already."""
        uid = asked.work[0]
        index, attempts = _standing(core, job, index, asked.attempt)
        is_older = bool(attempts) and asked.attempt not in {0, *attempts}
        if is_older and asked.host != _host_of(core, attempts[0]):  # from before another attempt
            self.governor.unwanted(uid)
            return
        if not attempts and asked.host:
            try:
                core.feed(TaskAdopted(job.name, asked.host, asked.is_running, asked.last))
            except InputError as error:
                self._part(core, Parted(uid, asked.user, job.name, index))
                self.governor.refused(uid, error.faults[0])
                return
            index, attempts = _standing(core, job, index, list(job.attempts)[-1])
        seat = job.name, index
        is_anothers = not asked.attempt and bool(attempts) and self.governor.is_held(attempts[0])
        if attempts and not is_anothers:  # else it waits until the pod whose place it takes is over
            self.governor.accepted(uid, seat, attempts[0], _host_of(core, attempts[0]), is_last=is_last)
            if not (asked.is_going or is_booked(asked.terms, job)):
                self._rebook(core, asked, job, attempts[0])
        elif not (is_booked(asked.terms, job) and is_sited(asked.terms, job)) and job.terms.tasks == 1:
            self.governor.accepted(uid, seat)
            self.governor.ask_anew(uid)
        else:
            self.governor.accepted(uid, seat)
            if (job.hold or "").startswith(REFUSED):  # for a while, which nobody counts any more
                core.feed(JobReleased(job.name))
            self._explaining.look_later(core)

    def _rebook(self, core: Core, asked: Appeared, job: JobRecord, number: int) -> None:
        """A pod that was let go asks for something else: it goes on as another job, which holds that.

        One of a gang, or that is to give way, or whose new amounts are refused, keeps its job. What it asks for beyond
        that is counted at its node and told.
        """
        uid, held = asked.work[0], core.cluster.attempts[number]
        new = why = ""
        if job.terms.tasks > 1 or gang_of(asked.spec) is not None:
            why = "all pods of its gang hold the same"
        elif held.notice is not None or held.stopping:
            why = "it has to give way"
        else:
            try:
                new = self._submit(core, asked, is_rebooked=True)
                core.feed(TaskAdopted(new, asked.host, asked.is_running, asked.last))
            except InputError as error:
                why = error.faults[0].what
        if why:
            if new:
                core.feed(TaskCancelled(new, 0))
            self._outgrow(core, uid, job, why)
            return
        (again,) = core.cluster.jobs[new].attempts
        self._part(core, Parted(uid, asked.user, job.name, held.index))
        self.governor.accepted(uid, (new, 0), again, asked.host)
        give_key(core, asked.user, uid, new)
        end = Exit("cancel", detail=f"what its pod asks for was booked anew, as job {new}")
        core.feed(TaskEnded(number, Outcome.STOPPED, end))

    def _outgrow(self, core: Core, uid: str, job: JobRecord, why: str) -> None:
        """A pod keeps its job whatever it asks for by now; why: it gets no other."""
        booked = booked_for(core.plan, job)
        text = ", ".join(f"{name} {decimal_text(amount)}" for name, amount in booked if amount)
        self.governor.outgrew(uid, booked, f"it asks for more than is booked for it, {text}: {why}")

    def _replace(self, core: Core, report: Replaced) -> None:
        """A pod takes the place of another: later starts find the task by it."""
        spec = core.specs.of(report.job)
        job = core.cluster.jobs.get(report.job)
        if job is None or spec is None:
            return
        terms = report.terms
        is_same = terms is None or (spec.consumer == terms.consumer and is_booked(terms, job) and is_sited(terms, job))
        if not is_same:
            self.governor.ask_anew(report.uid)
            return
        labels = dict(spec.labels)
        for key, word in (("pod", report.pod), ("uid", report.uid), ("owner", report.owner)):
            words = labels[key].split(",")
            words[report.index] = word
            labels[key] = ",".join(words)
        core.change(JobChanged(report.job), labels, name=labels["pod"].partition(",")[0])

    def _compare(self, core: Core, uids: frozenset[str]) -> None:
        """Jobs from before this start whose pods are not there any more are over, but those that wait for others."""
        for uid, (job, index) in self._seat_of.items():
            record = core.cluster.jobs.get(job)
            if uid in uids or record is None:
                continue
            if not record.is_waiting(index) and index not in {
                core.cluster.attempts[each].index for each in record.attempts
            }:
                continue  # it has ended, and its pod is gone
            if record.hold != AWAITED or not self._await(core, (job, index)):
                core.feed(TaskCancelled(job, index))
        self._seat_of = {uid: seat for uid, seat in self._seat_of.items() if uid in uids}
        self._has_seen_all = True
        self._warn(core)

    def _await(self, core: Core, seat: Seat) -> bool:
        """Have a task from before this start wait for another pod; False: nobody makes one."""
        spec = core.specs.of(seat[0])
        owners = spec.labels.get("owner", "").split(",") if spec else []
        owner, slash, number = (owners[seat[1]] if seat[1] < len(owners) else "").partition("/")
        if slash:
            self.governor.vacant(seat, (owner, number), spec.stdin if spec else b"")
        return bool(slash)


def _going_on(core: Core, job: str) -> JobRecord | None:
    """A job that is not over, nor about to be."""
    record = core.cluster.jobs.get(job)
    return None if record is None or record.is_cancelled or record.is_over else record


def _standing(core: Core, job: JobRecord, index: int, attempt: int) -> tuple[int, list[int]]:
    """The task of a pod and its attempts; by its attempt, it may have changed its place since that was written down."""
    if attempt in job.attempts:
        index = core.cluster.attempts[attempt].index
    return index, [number for number in job.attempts if core.cluster.attempts[number].index == index]


def _host_of(core: Core, attempt: int) -> str:
    return core.cluster.attempts[attempt].places[0][0]
