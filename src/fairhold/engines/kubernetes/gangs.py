"""Pods that start together: how they say so themselves, and which objects of the cluster say how many they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes import names
from fairhold.errors import Fault, InputError
from fairhold.ports.governor import GangKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.engines.kubernetes.pods import Owner, Pod

JOBS, JOB_SETS = "jobs.batch", "jobsets.jobset.x-k8s.io"
NATIVE = "podgroups.scheduling.k8s.io"
COSCHEDULING, KAI = "podgroups.scheduling.x-k8s.io", "podgroups.scheduling.run.ai"
KINDS = (JOBS, JOB_SETS, NATIVE, COSCHEDULING, KAI)
"""Kinds of objects that say how many pods start together, as their definitions are called; a cluster may lack some."""
ALL = "all"
"""Size of a gang: all pods of the Job or JobSet."""
MOST_DIGITS = 6
_POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
_KAI_ANNOTATION = "pod-group-name"
_JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
_WORDS = {JOBS: "Job", JOB_SETS: "JobSet"}

Key = GangKey


class Gang(NamedTuple):
    """What a pod says of those that start together with it.

    kind : of the object that says how many they are, empty = the pods say it
    name : of that object, or of the gang
    size : how many, where the pods say it; 0 = it says no number
    """

    kind: str
    name: str
    size: int = 0


def gangs_of(meta: Mapping[str, Any], spec: Mapping[str, Any], owner: Owner | None) -> tuple[Gang, ...]:
    """All that a pod says of a gang; the first of a kind that the cluster has is the one."""
    notes, labels = meta.get("annotations") or {}, meta.get("labels") or {}
    native = (spec.get("schedulingGroup") or {}).get("podGroupName")
    found = [Gang(NATIVE, native)] if native else []
    said = notes.get(names.GANG_SIZE)
    if said == ALL:
        if name := labels.get(_JOB_SET_LABEL):
            return (*found, Gang(JOB_SETS, name))
        return (*found, Gang(JOBS, owner.name) if owner is not None and owner.kind == "Job" else Gang("", ""))
    if said is not None:
        is_number = said.isascii() and said.isdigit() and len(said) < MOST_DIGITS
        name = notes.get(names.GANG) or (owner.uid if owner else meta["uid"])
        return (*found, Gang("", name, int(said) if is_number else 0))
    others = ((COSCHEDULING, labels.get(_POD_GROUP_LABEL)), (KAI, notes.get(_KAI_ANNOTATION)))
    return (*found, *(Gang(kind, name) for kind, name in others if name))


def least_of(kind: str, document: Mapping[str, Any]) -> int:
    """How many pods start together by an object of a kind; 0 = each by itself."""
    spec = document.get("spec") or {}
    if kind == JOBS:
        return _pods_of_job(spec)
    if kind == JOB_SETS:
        parts = spec.get("replicatedJobs") or ()
        return sum(_whole(each.get("replicas"), 1) * _pods_of_job(_spec_of(each)) for each in parts)
    if kind == NATIVE:
        return _whole(((spec.get("schedulingPolicy") or {}).get("gang") or {}).get("minCount"), 0)
    return _whole(spec.get("minMember"), 0)


def _pods_of_job(spec: Mapping[str, Any]) -> int:
    """How many pods a Job runs at once, where its pods say that all of them start together; else 0."""
    notes = ((spec.get("template") or {}).get("metadata") or {}).get("annotations") or {}
    if notes.get(names.GANG_SIZE) != ALL:
        return 0
    at_once = _whole(spec.get("parallelism"), 1)
    return min(at_once, _whole(spec.get("completions"), at_once))


def _spec_of(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    return (holder.get("template") or {}).get("spec") or {}


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and value >= 0 else default


class Gangs:
    """Objects that say how many pods start together, and the jobs of those that do.

    served : kinds that the cluster has; job_of : gang → its job
    """

    def __init__(self) -> None:
        self.served: set[str] = set()
        self.job_of: dict[Key, str] = {}
        self._gang_of: dict[str, Key] = {}
        self._least: dict[Key, int] = {}
        self._changed: dict[Key, None] = {}

    # What is seen

    def see(self, key: Key, least: int) -> bool:
        """An object is there, or has changed; False: it says what it said before."""
        if self._least.get(key) == least:
            return False
        self._least[key] = least
        self._changed[key] = None
        return True

    def lose(self, key: Key) -> None:
        """An object is gone."""
        if self._least.pop(key, None) is not None:
            self._changed[key] = None

    # What pods ask

    def key_of(self, pod: Pod) -> Key | None:
        """The gang of a pod; None: it starts by itself.

        Raises InputError `gang-size` where it says nothing that can be understood.
        """
        for kind, name, size in pod.gangs:
            if kind in self.served or kind in {JOBS, JOB_SETS}:
                key = pod.namespace, kind, name
                return None if self._least.get(key) in {0, 1} and kind != NATIVE else key
            if kind:
                continue
            if not size and not pod.is_gated:
                return None
            if not size:
                what = f"its annotation `{names.GANG_SIZE}` is no number of pods"
                mend = f"write a number, or `{ALL}` where its controller is a Job or of a JobSet"
                raise InputError([Fault("gang-size", what, mend)])
            return (pod.namespace, "", name) if size > 1 else None
        return None

    def least(self, key: Key, pods: Sequence[Pod]) -> int:
        """How many pods of a gang start together, and stay together; 0 = nothing says it.

        Of a group of Kubernetes itself all do as long as one of them waits: kube-scheduler binds no pod of a group
        while another one is at a gate.
        pods : all there are of the gang
        """
        if not key[1]:
            return max((gang.size for pod in pods for gang in pod.gangs), default=0)
        least = self._least.get(key, 0)
        if key[1] == NATIVE and key in self._least:
            return max(1, least, len(pods) if any(pod.is_gated for pod in pods) else 0)
        return least

    def all_together(self, job: str, pods: int) -> str:
        """Why pods of a job wait though less would do, as words to add; empty where that is not so."""
        key = self._gang_of.get(job, ("", "", ""))
        if key[1] != NATIVE or self._least.get(key, pods) >= pods:
            return ""
        return f"; kube-scheduler binds no pod of a PodGroup of Kubernetes before all {pods} of it have left the gate"

    # Their jobs

    def begin(self, key: Key, job: str) -> None:
        """A gang has a job."""
        self.job_of[key], self._gang_of[job] = job, key
        self._changed[key] = None

    def is_one(self, job: str) -> bool:
        """Whether a job is that of a gang."""
        return job in self._gang_of

    def touch(self, job: str) -> None:
        """Something of a job has changed that may be a gang's."""
        if (key := self._gang_of.get(job)) is not None:
            self._changed[key] = None

    def forget(self, job: str) -> Key | None:
        """A job is over: pods that come later are another gang. Returns its gang, None = it was none's."""
        key = self._gang_of.pop(job, None)
        if key is not None and self.job_of.get(key) == job:
            del self.job_of[key]
        return key

    def take_changed(self) -> list[Key]:
        """Gangs of which something has changed; they count as looked at."""
        changed, self._changed = list(self._changed), {}
        return changed


def in_words(key: Key) -> str:
    """What a gang is called to people."""
    _, kind, name = key
    return f"{_WORDS.get(kind, 'PodGroup')} `{name}`" if kind else "gang"
