"""Pods that have no job yet: whose they are, what they ask for, and why they cannot be accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.reports import Appeared
from fairhold.engines.kubernetes.whose import consumer_of, terms_of
from fairhold.errors import Fault, InputError
from fairhold.model.siting import Siting
from fairhold.model.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.engines.kubernetes.constraints import Constraint
    from fairhold.engines.kubernetes.fleet import Fleet
    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.engines.kubernetes.vacancies import Family
    from fairhold.engines.kubernetes.work import Work
    from fairhold.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace as it decides about its pods."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    @property
    def is_governed(self) -> bool:
        """Whether its pods are governed."""
        return self.labels.get(names.GOVERNED) == "true"


class Asking:
    """Pods without a job.

    known   : uids of pods that have had a job before this start
    faulted : uids of those that were refused since somebody looked
    avoided : nodes on which pods of a family could not be bound
    """

    def __init__(
        self, plan: Plan, fleet: Fleet, avoided: Mapping[Family, frozenset[str]], *, observes: bool = False
    ) -> None:
        self.plan, self.fleet, self.avoided, self._observes = plan, fleet, avoided, observes
        self.namespaces: dict[str, Namespace] = {}
        self.known: set[str] = set()
        self.faulted: list[str] = []
        self._new: dict[str, Work] = {}
        self._refused: dict[str, Work] = {}
        self._begun: set[tuple[str, str]] = set()

    def governs(self, pod: Pod) -> bool:
        """Whether a pod is governed: it waits at our gate, was let go by us, or its namespace says so."""
        if pod.is_daemon:
            return False
        if self._observes:
            return self._is_somebodys(pod)
        if pod.is_gated or pod.is_kept:
            return True
        namespace = self.namespaces.get(pod.namespace)
        return namespace is not None and namespace.is_governed

    def _is_somebodys(self, pod: Pod) -> bool:
        """Whether a pod belongs to a consumer, be it one that the plan does not have."""
        try:
            self._consumer_of(pod)
        except InputError as error:
            return error.faults[0].code != "no-consumer"
        return True

    def _consumer_of(self, pod: Pod) -> str:
        namespace = self.namespaces.get(pod.namespace) or Namespace(pod.namespace, {}, {})
        return consumer_of(self.plan, pod, namespace.annotations, namespace.labels)

    @property
    def resources(self) -> frozenset[str]:
        """Kubernetes' names of all that the plan shares."""
        of_slots = (name for group in self.plan.resource_groups.values() for name, _ in group.slot)
        of_vectors = (self.plan.kubernetes.name_of(resource.name) for resource in self.plan.resources)
        return frozenset((*of_slots, *of_vectors))

    def use(self, plan: Plan) -> None:
        """Another plan is in force, or another set of nodes: what was refused may be accepted."""
        self.plan = plan
        self._new |= self._refused
        self._refused = {}

    def add(self, work: Work) -> None:
        """A pod is to get a job."""
        self._refused.pop(work.pod.uid, None)
        self._new[work.pod.uid] = work
        if work.pod.gang_size > 1:  # those that wait for it
            alike = [uid for uid, each in self._refused.items() if each.pod.gang == work.pod.gang]
            self._new |= {uid: self._refused.pop(uid) for uid in alike}

    def drop(self, uid: str) -> None:
        """A pod is gone, or has a job."""
        self._new.pop(uid, None)
        self._refused.pop(uid, None)

    def refuse(self, uid: str) -> None:
        """A pod cannot be accepted now."""
        if (work := self._new.pop(uid, None)) is not None:
            self._refused[uid] = work

    def label_all(self) -> None:
        """Have hosts labelled with what new pods say of nodes."""
        for work in self._new.values():
            self.fleet.label_for(self._constraint(work.pod))

    def _constraint(self, pod: Pod) -> Constraint:
        """Which nodes will do: what the pod says, less those on which it could not be bound."""
        avoided = self.avoided.get(pod.family) if pod.family else None
        return pod.constraint.without(avoided) if avoided else pod.constraint

    def waiting(self) -> Iterator[Work]:
        """New pods that wait at the gate."""
        return (work for work in self._new.values() if work.pod.is_gated)

    def take(self, *, is_bound: bool) -> Iterator[Appeared]:
        """What new pods ask for, in the order of their appearance; each is answered before the next.

        is_bound : those that are on a node, else those that wait at the gate
        """
        for uid, work in list(self._new.items()):
            pod = work.pod
            if uid not in self._new or pod.is_gated == is_bound or not (pod.is_gated or pod.place):
                continue
            try:
                pods = [pod] if is_bound or uid in self.known else self._gang(pod)
                asked = self._ask(pods)
            except InputError as error:
                work.refuse(error.faults[0])
                self.faulted.append(uid)
                self.refuse(uid)
                if is_bound:
                    self.fleet.see_foreign(pod)
                continue
            yield asked

    def _gang(self, pod: Pod) -> list[Pod]:
        """The pods that start together with a pod, by name; itself alone where it is of no gang.

        Raises InputError while not all of them are there.
        """
        size = pod.gang_size
        if size <= 1 or pod.gang in self._begun:
            return [pod]
        every = (*self._new.values(), *self._refused.values())
        there = [work.pod for work in every if work.pod.gang == pod.gang and work.pod.is_gated]
        if len(there) < size:
            what = f"{len(there)} of the {size} pods of its gang are there"
            raise InputError([Fault("gang-incomplete", what, "it starts when all of them are there")])
        there = sorted(there, key=lambda each: each.name)[:size]
        if len({(each.amounts, each.constraint, each.priority) for each in there}) > 1:
            what = "pods of its gang ask for different resources, nodes or priorities"
            raise InputError([Fault("gang-differs", what, "make them alike, or leave the gang out")])
        return there

    def _ask(self, pods: list[Pod]) -> Appeared:
        pod = pods[0]
        consumer = self._consumer_of(pod)
        siting = Siting(need=(self.fleet.label_for(self._constraint(pod)),)) if pod.is_gated else Siting()
        terms = terms_of(self.plan, pod, consumer, siting, count=len(pods))
        made_by = pod.owner.name if pod.owner else pod.name
        labels = {"namespace": pod.namespace, "pod": ",".join(each.name for each in pods)}
        labels["uid"] = ",".join(each.uid for each in pods)
        labels["owner"] = ",".join("/".join(each.family or ()) for each in pods)
        spec = Spec(
            consumer,
            (f"{pod.namespace}/{made_by}",),
            user=pod.namespace,
            name=pod.name,
            labels=labels,
            stdin=pod.manifest,
        )
        is_going = pod.end is not None or pod.is_released
        uids = tuple(each.uid for each in pods)
        return Appeared(uids, pod.namespace, terms, spec, pod.place, pod.attempt, pod.is_running, is_going)

    def begin_gang(self, uids: tuple[str, ...]) -> None:
        """A gang has a job: later pods of its name stand for themselves."""
        for uid in uids:
            work = self._new.get(uid) or self._refused.get(uid)
            if work is not None:
                self._begun.add(work.pod.gang)
