"""The governor without I/O: what is seen and ordered goes in, what is to be told and written comes out.

Everything is decided from what was seen last and what was ordered, so a request that failed, or whose answer was lost,
is made again, and a start after a crash finds all in the objects: attempt, finalizer, notice.
"""

from __future__ import annotations

import heapq
import json
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.asking import Asking
from fairhold.engines.kubernetes.fleet import Fleet
from fairhold.engines.kubernetes.reports import AllSeen, NodesChanged, Replaced
from fairhold.engines.kubernetes.vacancies import Vacancies
from fairhold.engines.kubernetes.work import Work
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import (
    Exit,
    Held,
    JobCancelled,
    JobHeld,
    JobReleased,
    MachineReported,
    Outcome,
    TaskEnded,
    TaskRunning,
)
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.engines.kubernetes.asking import Namespace
    from fairhold.engines.kubernetes.pods import NodeSeen, Pod
    from fairhold.engines.kubernetes.reports import Appeared
    from fairhold.engines.kubernetes.vacancies import Family
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.errors import Fault
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.outbox import Order

    Report = Event | Appeared | Replaced | NodesChanged | AllSeen

AWAITED = "its controller makes its pod anew"
"""Reason of the hold of a job whose pod was stopped, until another takes its place."""
PATIENCE = 660 * SECOND
"""How long a job waits for a pod that takes the place of one that was stopped: Jobs wait ten minutes at most."""
_AGAIN = {Outcome.STOPPED, Outcome.YIELDED, Outcome.LOST}


class Governor:
    """Pods of governed namespaces, and the nodes.

    plan  : in force
    spool : identity of the cluster
    now   : the service's clock
    stale_since : since when what is known of the cluster is not up to date; None = it is
    """

    def __init__(self, plan: Plan, spool: str, now: Callable[[], int]) -> None:
        self.fleet = Fleet()
        self.asking = Asking(plan, self.fleet)
        self.works: dict[str, Work] = {}
        self.spool, self.now = spool, now
        self.stale_since: int | None = now()
        self._of_job: dict[str, str] = {}
        self._of_attempt: dict[int, str] = {}
        self._vacancies = Vacancies()
        self._news: list[Event] = []
        self._touched: dict[str, None] = {}
        self._timers: list[tuple[int, str]] = []
        self._is_first = True

    # What is seen

    def see_namespace(self, namespace: Namespace) -> bool:
        """A namespace is there, or has changed; True: its pods are governed now, or are not any more."""
        before = self.asking.namespaces.get(namespace.name)
        self.asking.namespaces[namespace.name] = namespace
        for work in self.works.values() if before not in (None, namespace) else ():
            if work.pod.namespace == namespace.name and not work.job and not work.is_told:
                self.asking.add(work)
        return (before is not None or not self._is_first) and namespace.is_governed != (
            before is not None and before.is_governed
        )

    def see_node(self, node: NodeSeen) -> None:
        """A node is there, or has changed."""
        self.fleet.see(node)

    def lose_node(self, name: str) -> None:
        """The object of a node is gone: what ran there may run on."""
        self.fleet.lose(name)

    def see_pod(self, pod: Pod) -> None:
        """A pod is there, or has changed."""
        work = self.works.get(pod.uid)
        if work is None:
            if not self.asking.governs(pod):
                self.fleet.see_foreign(pod)
                return
            self.fleet.lose_foreign(pod.uid)
            work = self.works[pod.uid] = Work(pod)
            self._take_in(work)
        elif _is_newer(pod, work.pod):
            was_bound, work.pod = bool(work.pod.node), pod
            if not work.attempt and not work.is_told and pod.node and not was_bound:
                self.asking.add(work)  # somebody else let it go
        self._look(work)

    def lose_pod(self, uid: str) -> None:
        """The object of a pod is gone."""
        self.fleet.lose_foreign(uid)
        work = self.works.pop(uid, None)
        if work is None:
            return
        self.asking.drop(uid)
        if work.job and not work.is_told:
            self._news.append(JobCancelled(work.job))
            self._vacancies.drop(work.job)
            if work.attempt:
                self._tell_end(work, Exit("host_lost", detail="its object was deleted before its end was read"))
        if self._of_job.get(work.job) == uid:
            del self._of_job[work.job]

    def all_seen(self) -> None:
        """What is known of the cluster is up to date."""
        self.stale_since = None

    def stale(self) -> None:
        """The cluster is not heard any more: nothing is let go on what may be out of date."""
        if self.stale_since is None:
            self.stale_since = self.now()

    def _take_in(self, work: Work) -> None:
        """A new pod: it is over, takes the place of one that was stopped, or is work of its own."""
        pod = work.pod
        if pod.end is not None and not pod.is_kept:
            work.is_told = work.is_recorded = True
        elif pod.is_gated and pod.family and not pod.is_deleting and (vacancy := self._vacancies.fill(pod.family)):
            work.job = vacancy.job
            self._of_job[work.job] = pod.uid
            self.asking.replaced.append(Replaced(work.job, {"pod": pod.name, "uid": pod.uid}))
            if vacancy.is_held:
                self._news.append(JobReleased(work.job))
        else:
            self.asking.add(work)

    def _look(self, work: Work) -> None:
        """Tell what is new of a pod, and see whether something is to be written."""
        pod = work.pod
        self._touched[pod.uid] = None
        if work.is_told:
            return
        if not work.attempt:
            if work.is_unwanted or work.fault is not None:
                self.fleet.see_foreign(pod)
            return
        if pod.end is not None:
            self._end(work, pod.end)
        elif pod.is_running and not work.is_running:
            work.is_running = True
            self._news.append(TaskRunning(work.attempt))
        elif pod.family and work.is_leaving and (pod.is_deleting or pod.is_released):
            self._vacancies.open(pod.family, work.job)

    def _end(self, work: Work, end: Exit) -> None:
        """A pod is over: of one that was stopped, its controller makes another, which takes its place."""
        pod = work.pod
        if work.stopping:
            end = end._replace(reason=work.stopping)
        elif pod.is_deleting and work.notice and end.reason != "yielded":
            end = end._replace(reason="reclaim")
        elif pod.is_deleting and pod.is_disrupted and end.reason != "finished":
            end = end._replace(reason="host_lost")
        elif pod.is_deleting and end.reason != "finished":
            end = end._replace(reason="cancel")
        waits = OUTCOMES.get(end.reason, Outcome.FAILED) in _AGAIN and end.reason != "cancel"
        work.is_replaced = waits and pod.family is not None
        if waits and pod.family is not None:
            self._await(work, pod.family)
        elif waits or end.reason == "cancel":
            self._news.append(JobCancelled(work.job))
            self._vacancies.drop(work.job)
        self._tell_end(work, end)

    def _await(self, work: Work, family: Family) -> None:
        """A job waits for another pod, if that is not there already."""
        if self._of_job.get(work.job) != work.pod.uid:
            return
        until = self.now() + PATIENCE
        self._vacancies.open(family, work.job)
        self._vacancies.await_until(family, work.job, until)
        self._news.append(JobHeld(work.job, AWAITED))
        heapq.heappush(self._timers, (until, ""))

    def _tell_end(self, work: Work, end: Exit) -> None:
        work.is_told = True
        self._of_attempt.pop(work.attempt, None)
        self._news.append(TaskEnded(work.attempt, OUTCOMES.get(end.reason, Outcome.FAILED), end))

    # What the service answers and orders

    def use(self, plan: Plan) -> None:
        """Another plan, or other nodes, are in force: pods without a job are asked for again."""
        self.asking.use(plan)

    def accepted(self, uid: str, job: str, attempt: int = 0, host: str = "") -> None:
        """A pod has a job; attempt: the number of its attempt on a host, where it runs or was let go, 0 = it waits."""
        self.asking.drop(uid)
        work = self.works.get(uid)
        if work is None:
            self._news.append(JobCancelled(job))
            return
        self.fleet.lose_foreign(uid)
        work.job, work.fault, self._of_job[job] = job, None, uid
        if attempt:
            work.attempt, work.host = attempt, host
            self._of_attempt[attempt] = uid
        self._look(work)

    def refused(self, uid: str, fault: Fault) -> None:
        """A pod cannot be accepted now; it is asked for again when nodes or plan are others."""
        self.asking.refuse(uid)
        if (work := self.works.get(uid)) is not None:
            work.fault = fault
            self._look(work)

    def is_over(self, job: str) -> None:
        """A job is over: its pod is stopped where it is not."""
        uid = self._of_job.get(job, "")
        work = self.works.get(uid)
        self._vacancies.drop(job)
        if work is not None and not work.attempt and not work.is_told:
            self.unwanted(uid)

    def unwanted(self, uid: str) -> None:
        """The job of a pod is over, and the pod is not: it is stopped."""
        self.asking.drop(uid)
        work = self.works.get(uid)
        if work is None:
            return
        if work.pod.end is not None:
            work.is_told = work.is_recorded = True
        else:
            work.is_unwanted = True
        self._look(work)

    def vacant(self, job: str, family: Family) -> None:
        """A job from before this start waits for a pod that takes the place of one that was stopped."""
        until = self.now() + PATIENCE
        self._vacancies.open(family, job)
        self._vacancies.await_until(family, job, until)
        heapq.heappush(self._timers, (until, ""))

    def execute(self, order: Order) -> None:
        """Carry out an order of the service; what cannot be done any more is told as an end."""
        if isinstance(order, Start):
            self._start(order)
            return
        if isinstance(order, Forget):
            self._forget(order.attempt)
            return
        work = self.works.get(self._of_attempt.get(order.attempt, ""))
        if work is None:
            if isinstance(order, Stop):
                self._news.append(TaskEnded(order.attempt, Outcome.STOPPED, Exit(order.reason, detail="it has no pod")))
            return
        if isinstance(order, Notify):
            work.notice, work.deadline = _notice_text(order), order.deadline
        elif isinstance(order, Withdraw):
            work.notice, work.deadline = "", 0
        else:
            self._stop(work, order.reason)
        self._touched[work.pod.uid] = None

    def _start(self, order: Start) -> None:
        uid = self._of_job.get(order.job, "")
        work = self.works.get(uid)
        if work is None or work.is_told or work.pod.is_deleting:
            end = Exit("cancel", detail="its pod was deleted before it was let go")
            self._news += [JobCancelled(order.job), TaskEnded(order.attempt, Outcome.STOPPED, end)]
            return
        work.attempt, work.host = order.attempt, order.host
        self._of_attempt[order.attempt] = uid
        self._touched[uid] = None

    def _stop(self, work: Work, reason: str) -> None:
        """Stop a pod; one that was not let go yet ends at once."""
        work.stopping = reason
        if not work.pod.is_gated or work.is_busy:
            return
        attempt, work.attempt = work.attempt, 0
        work.stopping, work.notice, work.deadline = "", "", 0
        del self._of_attempt[attempt]
        end = Exit(reason, detail="it was stopped before it was let go")
        self._news.append(TaskEnded(attempt, Outcome.STOPPED, end))

    def _forget(self, attempt: int) -> None:
        """The end of an attempt is recorded: its pod may go."""
        for work in self.works.values():
            if work.attempt == attempt and work.is_told:
                work.is_recorded = True
                self._touched[work.pod.uid] = None

    # What comes out

    def reports(self) -> Iterator[Report]:
        """What the service is to be told; it answers each `Appeared` before it takes the next report."""
        if self._is_first and self.stale_since is not None:
            return
        if changed := self.fleet.changes(self.asking.resources):
            yield NodesChanged(changed)
        yield from self.asking.take_replaced()
        yield from self.asking.take(is_bound=True)
        if self._is_first:
            self._is_first = False
            yield AllSeen(frozenset(self.works))
        yield from self._take_news()
        self.asking.label_all()
        for said in self.fleet.events(is_fresh=self.stale_since is None):
            yield self._report_of(said) if isinstance(said, str) else said
        yield from self.asking.take(is_bound=False)
        yield from self._take_news()
        for job in self._vacancies.given_up(self.now()):
            yield JobCancelled(job)

    def _take_news(self) -> Iterator[Event]:
        news, self._news = self._news, []
        yield from news

    def _report_of(self, name: str) -> MachineReported:
        """What a node holds: all that was let go to it and is not over."""
        held = tuple(
            Held(work.attempt, work.pod.is_running, None)
            for work in self.works.values()
            if work.attempt and not work.is_told and not work.pod.is_gated and work.host == name
        )
        return MachineReported(name, self.fleet.nodes[name].boot, 0, held, self.spool, self.fleet.labels(name))

    def writes(self) -> list[Write]:
        """Requests to make now; each is answered by `wrote`. None while what is known may be out of date."""
        now, found = self.now(), []
        while self._timers and self._timers[0][0] <= now:
            self._touched[heapq.heappop(self._timers)[1]] = None
        if self.stale_since is not None:
            return []
        touched, self._touched = self._touched, {}
        for uid in touched:
            work = self.works.get(uid)
            if work is None or work.is_busy:
                continue
            write = work.next_write(now, self.fleet.host_name(work.host)) if work.retry_at <= now else None
            if write is not None:
                work.is_busy = True
                found.append(write)
            elif (due := work.due()) > now:
                heapq.heappush(self._timers, (due, uid))
        return found

    def wrote(self, uid: str, pod: Pod | None, *, is_done: bool) -> None:
        """A request about a pod was answered.

        pod : its object as it is after it, None = there is none; is_done: it was done
        """
        work = self.works.get(uid)
        if work is None:
            return
        work.is_busy = False
        work.count_try(self.now(), is_done=is_done)
        self._touched[uid] = None
        if pod is None or pod.uid != uid:
            self.lose_pod(uid)
            return
        self.see_pod(pod)
        if work.stopping and work.pod.is_gated and not work.is_told:
            self._stop(work, work.stopping)

    def due(self) -> int:
        """Instant at which there is something to do that nothing seen tells of; 0 = never."""
        return self._timers[0][0] if self._timers else 0

    @property
    def has_something(self) -> bool:
        """Whether `reports` or `writes` have something that waits for nothing."""
        return bool(self._news or self._touched)


def _is_newer(pod: Pod, known: Pod) -> bool:
    """Whether an object is not older than the one that is known; versions of one object are numbers that rise."""
    if pod.version.isdigit() and known.version.isdigit():
        return int(pod.version) >= int(known.version)
    return True


def _notice_text(order: Notify) -> str:
    """What a pod is told: by when it has to go, why, and for whom."""
    said = {"deadline": format_instant(order.deadline), "reason": order.reason}
    if order.taker:
        said["taker"] = order.taker
    return json.dumps(said)
