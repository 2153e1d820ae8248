"""What the governor tells the service beside events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.engines.kubernetes.vacancies import Seat
    from fairhold.model.kubernetes import Node
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.events import JobSubmitted


@dataclass(frozen=True, slots=True)
class Appeared:
    """Work has appeared in the cluster. It is answered by `Governor.accepted` or `Governor.refused`.

    work    : uids of its pods, one a task; several start together
    host    : node on which it is bound already, empty = it waits
    attempt : number of its attempt by what stands at the pod, 0 = none
    is_going : it has ended, or its controller has let it go: it gets no new job
    job     : of its gang, which it joins; empty = none has begun
    """

    work: tuple[str, ...]
    user: str
    terms: JobSubmitted
    spec: Spec
    host: str = ""
    attempt: int = 0
    is_running: bool = False
    is_going: bool = False
    job: str = ""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A pod takes the place of another, of a task by its job and number.

    owner : its family in one word, empty = nobody makes it anew
    """

    job: str
    index: int
    pod: str
    uid: str
    owner: str


def replaced(seat: Seat, pod: Pod) -> Replaced:
    """A pod has this place from now on."""
    return Replaced(*seat, pod.name, pod.uid, owner_of(pod))


def owner_of(pod: Pod) -> str:
    """The family of a pod in one word."""
    return "/".join(pod.family or ())


@dataclass(frozen=True, slots=True)
class GangChanged:
    """The pods of a gang are others, or another number of them starts together.

    least : so many; lacks : why none of them can start, empty = that is for the cycles to say
    """

    job: str
    least: int
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class NodesChanged:
    """Nodes came, changed or went (None)."""

    nodes: Mapping[str, Node | None]


@dataclass(frozen=True, slots=True)
class AllSeen:
    """All there is in the cluster was seen: jobs of other pods are over. Answered by `Governor.vacant`."""

    uids: frozenset[str]
