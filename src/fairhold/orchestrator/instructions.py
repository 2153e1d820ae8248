"""What the orchestrator tells its driver to do."""

from __future__ import annotations

from typing import NamedTuple


class Start(NamedTuple):
    """Run a task.

    attempt : number of this attempt in the whole run, from 1; names it in every later instruction and event
    index   : number of the task in its job, from 0
    number  : which attempt of this task it is, from 1
    host    : where it runs; empty where the group is a plain number of slots
    units   : its slots
    places  : (host, units) of all its slots, where they are on more than one host; it runs on the first
    longest : microseconds that it may run by the plan, 0 = any time; its job may allow less
    devices : numbers of the GPUs on its host that it may use; None = GPUs have no numbers there
    cpu     : thousandths of a core that it may use, 0 = no limit
    memory  : bytes that it may use by its unit, 0 = no limit; its job may allow less
    """

    attempt: int
    job: str
    index: int  # type: ignore[assignment]  # hides a method of tuples that nobody calls
    number: int
    resource_group: str
    host: str
    units: int = 1
    places: tuple[tuple[str, int], ...] = ()
    longest: int = 0
    devices: tuple[int, ...] | None = None
    cpu: int = 0
    memory: int = 0


class Notify(NamedTuple):
    """Tell a running attempt that its slot is reclaimed.

    deadline : instant at which it will be stopped
    reason   : one of model.state.REASONS
    taker    : path of the leaf that gets the slot, empty = none
    cycle    : number of the cycle that gave the notice, 0 = none: its host is being drained
    job      : for a unit of a vector, the job that gets it; empty = none
    """

    attempt: int
    deadline: int
    reason: str
    taker: str
    cycle: int = 0
    job: str = ""


class Withdraw(NamedTuple):
    """The notice is withdrawn; the attempt may continue."""

    attempt: int


class Stop(NamedTuple):
    """Stop an attempt now.

    reason : reclaim (its grace is over), cancel, requeue, host_lost (another host of its gang is lost), or stray: it is
        not known here and must not run
    machine : of a stray, where it is
    """

    attempt: int
    reason: str = "reclaim"
    machine: str = ""


class Forget(NamedTuple):
    """The end of an attempt is recorded; the machine may delete its files."""

    attempt: int
    machine: str


class JobOver(NamedTuple):
    """A job has no task left that waits or runs."""

    job: str


class WakeAt(NamedTuple):
    """Send `Woken` at this instant or soon after; a later one replaces an earlier."""

    instant: int


Instruction = Start | Notify | Withdraw | Stop | Forget | JobOver | WakeAt
