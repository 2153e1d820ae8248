"""The governor without I/O: what is seen and ordered goes in, what is to be told and written comes out.

Everything is decided from what was seen last and what was ordered, so a request that failed, or whose answer was lost,
is made again, and a start after a crash finds all in the objects: attempt, finalizer, notice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.asking import Asking
from fairhold.engines.kubernetes.fleet import Fleet
from fairhold.engines.kubernetes.gangs import Gangs
from fairhold.engines.kubernetes.ordering import execute
from fairhold.engines.kubernetes.reporting import look_at_gang, look_at_machines
from fairhold.engines.kubernetes.rereading import reread
from fairhold.engines.kubernetes.work import Work, camel
from fairhold.engines.kubernetes.works import Works
from fairhold.orchestrator.events import TaskCancelled
from fairhold.ports.governor import AllSeen, NodesChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.engines.kubernetes.asking import Namespace
    from fairhold.engines.kubernetes.gangs import Key
    from fairhold.engines.kubernetes.pods import NodeSeen, Pod
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.errors import Fault
    from fairhold.model.kubernetes import Amounts
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.outbox import Order
    from fairhold.ports.governor import Family, Report, Seat


class Governor:
    """Pods of governed namespaces, and the nodes.

    plan  : in force
    spool : identity of the cluster
    now   : the service's clock
    observes : nothing is written, and pods of every namespace count whose consumer the plan says
    stale_since : since when what is known of the cluster is not up to date; None = it is
    """

    def __init__(self, plan: Plan, spool: str, now: Callable[[], int], *, observes: bool = False) -> None:
        self.fleet = Fleet()
        self.works, self.gangs = Works(now, self.fleet.avoided), Gangs()
        self.works.start_within = plan.kubernetes.start_within
        self.asking = Asking(plan, self.fleet, self.works, self.gangs, observes=observes)
        self.observes = observes
        self._others: dict[str, Pod] = {}
        """While it observes, the pods that are nobody's."""
        self.spool, self.now = spool, now
        self.stale_since: int | None = now()
        self._is_first, self._lost_at = True, 0

    # What is seen

    def see_namespace(self, namespace: Namespace) -> bool:
        """A namespace is there, or has changed; True: its pods are governed now, or are not any more."""
        before = self.asking.namespaces.get(namespace.name)
        self.asking.namespaces[namespace.name] = namespace
        if self.observes:
            if before != namespace:
                self._look_again(namespace.name)
            return False
        if before != namespace:
            for work in self.works.of.values():
                if work.pod.namespace == namespace.name and not work.job and not work.is_told:
                    self.asking.add(work)
        was_governed = before is not None and before.is_governed
        return was_governed != namespace.is_governed and not (before is None and self._is_first)

    def see_node(self, node: NodeSeen) -> None:
        """A node is there, or has changed."""
        self.fleet.see(node)

    def lose_node(self, name: str) -> None:
        """The object of a node is gone: what ran there may run on."""
        self.fleet.lose(name, self.now())

    def see_group(self, key: Key, least: int) -> None:
        """An object is there that says how many pods start together, or has changed."""
        if self.gangs.see(key, least):
            self.asking.again(key)

    def lose_group(self, key: Key) -> None:
        """Such an object is gone."""
        self.gangs.lose(key)
        self.asking.again(key)

    def serve_groups(self, kind: str, *, is_served: bool) -> None:
        """The cluster has objects of this kind, or has them no more."""
        (self.gangs.served.add if is_served else self.gangs.served.discard)(kind)
        self.asking.again_all(kind)

    def see_pod(self, pod: Pod) -> None:
        """A pod is there, or has changed."""
        work = self.works.of.get(pod.uid)
        if work is None:
            if not self.asking.governs(pod):
                self.fleet.see_foreign(pod)
                if self.observes:
                    self._others[pod.uid] = pod
                return
            self._others.pop(pod.uid, None)
            self.fleet.lose_foreign(pod.uid)
            work = self.works.of[pod.uid] = Work(pod)
            self._take_in(work)
        elif pod.is_newer_than(work.pod):
            was_bound = bool(work.pod.node)
            is_other = self.asking.has(pod.uid) and not work.job and pod.said != work.pod.said
            if is_other:
                self.asking.drop(pod.uid)
            work.pod = pod
            if is_other:
                self.asking.add(work)
            if not work.attempt and not work.is_told and pod.node and not was_bound:
                self.asking.add(work)  # somebody else let it go
        self._look(work)

    def lose_pod(self, uid: str) -> None:
        """The object of a pod is gone."""
        self._others.pop(uid, None)
        self.fleet.lose_foreign(uid)
        self.asking.drop(uid)
        if (work := self.works.lose(uid)) is not None:
            self.gangs.touch(work.job)
            self.fleet.is_to_forget |= work.host not in self.fleet.nodes

    def all_seen(self) -> None:
        """What is known of the cluster is up to date."""
        self.stale_since = None

    def stale(self) -> None:
        """The cluster is not heard any more: nothing is let go on what may be out of date."""
        if self.stale_since is None:
            self.stale_since = self.now()

    def _take_in(self, work: Work) -> None:
        """A new pod: it is over, or is to get a job."""
        if work.pod.end is not None and not work.pod.is_kept:
            work.is_told = work.is_recorded = True
        else:
            self.asking.add(work)

    def _look_again(self, namespace: str = "") -> None:
        """Whose pods are is another's affair now, of a namespace or of all: each is taken in anew."""
        pods = [*(work.pod for work in self.works.of.values()), *self._others.values()]
        for pod in pods:
            if namespace in {"", pod.namespace}:
                self.lose_pod(pod.uid)
                self.see_pod(pod)

    def _look(self, work: Work) -> None:
        """What is new of a pod; one that runs without a job counts as nobody's, as what it has beyond its job does."""
        self._reread(work)
        self.works.look(work)
        if work.excess and work.is_told:
            self.fleet.lose_foreign(work.pod.uid)
        elif work.excess:
            self.fleet.see_foreign(replace(work.pod, amounts=work.excess))
        elif not work.attempt and not work.is_told and (work.is_unwanted or work.fault is not None):
            self.fleet.see_foreign(work.pod)

    def _reread(self, work: Work) -> None:
        """Ask about a pod again that was resized; one at the gate that is another now leaves its gang."""
        self.gangs.touch(work.job)
        if reread(self.works, work):
            self.asking.add(work)

    # What the service answers and orders

    def met_before(self, uids: Iterable[str]) -> None:
        """These pods have had a job before this start."""
        self.asking.known.update(uids)

    def use(self, plan: Plan) -> None:
        """Another plan, or other nodes, are in force: pods without a job are asked for again."""
        before = self.asking.plan
        self.asking.use(plan)
        self.works.start_within = plan.kubernetes.start_within
        if self.observes and (plan.kubernetes, plan.tree.paths) != (before.kubernetes, before.tree.paths):
            self._look_again()

    def accepted(self, uid: str, seat: Seat, attempt: int = 0, host: str = "", *, is_last: bool = True) -> None:
        """A pod is the one of a task; attempt: on a host, where it runs or was let go, 0 = it waits.

        is_last : False: it is still ending, and another has taken its place already
        """
        self.asking.drop(uid)
        work = self.works.of.get(uid)
        if work is None:
            self.works.news.append(TaskCancelled(*seat))
            return
        self.fleet.lose_foreign(uid)
        work.fault, work.asked, work.outgrown, work.excess = None, work.pod.wishes, "", ()
        self.asking.known.discard(uid)
        if is_last:
            self.works.seat(work, seat)
        else:
            work.job, work.index = seat
        if attempt:
            self.works.grant(work, attempt, host)
            if host not in self.fleet.nodes:
                self.fleet.lose(host, self.now())
        self._look(work)

    def ask_anew(self, uid: str) -> None:
        """A pod is not the one of its task any more, or of the one whose place it took."""
        if (work := self.works.of.get(uid)) is not None:
            self.works.ask_anew(work)

    def part(self, uid: str) -> None:
        """A pod is not the one of its task any more, whose end is no reason to stop it."""
        if (work := self.works.of.get(uid)) is not None:
            self.works.part(work)

    def outgrew(self, uid: str, booked: Amounts, why: str) -> None:
        """A pod that was let go keeps what is booked; what it has beyond that of its node is not to be had there."""
        self.asking.drop(uid)
        if (work := self.works.of.get(uid)) is None:
            return
        held = dict(booked)
        more = [(name, amount - held[name]) for name, amount in work.pod.amounts if name in held]
        work.excess = tuple(each for each in more if each[1] > 0)
        work.outgrown = why if work.excess else ""
        self._look(work)

    def refused(self, uid: str, fault: Fault) -> None:
        """A pod cannot be accepted now; it is asked for again when nodes or plan are others."""
        self.asking.known.discard(uid)
        self.asking.refuse(uid, fault)
        if (work := self.works.of.get(uid)) is not None:
            self._look(work)

    def seat_of(self, uid: str) -> Seat:
        """The task of a pod; without a job = it has none."""
        work = self.works.of.get(uid)
        return ("", 0) if work is None else work.seat

    def waiting(self, job: str) -> list[str]:
        """Uids of the pods of a job that wait; empty where none of them is known."""
        pods = self.works.of_job.get(job, {}).values()
        return [uid for uid in pods if not self.works.of[uid].attempt]

    def is_held(self, attempt: int) -> bool:
        """Whether a pod has this attempt and is not over."""
        return self.works.is_held(attempt)

    def wake_at(self, instant: int) -> None:
        """There is something to do at an instant."""
        self.works.wake_at(instant)

    def begin_gang(self, key: Key, job: str, least: int) -> None:
        """A gang has a job; least: pods of it without which it does not go on."""
        self.gangs.begin(key, job)
        self.works.least[job] = least

    def explain(self, uid: str, code: str, message: str) -> None:
        """Why a pod waits; its condition says so when the code is another."""
        work = self.works.of.get(uid)
        if work is not None:
            together = self.gangs.all_together(work.job, len(self.works.of_job.get(work.job, ())))
            work.why = (camel(code), f"{self.fleet.in_words(message)}{together}")
            self.works.touched[uid] = None

    def is_over(self, job: str) -> None:
        """A job is over: its pods are stopped where they are not."""
        self.works.drop(job)
        if (key := self.gangs.forget(job)) is not None:
            self.asking.again(key)
        for uid in tuple(self.works.of_job.get(job, {}).values()):
            work = self.works.of[uid]
            if not work.attempt and not work.is_told:
                self.unwanted(uid)

    def unwanted(self, uid: str) -> None:
        """The job of a pod is over, and the pod is not: it is stopped."""
        self.asking.drop(uid)
        work = self.works.of.get(uid)
        if work is None:
            return
        if work.pod.end is not None:
            work.is_told = work.is_recorded = True
        else:
            work.is_unwanted = True
        self._look(work)

    def vacant(self, seat: Seat, family: Family, manifest: bytes) -> None:
        """A task from before this start waits for a pod that takes the place of one that was stopped.

        manifest : of a bare pod, by which it is made anew; else empty
        """
        self.works.awaits(seat, family)
        if manifest:
            self.works.make_anew(family, manifest)

    def execute(self, order: Order) -> None:
        """Carry out an order of the service; what cannot be done any more is told as an end.

        Before all there is was taken in, an attempt without a pod proves nothing: what is still wanted is ordered again
        when the node has reported.
        """
        if not self._is_first:
            execute(self.works, order)

    # What comes out

    def reports(self) -> Iterator[Report]:
        """What the service is to be told; it answers each `Appeared` before it takes the next report."""
        if self._is_first and self.stale_since is not None:
            return
        yield from self._changed_nodes()
        yield from self.asking.take(is_bound=True)
        yield from self._changed_nodes()  # what pods take that are nobody's, or have outgrown what is booked
        if self._is_first:
            self._is_first = False
            yield AllSeen(frozenset(self.works.of))
        yield from self.works.take_news()
        asking, self.works.asking = self.works.asking, []
        for work in asking:
            self.asking.add(work)
        if self.fleet.avoided.run_out(self.now()) or self.fleet.is_other:
            self.asking.use(self.asking.plan)
        self.fleet.is_other = False
        self.fleet.forget_but(lambda: {work.pod.constraint for work in self.works.of.values() if not work.is_told})
        self.asking.label_all()
        self._count_lost()
        yield from look_at_machines(self.fleet, self.works, self.spool, is_fresh=self.stale_since is None)
        yield from self.asking.fill_vacancies()
        yield from self.asking.take(is_bound=False)
        yield from self.works.take_news()
        faulted, self.asking.faulted = self.asking.faulted, []
        self.works.touched |= dict.fromkeys(faulted)
        for seat in self.works.vacancies.given_up(self.now()):
            self.gangs.touch(seat[0])
            yield TaskCancelled(*seat)
        for key in self.gangs.take_changed():
            yield from look_at_gang(self.gangs, self.works, key)

    def _changed_nodes(self) -> Iterator[Report]:
        if changed := self.fleet.changes(self.asking.resources):
            yield NodesChanged(changed)

    def _count_lost(self) -> None:
        """Find the nodes whose objects have been gone for so long that nothing of them runs any more."""
        patience = self.asking.plan.kubernetes.deleted_nodes_lost_after
        if not patience or self.stale_since is not None:
            return
        due = self.fleet.give_up(self.now(), patience)
        if due not in {0, self._lost_at}:
            self.wake_at(due)
        self._lost_at = due

    def writes(self) -> list[Write]:
        """Requests to make now; each is answered by `wrote`. None while what is known may be out of date."""
        if self.observes:
            self.works.touched.clear()
            self.works.anew.clear()
        if self.stale_since is not None or self.observes:
            self.works.ring(self.now())
            return []
        return self.works.writes(self.fleet.host_name)

    def wrote(self, uid: str, pod: Pod | None, *, is_done: bool, refusal: str = "") -> None:
        """A request about a pod was answered, or to make one anew.

        pod : its object as it is after it, None = there is none; is_done: it was done; refusal: why it never is
        """
        work = self.works.of.get(uid)
        if work is None:
            self.works.made(uid, is_done=is_done)
            return
        if pod is None or pod.uid != uid:
            self.lose_pod(uid)
            return
        self.see_pod(pod)
        self.works.answered(work, is_done=is_done, refusal=refusal)
        self._reread(work)

    def due(self) -> int:
        """Instant at which there is something to do that nothing seen tells of; 0 = never."""
        return self.works.due()

    @property
    def has_something(self) -> bool:
        """Whether `reports` or `writes` have something that waits for nothing."""
        return bool(self.works.news or (self.works.touched and self.stale_since is None))
