"""Pods that have no job yet: whose they are, what they ask for, and why they cannot be accepted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.gangs import in_words
from fairhold.engines.kubernetes.vacancies import owner_of, replaced
from fairhold.engines.kubernetes.whose import consumer_of, terms_of
from fairhold.errors import Fault, InputError
from fairhold.model.siting import Siting
from fairhold.model.spec import Spec
from fairhold.model.vector import decimal_text
from fairhold.orchestrator.events import JobReleased
from fairhold.ports.governor import Appeared, Unclear

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from fairhold.engines.kubernetes.fleet import Fleet
    from fairhold.engines.kubernetes.gangs import Gangs, Key
    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.works import Works
    from fairhold.model.plan import Plan
    from fairhold.ports.governor import Replaced

MOST_ATTEMPTS = 10**14
"""Numbers of attempts are believed below it; pods bear up to ten times as many."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace as it decides about its pods; is_own: the service runs in it."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    is_own: bool = False

    @property
    def is_governed(self) -> bool:
        """Whether its pods are governed; the service never governs itself."""
        return not self.is_own and self.labels.get(names.GOVERNED) == "true"


class Asking:
    """Pods without a job.

    known   : uids of pods that had a job before this start, about which the service was not asked yet
    faulted : uids of those that were refused since somebody looked
    works   : pods that have a job; gangs : which start together
    """

    def __init__(self, plan: Plan, fleet: Fleet, works: Works, gangs: Gangs, *, observes: bool = False) -> None:
        self.plan, self.fleet, self.works, self.gangs, self._observes = plan, fleet, works, gangs, observes
        self.fleet.spaced = spaced(plan)
        self.namespaces: dict[str, Namespace] = {}
        self.known: set[str] = set()
        self.faulted: list[str] = []
        self._last = 0
        """Highest number of an attempt that a pod bore when it came."""
        self._new: dict[str, Work] = {}
        self._refused: dict[str, Work] = {}
        self._of_gang: dict[Key, dict[str, Work]] = {}
        self._keys: dict[str, list[Key]] = {}
        """Gangs of which a pod may be one, by uid, as they were when it came here."""

    def governs(self, pod: Pod) -> bool:
        """Whether a pod is governed: its namespace says so, or said so before this start.

        Elsewhere anybody may write gates, finalizers and annotations. Those of a governed namespace are Fairhold's own:
        a pod that has them is governed whatever controller it names.
        """
        if self._observes:
            return not pod.is_daemon and self._is_somebodys(pod)
        namespace = self.namespaces.get(pod.namespace)
        if pod.uid not in self.known and (namespace is None or not namespace.is_governed):
            return False
        return pod.is_gated or pod.is_kept or not pod.is_daemon

    def is_at_large(self, pod: Pod) -> bool:
        """Whether a pod of a governed namespace may get a node without a grant: no gate, no node yet."""
        is_free = not (pod.is_gated or pod.is_kept or pod.node or pod.end)
        return is_free and not self._observes and self.governs(pod)

    def is_left_behind(self, pod: Pod) -> bool:
        """Whether a pod that nobody governs has a mark by which it waits for ever: its namespace was governed once."""
        if self._observes or pod.namespace not in self.namespaces or self.governs(pod):
            return False
        return pod.is_gated or pod.is_kept

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
        if plan.tree is not self.plan.tree:
            self.fleet.spaced = spaced(plan)
        self.plan = plan
        self._new |= self._refused
        self._refused = {}

    def add(self, work: Work) -> None:
        """A pod is to get a job. Whoever invents a number of an attempt does not use up all there are."""
        if work.pod.attempt < MOST_ATTEMPTS:
            self._last = max(self._last, work.pod.attempt)
        uid = work.pod.uid
        self._refused.pop(uid, None)
        self._new[uid] = work
        self._leave_gangs(uid)
        if keys := _keys(work.pod):
            self._keys[uid] = keys
        for key in keys:
            self._of_gang.setdefault(key, {})[uid] = work

    def has(self, uid: str) -> bool:
        """Whether a pod waits for a job."""
        return uid in self._new or uid in self._refused

    def again(self, key: Key) -> None:
        """What starts a gang has changed: its pods that were refused may be accepted."""
        for uid in self._of_gang.get(key, ()):
            if (work := self._refused.pop(uid, None)) is not None:
                self._new[uid] = work

    def again_all(self, kind: str) -> None:
        """The same of all gangs of a kind of objects."""
        for key in [each for each in self._of_gang if each[1] == kind]:
            self.again(key)

    def drop(self, uid: str) -> None:
        """A pod is gone, or has a job."""
        self._new.pop(uid, None)
        self._refused.pop(uid, None)
        self._leave_gangs(uid)

    def _leave_gangs(self, uid: str) -> None:
        for key in self._keys.pop(uid, ()):
            del self._of_gang[key][uid]
            if not self._of_gang[key]:
                del self._of_gang[key]

    def refuse(self, uid: str, fault: Fault) -> None:
        """A pod cannot be accepted now."""
        if (work := self._new.pop(uid, None)) is not None:
            self._refused[uid] = work
        if (work := self._refused.get(uid)) is not None:
            what, mend = self.fleet.avoided.said(work.pod.family)
            if what and fault.code == "never-fits":
                fault = Fault("not-bound", what, mend)
            work.refuse(replace(fault, what=self.fleet.in_words(fault.what), mend=self.fleet.in_words(fault.mend)))
            self.faulted.append(uid)

    def label_all(self) -> None:
        """Have hosts labelled with what new pods say of nodes."""
        for work in self._new.values():
            self.fleet.label_for(work.pod.constraint)

    def fill_vacancies(self) -> Iterator[Replaced | JobReleased]:
        """Let new pods take the places of those of their families that were stopped; what they ask for is compared."""
        for work in list(self.waiting()):
            pod, vacancies = work.pod, self.works.vacancies
            if not pod.family or pod.is_deleting or not vacancies.seats(pod.family):
                continue
            try:
                terms = terms_of(self.plan, pod, self._consumer_of(pod), self._siting([pod]))
            except InputError:  # it is refused in its turn
                continue
            if (vacancy := vacancies.fill(pod.family)) is None:
                continue
            self.drop(pod.uid)
            self.works.seat(work, vacancy.seat)
            yield replace(replaced(vacancy.seat, pod), terms=None if pod.counts_as_largest else terms)
            self.gangs.touch(work.job)
            if work.job and vacancy.is_held and not self.gangs.is_one(work.job):
                yield JobReleased(work.job)

    def _siting(self, pods: Sequence[Pod]) -> Siting:
        """Which nodes will do: what each pod says, less those on which one of them could not be bound."""
        avoided = {label for pod in pods for label in self.fleet.avoided.label_of(pod.family)}
        need = {self.fleet.label_for(pod.constraint) for pod in pods}
        return Siting(need=tuple(sorted(need)), avoid=tuple(sorted(avoided)))

    def waiting(self) -> Iterator[Work]:
        """New pods that wait at the gate."""
        return (work for work in self._new.values() if work.pod.is_gated)

    def take(self, *, is_bound: bool) -> Iterator[Appeared | Unclear]:
        """What new pods ask for, in the order of their appearance; each is answered before the next.

        is_bound : those that are on a node, else those that wait at the gate
        """
        for uid, work in list(self._new.items()):
            pod = work.pod
            if uid not in self._new or pod.is_gated == is_bound or not (pod.is_gated or pod.place):
                continue
            if work.is_told and work.job:
                self.drop(uid)
                continue
            pods, job = [pod], ""
            try:
                if uid not in self.known and not work.job:
                    pods, job = self._gang(pod)
                asked = self._ask(pods, job)
            except InputError as error:
                if work.job or uid in self.known:
                    yield Unclear(uid, pod.namespace, pod.attempt, is_bound, pod.is_over, error.faults[0])
                    continue
                for each in pods:
                    self.refuse(each.uid, error.faults[0])
                if is_bound:
                    self.fleet.see_foreign(pod)
                continue
            yield asked

    def _gang(self, pod: Pod) -> tuple[list[Pod], str]:
        """The pods that start together with a pod, the most valuable first, or that join the job of its gang with it.

        Itself alone where it is of no gang, or runs. Raises InputError while not all of them are there.
        """
        key = self.gangs.key_of(pod)
        if key is None:
            return [pod], ""
        job = self.gangs.job_of.get(key, "")
        if not pod.is_gated:
            return [pod], job
        there = [work.pod for work in self._of_gang[key].values() if work.pod.is_gated and not work.pod.is_deleting]
        if job:
            return [each for each in there if each is pod or each.wishes == pod.wishes], job
        least = self.gangs.least(key, there)
        if not least:
            raise InputError([Fault("gang-unknown", f"its {in_words(key)} is not there", "create it; the pod waits")])
        if len(there) < least:
            what = f"{least} pods of its {in_words(key)} start together"
            raise InputError([Fault("gang-incomplete", what, "it starts when so many are there")])
        return sorted(there, key=lambda each: each.worth), ""

    def _check_nodes(self, pods: Sequence[Pod]) -> None:
        """Raise InputError `never-fits` where no node of the cluster suits a pod."""
        for constraint in dict.fromkeys(pod.constraint for pod in pods):
            what, mend = self.fleet.why_none_suits(constraint)
            if what:
                raise InputError([Fault("never-fits", what, mend)])

    def _check_others(self, pods: Sequence[Pod]) -> None:
        """Raise InputError `no-such-resource` where no node has what a pod asks for beside what the plan shares.

        kube-scheduler alone looks at that: the pod would hold what it is granted of the plan, and never be bound.
        """
        shared = self.resources | {"pods"}
        for constraint, amounts in dict.fromkeys((pod.constraint, pod.amounts) for pod in pods):
            others = tuple(each for each in amounts if each[0] not in shared)
            if name := self.fleet.lacking(constraint, others):
                what = f"no node that will do has so much of `{name}`, {decimal_text(dict(others)[name])}"
                mend = "ask for what there is"
                raise InputError([Fault("no-such-resource", f"{what}; the plan does not share it", mend)])

    def _ask(self, pods: list[Pod], job: str) -> Appeared:
        """What pods ask for that start together, or that join the job of their gang."""
        pod, key = pods[0], self.gangs.key_of(pods[0])
        others = [self.works.of[uid].pod for uid in self.works.of_job.get(job, {}).values()]
        is_mixed = len(others) + len(pods) > 1 and any(each.counts_as_largest for each in (*others, *pods))
        if is_mixed:
            check_nodes(others, pods)
            pod = largest_of(pods)
        else:
            check_alike([*others[:1], *pods])
        consumer = self._consumer_of(pod)
        if pod.is_gated:
            self._check_nodes(pods)
            self._check_others(pods)
        siting = self._siting(pods) if pod.is_gated else Siting()
        least = self.gangs.least(key, pods) if key and len(pods) > 1 and not job else 0
        terms = terms_of(self.plan, pod, consumer, siting, count=len(pods), least=least)
        made_by = pod.owner.name if pod.owner else pod.name
        labels = {"namespace": pod.namespace, "pod": ",".join(each.name for each in pods)}
        labels["uid"] = ",".join(each.uid for each in pods)
        labels["owner"] = ",".join(owner_of(each) for each in pods)
        if key:
            labels["gang"] = "/".join(key)
        if is_mixed:
            labels["gang-unit"] = names.LARGEST
        spec = Spec(
            consumer,
            (f"{pod.namespace}/{made_by}",),
            user=pod.namespace,
            name=pod.name,
            labels=labels,
            stdin=pod.manifest,
        )
        uids = tuple(each.uid for each in pods)
        state = pod.place, pod.attempt, pod.is_running, pod.is_over
        return Appeared(uids, pod.namespace, terms, spec, *state, job, self._last)


def spaced(plan: Plan) -> list[str]:
    """Paths with blanks."""
    return [path for path in plan.tree.paths if " " in path]


def check_alike(pods: Sequence[Pod]) -> None:
    """Raise InputError `gang-differs` where pods that start together do not ask for the same.

    The sharing core knows work of many equal units; pods that differ would be placed as if they were the first of them.
    """
    first = pods[0]
    for pod in pods[1:]:
        for what, one, other in zip(("resources", "nodes", "priorities"), first.wishes, pod.wishes, strict=True):
            if one != other:
                told = f"`{first.name}` and `{pod.name}` of its gang ask for different {what}"
                mend = "make them alike, take one of them out of the gang, or annotate them "
                mend += f"`{names.GANG_UNIT}: {names.LARGEST}`: each counts as the largest then"
                raise InputError([Fault("gang-differs", told, mend)])


def check_nodes(others: Sequence[Pod], pods: Sequence[Pod]) -> None:
    """Raise InputError `gang-differs` where a pod that joins others says of nodes what none of them does.

    The nodes of a gang are those that suited every pod which it began with.
    """
    known = {each.wishes[1] for each in others}
    for pod in pods if known else ():
        if pod.wishes[1] not in known:
            told = f"its gang began without a pod that asks for such nodes as `{pod.name}`"
            raise InputError([Fault("gang-differs", told, "have all pods there when the gang starts")])


def largest_of(pods: Sequence[Pod]) -> Pod:
    """As which each of some pods counts: the first, with the most of each resource and the highest priority."""
    amounts: dict[str, Fraction] = {}
    for pod in pods:
        for name, amount in pod.amounts:
            amounts[name] = max(amount, amounts.get(name, amount))
    return replace(pods[0], amounts=tuple(sorted(amounts.items())), priority=max(pod.priority for pod in pods))


def _keys(pod: Pod) -> list[Key]:
    """All gangs of which a pod may be one, by what its cluster has."""
    return [(pod.namespace, gang.kind, gang.name) for gang in pod.gangs]
