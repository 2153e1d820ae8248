"""Events that the orchestrator handles. Instants are arguments of `handle`, not parts of an event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.siting import ANYWHERE

if TYPE_CHECKING:
    from fairhold.model.siting import Siting
    from fairhold.model.vector import Told


class Outcome(Enum):
    """What the end of an attempt means for its task."""

    FINISHED = "finished"
    """It did its work."""
    FAILED = "failed"
    """It ended by itself, or could not be started, without doing its work."""
    STOPPED = "stopped"
    """It was stopped on the orchestrator's instruction."""
    YIELDED = "yielded"
    """It ended by itself under notice and says that its state is saved: it waits again."""
    LOST = "lost"
    """Its host is gone, or cannot start anything: it waits again, and it is not its fault."""


NO_SPACE = "no space: "
"""How the detail of a `refused` record begins where the host's disk is full: it is not broken, and is tried again."""
SUPERVISOR_LOST = "supervisor_lost"
"""Reason of an end where the supervisor of the attempt was gone before the attempt was over."""


class Exit(NamedTuple):
    """How an attempt ended, as its exit record says; see docs/attempts.md.

    reason : finished, failed, yielded, reclaim, requeue, cancel, time_limit, memory, not_started, refused, host_lost,
        supervisor_lost
    code   : exit status, -1 where there is none; signal : number of the signal that ended it, 0 = none
    detail : more, in words, may be empty
    cpu    : microseconds of processor time; peak : bytes of memory at most
    """

    reason: str
    code: int = -1
    signal: int = 0
    detail: str = ""
    cpu: int = 0
    peak: int = 0


class Held(NamedTuple):
    """An attempt that a machine holds.

    is_alive : its supervisor lives
    exit     : its exit record, None where it has none yet
    """

    attempt: int
    is_alive: bool
    exit: Exit | None


class Dependency(NamedTuple):
    """A job starts only when another is over.

    on : ok (all its tasks are done), fail (one failed or it was cancelled), any
    """

    job: str
    on: str


@dataclass(frozen=True, slots=True)
class HostJoined:
    """A host is up with a number of slots; also after it was lost."""

    resource_group: str
    host: str
    slots: int


@dataclass(frozen=True, slots=True)
class HostLost:
    """A host is down; what ran there is reported by `TaskEnded`, one attempt after another."""

    resource_group: str
    host: str


@dataclass(frozen=True, slots=True)
class MachineReported:
    """The agent of a machine has connected and reports all that it holds.

    machine : name of the machine, empty = the service's own; its hosts are the plan's hosts of that name
    boot    : identity of its start
    last    : largest number of an attempt that it has ever started
    held    : every attempt that it has not been told to forget
    spool   : identity of where it keeps them
    labels  : of its host, beside those of the plan, which come first
    """

    machine: str
    boot: str
    last: int
    held: tuple[Held, ...] = ()
    spool: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineLabelled:
    """A connected machine has other labels; fields as in `MachineReported`."""

    machine: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MachineSilent:
    """The connection to a machine's agent broke; what runs there is unknown."""

    machine: str


@dataclass(frozen=True, slots=True)
class MachineGone:
    """The lease of a silent machine has run out: none of its attempts runs any more."""

    machine: str


@dataclass(frozen=True, slots=True)
class MachineClosed:
    """A machine starts nothing more until it is opened.

    reason : shown to all users
    drain  : attempts there also get notice, with the grace of their leaves
    by     : instant at which every grace ends at the latest, 0 = no bound
    """

    machine: str
    reason: str
    drain: bool = False
    by: int = 0


@dataclass(frozen=True, slots=True)
class MachineOpened:
    """A closed machine may start work again."""

    machine: str


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    """A user submits a job of `count` tasks to a leaf.

    job        : unique name
    consumer   : path of the leaf
    priority   : inside the leaf, larger first
    user       : who submits it; inside a leaf users are served in turn
    units      : slots that each task needs, all at once
    throttle   : how many of its tasks may run at once, 0 = any number
    retries    : how often a task that failed is tried again
    backoff    : microseconds before its first new try, twice as long before each later one, up to an hour
    is_held    : it waits for a release
    after      : jobs that must be over before
    siting     : what its tasks say of hosts
    time_limit : microseconds that an attempt may run, 0 = any time
    unit       : of a vector, what each task needs (`model.vector.Told`); then `resource_group` is empty, `units` 1
    min_count  : tasks of a vector, or of one slot each, that begin together or not at all; 0 = each by itself
    preemptible : of a queue, whether its units may be taken back for others; None = by its priority (R-SERVE-2)
    """

    job: str
    consumer: str
    resource_group: str
    count: int
    priority: int = 0
    user: str = ""
    units: int = 1
    throttle: int = 0
    retries: int = 0
    backoff: int = 0
    is_held: bool = False
    after: tuple[Dependency, ...] = ()
    siting: Siting = ANYWHERE
    time_limit: int = 0
    unit: Told = ()
    min_count: int = 0
    preemptible: bool | None = None


@dataclass(frozen=True, slots=True)
class JobCancelled:
    """The waiting tasks of a job are dropped, the running ones stopped."""

    job: str


@dataclass(frozen=True, slots=True)
class JobHeld:
    """Nothing more of a job starts until it is released."""

    job: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JobReleased:
    """A held job may start again."""

    job: str


@dataclass(frozen=True, slots=True)
class JobRequeued:
    """The running tasks of a job are stopped and queued again at the front."""

    job: str


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A job gets another priority, another size, or moves to another leaf of its resource group.

    consumer  : path of the leaf, empty = as it is
    tasks     : how many tasks it has, those that are over among them; no fewer than before, 0 = as many
    min_count : as in `JobSubmitted`
    """

    job: str
    priority: int | None = None
    consumer: str = ""
    tasks: int = 0
    min_count: int | None = None


@dataclass(frozen=True, slots=True)
class TaskCancelled:
    """One task of a job is dropped where it waits, stopped where it runs."""

    job: str
    task: int


@dataclass(frozen=True, slots=True)
class TaskAdopted:
    """The next task of a waiting job has been started by somebody else, before it was known here.

    host : where it is; is_running: its command runs
    last : highest number of an attempt that is known where it runs, above which new ones are numbered
    """

    job: str
    host: str
    is_running: bool = True
    last: int = 0


@dataclass(frozen=True, slots=True)
class TaskRunning:
    """The command of an attempt runs."""

    attempt: int


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """An attempt is over; its slots are free.

    exit    : how it ended, where the engine has a record
    machine : the one that reports it, None = the one where it runs; it may forget an attempt that is unknown here
    """

    attempt: int
    outcome: Outcome
    exit: Exit | None = None
    machine: str | None = None


@dataclass(frozen=True, slots=True)
class GroupPaused:
    """Grants or reclaims of a resource group are paused or resumed."""

    resource_group: str
    grants: bool
    reclaims: bool


@dataclass(frozen=True, slots=True)
class Woken:
    """An instant that `WakeAt` asked for has come."""


Event = (
    HostJoined
    | HostLost
    | MachineReported
    | MachineLabelled
    | MachineSilent
    | MachineGone
    | MachineClosed
    | MachineOpened
    | JobSubmitted
    | JobCancelled
    | JobHeld
    | JobReleased
    | JobRequeued
    | JobChanged
    | TaskCancelled
    | TaskAdopted
    | TaskRunning
    | TaskEnded
    | GroupPaused
    | Woken
)
