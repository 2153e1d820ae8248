"""A job: real work of one leaf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.siting import ANYWHERE
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.siting import Siting
    from fairhold.model.vector import Told


class Needed(NamedTuple):
    """A job that has to be over before another starts.

    job : name of a job of the same file, else the number of one of the service
    on  : ok, fail or any
    """

    job: str
    on: str = "ok"


@dataclass(frozen=True, slots=True)
class Job:
    """`count` tasks of one command.

    consumer    : row of the leaf
    argv        : the command, run without a shell; `{index}` stands for the task's number, from 0
    submit      : microseconds after the start of the run
    priority    : inside the leaf, larger first
    directory   : working directory, empty = the job file's
    environment : variables added to the caller's
    units       : slots that each task needs, all at once
    throttle    : how many tasks may run at once, 0 = any number
    after       : jobs that have to be over before
    retries     : how often a task that failed is tried again
    backoff     : microseconds before its first new try, twice as long before each later one, up to an hour
    hold        : whether it waits for a release
    time_limit  : microseconds that an attempt may run, 0 = any time
    memory      : bytes that an attempt may use, 0 = as much as there is
    stdin       : file that each task reads, empty = none
    signal      : name of the one that tells a task of a reclaim
    lead        : microseconds before the deadline at which it is sent, 0 = at once
    siting      : what it says of hosts
    unit        : what each task needs of resources; empty = slots. Then `resource_group` is empty, too
    min_count   : of those, tasks that begin together or not at all
    preemptible : of a queue, whether its units may be taken back for others; None = by its priority
    """

    name: str
    consumer: int
    resource_group: str
    argv: tuple[str, ...]
    count: int = 1
    submit: int = 0
    priority: int = 0
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    units: int = 1
    throttle: int = 0
    after: tuple[Needed, ...] = ()
    retries: int = 0
    backoff: int = 10 * SECOND
    hold: bool = False
    time_limit: int = 0
    memory: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    signal: str = "TERM"
    lead: int = 0
    siting: Siting = ANYWHERE
    unit: Told = ()
    min_count: int = 0
    preemptible: bool | None = None
