"""The log's changes: every change of a live cluster, with all that it decided.

A change states the result of an event, never a computation. So applying the changes of a log in order restores the
cluster, even if rules have changed since. Each is a plain tuple, so that a log can hold it as a JSON array.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

NOWHERE = ""
DONE, FAILED, CANCELLED, AGAIN, LATER = "done", "failed", "cancelled", "again", "later"


class JobAdded(NamedTuple):
    """A job was accepted; fields as in `JobSubmitted`; tasks: how many; siting: empty = any host will do.

    unit : of a vector, as `model.vector.Told`; then `resource_group` is empty, too
    preemptible : as in `JobSubmitted`
    """

    job: str
    consumer: str
    resource_group: str
    tasks: int
    priority: int = 0
    user: str = ""
    units: int = 1
    throttle: int = 0
    retries: int = 0
    backoff: int = 0
    hold: str | None = None
    after: tuple[tuple[str, str], ...] = ()
    siting: tuple[tuple[str, ...] | str, ...] = ()
    time_limit: int = 0
    unit: tuple[tuple[str, str], ...] = ()
    min_count: int = 0
    preemptible: bool | None = None


class JobDropped(NamedTuple):
    """A job was cancelled: its waiting tasks are dropped, its running ones are being stopped.

    needed : the job whose end makes it impossible to start this one; empty = a user cancelled it
    ended  : how that job ended
    """

    job: str
    needed: str = ""
    ended: str = ""


class HoldSet(NamedTuple):
    """A job is held, for a reason in words, or released (None)."""

    job: str
    hold: str | None


class JobRanked(NamedTuple):
    """A job has another priority."""

    job: str
    priority: int


class JobMoved(NamedTuple):
    """A job belongs to another leaf."""

    job: str
    consumer: str


class JobResized(NamedTuple):
    """A job has more tasks, or another number of tasks that begin together or not at all.

    tasks : how many it has, those that are over among them
    """

    job: str
    tasks: int
    min_count: int


class TaskDropped(NamedTuple):
    """A task of a job is dropped: it waits no more, or will not wait again when its attempt is over."""

    job: str
    task: int


class JobFreed(NamedTuple):
    """A job that the second one waited for has ended as required."""

    job: str
    dependent: str


class JobEnded(NamedTuple):
    """A job has no waiting or running task left; state: done, failed or cancelled."""

    job: str
    state: str


class Started(NamedTuple):
    """An attempt holds units from now on; places: (host, units).

    pool    : of a unit of a vector, its pool: `own`, `/` or a path; lenders: paths of the owners of what it uses
    devices : numbers of the GPUs of its host that it has exclusively
    parts   : of one with several owners: (path of the owner, `/` = nobody, resource, amount in declared units)
    """

    attempt: int
    job: str
    task: int
    number: int
    places: tuple[tuple[str, int], ...]
    pool: str = ""
    lenders: tuple[str, ...] = ()
    devices: tuple[int, ...] = ()
    parts: tuple[tuple[str, str, str], ...] = ()


class AttemptNumbersTaken(NamedTuple):
    """A machine has started attempts up to this number that the log does not know: it was restored from a copy."""

    last: int


class Running(NamedTuple):
    """The command of an attempt runs."""

    attempt: int


class Noticed(NamedTuple):
    """The units of an attempt are to be given back.

    cycle : number of the cycle that decided it; job: for a unit of a vector, the job that gets it, empty = none
    rule  : id of the rule that reclaims it, empty = that of its reason
    """

    attempt: int
    deadline: int
    reason: str
    taker: str
    cycle: int = 0
    job: str = ""
    rule: str = ""


class Drained(NamedTuple):
    """An attempt has to leave its host, which is being drained."""

    attempt: int
    deadline: int


class Withdrawn(NamedTuple):
    """A notice was withdrawn."""

    attempt: int


class Undrained(NamedTuple):
    """An attempt need not leave its host after all."""

    attempt: int


class Stopping(NamedTuple):
    """An attempt was told to stop; reason as in `Stop`."""

    attempt: int
    reason: str


class Ended(NamedTuple):
    """An attempt has ended and its units are free.

    then : done, failed, cancelled; again: its task waits at the front; later: it is retried at `instant`
    reason, code, signal, detail, cpu, peak : as in `Exit`
    """

    attempt: int
    then: str
    instant: int
    reason: str
    code: int
    signal: int
    detail: str
    cpu: int
    peak: int


class Ready(NamedTuple):
    """The time to retry a task has come."""

    job: str
    task: int


class HostSet(NamedTuple):
    """The number of slots of a host of a group, and whether it is up."""

    resource_group: str
    host: str
    slots: int
    is_up: bool


class MachineSeen(NamedTuple):
    """The agent of a machine is connected; boot: identity of the machine's start, spool: of the agent's memory."""

    machine: str
    boot: str
    spool: str = ""
    labels: tuple[str, ...] = ()


class MachineMissed(NamedTuple):
    """The agent of a machine is not connected; what runs there is unknown."""

    machine: str


class MachineShut(NamedTuple):
    """A machine is closed for a reason in words: it starts nothing more; or it is opened (None).

    try_at : instant at which it is opened automatically, 0 = only an operator opens it
    pauses : how often in a row it was closed because it could not start anything
    drains : attempts that hold units there have to leave
    """

    machine: str
    reason: str | None
    try_at: int = 0
    pauses: int = 0
    drains: bool = False


class MachineRefused(NamedTuple):
    """A machine could not start an attempt, for a fault of its own."""

    machine: str


class Paused(NamedTuple):
    """What is paused in a resource group."""

    resource_group: str
    grants: bool
    reclaims: bool


class WindowOpened(NamedTuple):
    """Other policy entries are in force in a resource group; entries: their positions in the plan."""

    resource_group: str
    entries: tuple[int, ...]


class BudgetsSpent(NamedTuple):
    """The consumers of a resource group whose budgets are used up; consumers: paths of all of them."""

    resource_group: str
    consumers: tuple[str, ...]


class BudgetsWarned(NamedTuple):
    """The consumers of a resource group that have used so much of their budgets that people are told; paths of all."""

    resource_group: str
    consumers: tuple[str, ...]


class Pinned(NamedTuple):
    """The notice of an attempt counts for a switch of windows: it can no longer be withdrawn."""

    attempt: int


class LoansCounted(NamedTuple):
    """The loans changed; loans: path of the borrower, of the lender, units."""

    resource_group: str
    loans: tuple[tuple[str, str, int], ...]


class ShortagesCounted(NamedTuple):
    """The deficits changed; shortages: path of the leaf, since when, whether it reclaims them."""

    resource_group: str
    shortages: tuple[tuple[str, int, bool], ...]


class Kept(NamedTuple):
    """What is held for gangs that have waited too long; held: id of the gang's request, host, units."""

    resource_group: str
    held: tuple[tuple[str, str, int], ...]


class Rebooked(NamedTuple):
    """A unit of a vector is in another pool now, or on parcels of other owners; fields as in `Started`."""

    attempt: int
    pool: str
    lenders: tuple[str, ...]
    parts: tuple[tuple[str, str, str], ...] = ()


class OwnershipAdjusted(NamedTuple):
    """The ownership of parts of hosts changed.

    resources : names
    parcels   : host, path of the owner, its amount of each of them in the declared unit
    adjusted  : resource group, instant and result of its last adjustment, where the plan sets an interval
    entries   : host, path of the owner, position of one of its several entries, its amount of each resource
    """

    resources: tuple[str, ...]
    parcels: tuple[tuple[str, ...], ...]
    adjusted: tuple[tuple[str, int, str], ...] = ()
    entries: tuple[tuple[str, ...], ...] = ()


class MachineLapsed(NamedTuple):
    """A silent machine's lease has ended, so nothing runs there: until it reports, it counts as absent."""

    machine: str


class CycleRan(NamedTuple):
    """A cycle ran; cause: name of the first event since the one before."""

    number: int
    resource_group: str
    cause: str


Change = (
    JobAdded
    | JobDropped
    | HoldSet
    | JobRanked
    | JobMoved
    | JobResized
    | TaskDropped
    | JobFreed
    | JobEnded
    | Started
    | AttemptNumbersTaken
    | Running
    | Noticed
    | Drained
    | Withdrawn
    | Undrained
    | Stopping
    | Ended
    | Ready
    | HostSet
    | MachineSeen
    | MachineMissed
    | MachineShut
    | MachineRefused
    | Paused
    | WindowOpened
    | BudgetsSpent
    | BudgetsWarned
    | Pinned
    | LoansCounted
    | ShortagesCounted
    | Kept
    | Rebooked
    | OwnershipAdjusted
    | MachineLapsed
    | CycleRan
)
KINDS: dict[str, type[Change]] = {kind.__name__: kind for kind in get_args(Change)}
"""By name, as a log calls them."""
