"""What the live service needs of an engine that governs a cluster, in which people submit work themselves.

`tests/engines/governor_contract.py` says what every such engine has to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fairhold.orchestrator.events import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.errors import Fault
    from fairhold.model.kubernetes import Amounts, Node
    from fairhold.model.plan import Plan
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.events import JobSubmitted
    from fairhold.orchestrator.outbox import Order

Family = tuple[str, str]
"""Namespace and uid of a controller, and the index of a pod of it: pods of one family take each other's place."""
Seat = tuple[str, int]
"""A job and the number of its task."""
GangKey = tuple[str, str, str]
"""Namespace, kind and name of the object that says how many pods start together, or of a gang that says it itself:
without a kind."""
AWAITED = "its controller makes its pod anew"
"""Reason of the hold of a job whose pod was stopped, until another takes its place."""
REFUSED = "the API server does not let its pod go: "
"""How the reason begins for which a job is held for a while whose grant was refused."""


@dataclass(frozen=True, slots=True)
class Appeared:
    """Work has appeared in the cluster, or was resized. It is answered by `accepted`, `refused` or `unwanted`.

    work    : uids of its pods, one a task; several start together
    host    : node on which it is bound already, empty = it waits
    attempt : number of its attempt by what stands at the pod, 0 = none
    last    : highest number of an attempt at any pod: those of another leader are not to be mistaken for ours
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
    last: int = 0


@dataclass(frozen=True, slots=True)
class Replaced:
    """A pod takes the place of another, of a task by its job and number.

    owner : its family in one word, empty = nobody makes it anew
    terms : what it asks for, None = the same. Where that is something else it is no such task: `ask_anew`
    """

    job: str
    index: int
    pod: str
    uid: str
    owner: str = ""
    terms: JobSubmitted | None = None


@dataclass(frozen=True, slots=True)
class Parted:
    """Work is not the one of its task any more, which ends, and asks for a job of its own next.

    user : as of `Appeared`
    """

    uid: str
    user: str
    job: str
    index: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """What work that has a task asks for cannot be worked out any more, or is nothing that it may have.

    It keeps what is booked where it was let go (`outgrew`), and has to ask anew where it waits.
    has_begun : it was let go; is_going, attempt: as of `Appeared`; fault: why
    """

    uid: str
    user: str
    attempt: int
    has_begun: bool
    is_going: bool
    fault: Fault


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
    """All there is in the cluster was seen: jobs of other pods are over, or wait for others (`vacant`)."""

    uids: frozenset[str]


Report = Event | Appeared | Replaced | Parted | Unclear | GangChanged | NodesChanged | AllSeen
"""What a governor tells: beside these, events of machines (its nodes), of attempts, and of jobs that users end."""


class Governor(Protocol):
    """What the service answers, and asks; in the desk's thread."""

    def met_before(self, uids: Iterable[str]) -> None:
        """These pods have had a job before this start."""
        ...

    def use(self, plan: Plan) -> None:
        """Another plan, or other nodes, are in force: what was refused is asked for again."""
        ...

    def accepted(self, uid: str, seat: Seat, attempt: int = 0, host: str = "", *, is_last: bool = True) -> None:
        """A pod is the one of a task; attempt: on a host, where it runs or was let go, 0 = it waits.

        is_last : False: it is still ending, and another has taken its place already
        """
        ...

    def begin_gang(self, key: GangKey, job: str, least: int) -> None:
        """A gang has a job; least: pods of it without which it does not go on."""
        ...

    def refused(self, uid: str, fault: Fault) -> None:
        """A pod cannot be accepted now."""
        ...

    def part(self, uid: str) -> None:
        """A pod is not the one of its task any more; it is accepted for another one next, or refused."""
        ...

    def outgrew(self, uid: str, booked: Amounts, why: str) -> None:
        """A pod keeps its job, which holds so much, and counts for nothing else; why: it gets no other."""
        ...

    def ask_anew(self, uid: str) -> None:
        """A pod is not the one of its task any more (`Parted`): it gets a job of its own."""
        ...

    def unwanted(self, uid: str) -> None:
        """The job of a pod is over, and the pod is not: it is stopped."""
        ...

    def is_over(self, job: str) -> None:
        """A job is over: its pods are stopped where they are not."""
        ...

    def vacant(self, seat: Seat, family: Family, manifest: bytes) -> None:
        """A task from before this start waits for a pod that takes the place of one that was stopped.

        manifest : of a bare pod, by which it is made anew; else empty
        """
        ...

    def seat_of(self, uid: str) -> Seat:
        """The task of a pod; without a job = it has none."""
        ...

    def waiting(self, job: str) -> list[str]:
        """Uids of the pods of a job that wait; empty where none of them is known."""
        ...

    def explain(self, uid: str, code: str, message: str) -> None:
        """Why a pod waits."""
        ...

    def is_held(self, attempt: int) -> bool:
        """Whether a pod has this attempt and is not over."""
        ...

    def wake_at(self, instant: int) -> None:
        """Wake the desk at an instant."""
        ...


class Cluster(Protocol):
    """An engine that governs a cluster; nothing in it waits for the cluster but `start`.

    governor : what takes the answers to what `events` tells
    """

    @property
    def governor(self) -> Governor:  # noqa: D102 - see the class
        ...

    def start(self) -> None:
        """Look at all there is, then follow it. Raises FairholdError where the cluster is not to be had."""
        ...

    def execute(self, instructions: Iterable[Order]) -> None:
        """Carry out orders; what cannot be done any more is told as an end. None before `AllSeen` was told."""
        ...

    def events(self) -> Iterator[Report]:
        """What has happened since the last call; each `Appeared` is answered before the next is taken.

        What follows from answers is done when `execute` or this is called next: the desk has committed it by then.
        """
        ...

    def close(self) -> None:
        """Stop; work runs on. May be called twice."""
        ...
