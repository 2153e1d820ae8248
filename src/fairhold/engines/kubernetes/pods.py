"""A pod and a node as the governor sees them: what of an object decides something, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.constraints import Constraint, Taint, constraint_of, taints_of
from fairhold.engines.kubernetes.requests import amounts_of, quantities
from fairhold.model.kubernetes import Amounts
from fairhold.orchestrator.events import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

Shared = TypeVar("Shared", Amounts, Constraint)
OVER = ("Succeeded", "Failed")
_SIGNALLED = 128
_YIELDED = 75
"""Exit status of work under notice that has saved what it needs to go on."""


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
    is_disrupted : its condition says that it is to give way
    is_running   : a container of it runs
    end      : how it ended, None = something of it may run, now or later
    trouble  : why kube-scheduler cannot bind it, empty = it is bound or not looked at
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
    is_running: bool
    is_daemon: bool
    end: Exit | None
    trouble: str

    @property
    def is_gated(self) -> bool:
        """Whether it waits for a grant."""
        return names.GATE in self.gates

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
        """Controller and index: what a pod that takes its place has in common with it; None: nobody makes one."""
        if self.owner is not None:
            return self.owner.uid, self.index
        uid, slash, index = self.annotations.get(names.OWNER, "").partition("/")
        return (uid, index) if slash else None

    @property
    def is_of_job(self) -> bool:
        """Whether a Job counts its end."""
        return self.owner is not None and self.owner.kind == "Job" and names.JOB_SELECTORS[0] in self.labels

    @property
    def is_released(self) -> bool:
        """Whether its Job was made to let it go."""
        return names.OWNER in self.annotations


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


_OURS = (names.CONSUMER, names.NOTICE, names.RECREATE, names.GANG, names.GANG_SIZE, names.OWNER)


def pod_of(document: Mapping[str, Any]) -> Pod:
    """Read a pod from its object."""
    meta, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    annotations = meta.get("annotations") or {}
    owners = [each for each in meta.get("ownerReferences") or () if each.get("controller")]
    owner = Owner(owners[0]["kind"], owners[0]["name"], owners[0]["uid"]) if owners else None
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    said = annotations.get(names.ATTEMPT, "")
    is_deleting = bool(meta.get("deletionTimestamp"))
    return Pod(
        uid=meta["uid"],
        namespace=meta["namespace"],
        name=meta["name"],
        version=meta["resourceVersion"],
        labels=meta.get("labels") or {},
        annotations={key: annotations[key] for key in _OURS if key in annotations},
        service_account=spec.get("serviceAccountName") or "default",
        owner=owner,
        gates=tuple(each["name"] for each in spec.get("schedulingGates") or ()),
        finalizers=tuple(meta.get("finalizers") or ()),
        node=spec.get("nodeName") or "",
        pinned=(spec.get("nodeSelector") or {}).get(names.HOSTNAME, ""),
        attempt=int(said) if said.isascii() and said.isdigit() and len(said) < 16 else 0,
        index=annotations.get(names.INDEX, ""),
        priority=spec.get("priority") or 0,
        amounts=_shared(amounts_of(spec)),
        constraint=_shared(constraint_of(spec)),
        grace=_number(spec.get("terminationGracePeriodSeconds"), 30),
        is_deleting=is_deleting,
        is_disrupted=conditions.get(names.DISRUPTION, {}).get("status") == "True",
        is_running=any("running" in (each.get("state") or {}) for each in _containers(status)),
        is_daemon=owner is not None and owner.kind in {"DaemonSet", "Node"},
        end=end_of(spec, status, is_deleting=is_deleting, is_noticed=names.NOTICE in annotations),
        trouble=_trouble(conditions.get("PodScheduled", {})),
    )


def end_of(spec: Mapping[str, Any], status: Mapping[str, Any], *, is_deleting: bool, is_noticed: bool) -> Exit | None:
    """How a pod ended; None where a container of it runs or may run.

    The phase alone proves nothing: the garbage collector of pods writes `Failed` beside containers that run on, on a
    node that is not there. What counts is that each container says `terminated`, or that none was ever started.
    """
    phase, statuses = status.get("phase"), _containers(status)
    states = [each.get("state") or {} for each in statuses]
    if not spec.get("nodeName"):
        return Exit("cancel", detail="it was deleted before it was bound") if is_deleting else None
    if phase not in OVER and not (is_deleting and states and all("terminated" in state for state in states)):
        return None
    if any("running" in state for state in states):
        return None
    ended = [state["terminated"] for state in states if "terminated" in state]
    if any("terminated" not in state for state in states) and any(each.get("containerID") for each in statuses):
        return None
    if not ended:
        return Exit(
            "not_started", detail=_line(status.get("message") or status.get("reason") or "no container started")
        )
    worst = next((each for each in ended if each.get("exitCode")), ended[0])
    code = _number(worst.get("exitCode"), 0)
    detail = _line(worst.get("message") or "") or _line(status.get("message") or "")
    reason = "finished" if code == 0 and phase != "Failed" else "failed"
    if worst.get("reason") == "OOMKilled":
        reason = "memory"
    elif status.get("reason") == "DeadlineExceeded":
        reason = "time_limit"
    elif code == _YIELDED and is_noticed:
        reason = "yielded"
    signal = _number(worst.get("signal"), 0) or (code - _SIGNALLED if _SIGNALLED < code < 2 * _SIGNALLED else 0)
    return Exit(reason, code, signal, detail)


def node_of(document: Mapping[str, Any]) -> NodeSeen:
    """Read a node from its object."""
    meta, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ())
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


def _trouble(scheduled: Mapping[str, Any]) -> str:
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return _line(scheduled.get("message") or "kube-scheduler found no node")
    return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
