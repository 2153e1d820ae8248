"""A pod and a node as the governor sees them: what of an object decides something, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.constraints import Constraint, Taint, constraint_of, taints_of
from fairhold.engines.kubernetes.gangs import gangs_of
from fairhold.engines.kubernetes.recreating import pack
from fairhold.engines.kubernetes.requests import amounts_of, quantities
from fairhold.model.kubernetes import Amounts
from fairhold.orchestrator.events import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.engines.kubernetes.gangs import Gang

Shared = TypeVar("Shared", Amounts, Constraint)
Wishes = tuple[Amounts, Constraint, int]
"""Resources, nodes, priority: what the pods of a gang have to have in common."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,9}")
OVER = ("Succeeded", "Failed")
_SIGNALLED, _LAST_SIGNAL = 128, 64
_YIELDED = 75
"""Exit status of work under notice that has saved what it needs to go on."""
_UNSTARTED = ("StartError", "ContainerCannotRun")
"""Why a container ended whose command could not be started."""
_BY_NODE = ("Terminated", "Preempting")
"""Why a kubelet ended a pod that is not at fault."""
_NONE = "no container started"
_STARTING = ("", "ContainerCreating", "PodInitializing", "CrashLoopBackOff")
"""Why a container waits that may start, or has run."""


class Owner(NamedTuple):
    """The controller of a pod, which makes a new one where one goes."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod.

    version  : resource version of the object
    gates    : scheduling gates by name
    node     : on which it is bound, empty = none
    pinned   : host name that its node selector asks for, empty = any
    attempt  : number of its attempt by its annotation, 0 = none
    index    : completion index of an Indexed Job, empty = none
    priority : of its priority class
    notice   : text of its notice, empty = none
    is_disrupted : its condition says that it is to give way; is_marked: it was Fairhold that said so
    is_running   : a container of it runs
    end      : how it ended, None = something of it may run, now or later
    gangs    : what it says of pods that start together with it
    trouble  : why kube-scheduler cannot bind it, empty = it is bound or not looked at
    waits    : why it waits, by its condition, empty = that says nothing
    unstarted : why a container of it cannot start, as its kubelet says, while none runs; empty = it may
    manifest : of a bare pod that wants to be made anew after a reclaim: how, packed; else empty
    """

    uid: str
    namespace: str
    name: str
    version: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    service_account: str
    owner: Owner | None
    gates: tuple[str, ...]
    finalizers: tuple[str, ...]
    node: str
    pinned: str
    attempt: int
    index: str
    priority: int
    amounts: Amounts
    constraint: Constraint
    grace: int
    is_deleting: bool
    is_disrupted: bool
    is_marked: bool
    is_running: bool
    is_daemon: bool
    end: Exit | None
    trouble: str
    gangs: tuple[Gang, ...] = ()
    waits: str = ""
    unstarted: str = ""
    manifest: bytes = b""

    @property
    def is_gated(self) -> bool:
        """Whether it waits for a grant."""
        return names.GATE in self.gates

    @property
    def counts_as_largest(self) -> bool:
        """Whether the pods that start together with it may differ from it."""
        return self.annotations.get(names.GANG_UNIT) == names.LARGEST

    @property
    def wishes(self) -> Wishes:
        """What it asks for; of nodes, without the one that it was granted."""
        selector = [each for each in self.constraint.selector if self.is_gated or each[0] != names.HOSTNAME]
        return self.amounts, self.constraint._replace(selector=tuple(selector)), self.priority

    @property
    def said(self) -> tuple[object, ...]:
        """All that people say of it by which it is accepted."""
        return self.gangs, self.annotations, self.labels, self.wishes

    @property
    def place(self) -> str:
        """Node on which it is, or to which it was let go; empty = none."""
        return self.node or (self.pinned if self.attempt else "")

    @property
    def notice(self) -> str:
        """Text of its notice, empty = none."""
        return self.annotations.get(names.NOTICE, "")

    @property
    def is_kept(self) -> bool:
        """Whether its object stays until its end is recorded."""
        return names.FINALIZER in self.finalizers

    @property
    def family(self) -> tuple[str, str] | None:
        """Controller and index: what a pod that takes its place has in common with it; None: nobody makes one.

        A controller is known by its namespace, too: anybody may write any uid at a pod of his own.
        """
        if self.owner is not None:
            return f"{self.namespace}.{self.owner.uid}", self.index
        if self.manifest:
            return f"{self.namespace}.{self.name}", ""
        uid, slash, index = self.annotations.get(names.OWNER, "").partition("/")
        return (f"{self.namespace}.{uid}", index) if slash else None

    @property
    def worth(self) -> tuple[int, int, str]:
        """Place among the pods of its gang, the most valuable first: what its deletion costs, its index, its name."""
        said = self.annotations.get(names.DELETION_COST, "")
        cost = int(said) if _INTEGER.fullmatch(said) else 0
        return -cost, int(self.index) if self.index.isdigit() else -1, self.name

    @property
    def is_of_job(self) -> bool:
        """Whether a Job counts its end."""
        return self.owner is not None and self.owner.kind == "Job" and names.JOB_SELECTORS[0] in self.labels

    @property
    def is_released(self) -> bool:
        """Whether its Job was made to let it go."""
        return names.OWNER in self.annotations

    @property
    def is_over(self) -> bool:
        """Whether it gets no new job: it has ended, or its Job was made to let it go."""
        return self.end is not None or self.is_released

    def is_newer_than(self, known: Pod) -> bool:
        """Whether it is not older than what is known of it; versions of one object are numbers that rise."""
        if self.version.isdigit() and known.version.isdigit():
            return int(self.version) >= int(known.version)
        return True


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node.

    boot       : identity of its start
    is_ready   : its kubelet is heard
    is_closed  : it is cordoned
    is_lost    : an operator says that nothing of it runs any more
    """

    name: str
    labels: Mapping[str, str]
    amounts: Amounts
    taints: tuple[Taint, ...]
    boot: str
    is_ready: bool
    is_closed: bool
    is_lost: bool


@lru_cache(maxsize=4096)
def _shared(value: Shared) -> Shared:
    """One object for all pods that say the same."""
    return value


_READ = (names.CONSUMER, names.NOTICE, names.RECREATE, names.GANG_UNIT, names.DELETION_COST, names.OWNER)
"""Annotations that are kept as they are."""


def pod_of(document: Mapping[str, Any]) -> Pod:
    """Read a pod from its object."""
    meta, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    annotations = meta.get("annotations") or {}
    owners = [each for each in meta.get("ownerReferences") or () if each.get("controller")]
    owner = Owner(*(owners[0].get(key) or "" for key in Owner._fields)) if owners else None
    said = str(annotations.get(names.ATTEMPT) or "")
    is_deleting, disruption = bool(meta.get("deletionTimestamp")), _disruption(status)
    return Pod(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        version=meta["resourceVersion"],
        labels=meta.get("labels") or {},
        annotations={key: annotations[key] for key in _READ if key in annotations},
        service_account=spec.get("serviceAccountName") or "default",
        owner=owner,
        gates=tuple(each.get("name") or "" for each in spec.get("schedulingGates") or ()),
        finalizers=tuple(meta.get("finalizers") or ()),
        node=spec.get("nodeName") or "",
        pinned=(spec.get("nodeSelector") or {}).get(names.HOSTNAME, ""),
        attempt=int(said) if said.isascii() and said.isdigit() and len(said) < 16 else 0,
        index=annotations.get(names.INDEX, ""),
        priority=spec.get("priority") or 0,
        amounts=_shared(amounts_of(spec, status)),
        constraint=_shared(constraint_of(spec)),
        grace=_number(spec.get("terminationGracePeriodSeconds"), 30),
        is_deleting=is_deleting,
        is_disrupted=bool(disruption),
        is_marked=disruption == names.RECLAIMED,
        is_running=any("running" in (each.get("state") or {}) for each in _containers(status)),
        is_daemon=owner is not None and owner.kind in {"DaemonSet", "Node"},
        end=end_of(spec, status, is_deleting=is_deleting, is_noticed=names.NOTICE in annotations),
        trouble=_trouble(_conditions(status).get("PodScheduled", {})),
        unstarted=_unstarted(status),
        gangs=gangs_of(meta, spec, owner),
        waits=_waits(_conditions(status).get(names.GRANTED, {})),
        manifest=pack(document) if owner is None and annotations.get(names.RECREATE) == "true" else b"",
    )


def end_of(spec: Mapping[str, Any], status: Mapping[str, Any], *, is_deleting: bool, is_noticed: bool) -> Exit | None:
    """How a pod ended; None where a container of it runs or may run.

    The phase alone proves nothing: the garbage collector of pods writes `Failed` of a node that is not there, beside
    containers that run on, or start. A kubelet writes it when nothing of the pod runs any more, which counts where no
    container says otherwise. Before that, a container that has ended may be started anew.
    """
    is_over = status.get("phase") in OVER
    if not spec.get("nodeName"):
        if is_deleting:
            return Exit("cancel", detail="it was deleted before it was bound")
        return Exit("not_started", detail=_why(status) or "it was over before it was bound") if is_over else None
    statuses = _containers(status)
    states = [each.get("state") or {} for each in statuses]
    if not is_over or any("running" in state for state in states):
        return None
    open_ones = [each for each, state in zip(statuses, states, strict=True) if "terminated" not in state]
    is_never = spec.get("restartPolicy") == "Never"
    if _disruption(status) == "DeletionByPodGC" and (open_ones or not statuses or not is_never):
        return None
    if open_ones and any(each.get("containerID") for each in statuses):
        return None
    ended = [state["terminated"] or {} for state in states if "terminated" in state] or _failed_first(status)
    return _exit(status, ended, is_noticed=is_noticed) if ended else Exit("not_started", detail=_why(status) or _NONE)


def _exit(status: Mapping[str, Any], ended: Sequence[Mapping[str, Any]], *, is_noticed: bool) -> Exit:
    """The end of a pod by the ends of its containers: that of the first that did not end well counts.

    A kubelet ends pods when its node is switched off, or for pods of the system, which is no pod's fault; or where the
    node has too little left (`Evicted`), which starts with the pods that use more than they asked for.
    """
    worst = next((each for each in ended if each.get("exitCode") != 0), ended[0])
    code, why = _number(worst.get("exitCode"), -1), worst.get("reason")
    reason = "finished" if code == 0 and status.get("phase") != "Failed" else "failed"
    if why == "OOMKilled":
        reason = "memory"
    elif status.get("reason") == "DeadlineExceeded":
        reason = "time_limit"
    elif code == _YIELDED and is_noticed:
        reason = "yielded"
    elif reason != "finished" and status.get("reason") in _BY_NODE and _disruption(status) == "TerminationByKubelet":
        reason = "host_lost"
    elif why in _UNSTARTED:
        reason = "not_started"
    signal = _number(worst.get("signal"), 0) or (code - _SIGNALLED if 0 < code - _SIGNALLED <= _LAST_SIGNAL else 0)
    return Exit(reason, code, signal, _line(worst.get("message") or "") or _line(status.get("message") or ""))


def node_of(document: Mapping[str, Any]) -> NodeSeen:
    """Read a node from its object."""
    meta, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    is_ready = _conditions(status).get("Ready", {}).get("status") == "True"
    taints = taints_of(spec)
    return NodeSeen(
        name=meta["name"],
        labels=meta.get("labels") or {},
        amounts=tuple(sorted(quantities(status.get("allocatable") or status.get("capacity")).items())),
        taints=tuple(each for each in taints if not each.key.startswith("node.kubernetes.io/")),
        boot=(status.get("nodeInfo") or {}).get("bootID") or "",
        is_ready=is_ready,
        is_closed=bool(spec.get("unschedulable")) or bool(meta.get("deletionTimestamp")),
        is_lost=any(each.key == names.OUT_OF_SERVICE for each in taints),
    )


def _containers(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Statuses of all containers that decide when a pod is over: sidecars among them, init containers that ran not."""
    found = list(status.get("containerStatuses") or ())
    found += [each for each in status.get("initContainerStatuses") or () if "running" in (each.get("state") or {})]
    return found


def _failed_first(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Ends of init containers that failed, after which no other was started."""
    states = [each.get("state") or {} for each in status.get("initContainerStatuses") or ()]
    ended: list[Mapping[str, Any]] = [state["terminated"] or {} for state in states if "terminated" in state]
    return [each for each in ended if each.get("exitCode") != 0]


def _conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {each.get("type") or "": each for each in status.get("conditions") or ()}


def _disruption(status: Mapping[str, Any]) -> str:
    """Who says that a pod is to give way, as a reason; empty = nobody does."""
    condition = _conditions(status).get(names.DISRUPTION, {})
    return str(condition.get("reason") or "Unknown") if condition.get("status") == "True" else ""


def _why(status: Mapping[str, Any]) -> str:
    return _line(status.get("message") or status.get("reason") or "")


def _waits(condition: Mapping[str, Any]) -> str:
    return str(condition.get("reason") or "") if condition.get("status") == "False" else ""


def _trouble(scheduled: Mapping[str, Any]) -> str:
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return _line(scheduled.get("message") or "kube-scheduler found no node")
    return ""


def _unstarted(status: Mapping[str, Any]) -> str:
    """Why a container cannot start: an image that is not to be had, or something that it is to be given is missing."""
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    states = [each.get("state") or {} for each in containers]
    if any("running" in state for state in states):
        return ""
    waiting = (state["waiting"] or {} for state in states if "waiting" in state)
    found = next((each for each in waiting if (each.get("reason") or "") not in _STARTING), {})
    return _line(f"{found['reason']}: {found.get('message') or ''}") if found else ""


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
