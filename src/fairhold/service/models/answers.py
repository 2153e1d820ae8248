"""Answers, as the OpenAPI document promises them.

Handlers answer with documents that the views make; tests hold these models against what is really answered.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Instant = str
"""ISO 8601 in UTC, to the microsecond: `2026-01-05T09:00:00.123456Z`."""


class Answer(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")


class Fault(Answer):
    """One thing that is wrong."""

    code: str
    what: str
    mend: str = Field(min_length=1)
    file: str
    line: int
    place: str


class Problem(Answer):
    """What went wrong (RFC 9457); `code` is that of the first fault."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    faults: list[Fault]


class Budget(Answer):
    """What a consumer may use in a period, and what it has used."""

    unit_hours: int | None = Field(description="Null under policies of vectors.")
    hours: dict[str, str] = Field(description="By resource, or `dominant_share`; empty under policies of slots.")
    period: Literal["day", "week", "month"]
    then: Literal["wait", "borrow_only", "lowest_rank"]
    unit_seconds: str | None = Field(description="Used since the period began, exact.")
    seconds: dict[str, str] = Field(description="The same of what `hours` has.")
    begins: Instant
    ends: Instant
    used_up: bool
    used: str = Field(description="Part of it that is used; of several resources the largest part.")
    warned: bool = Field(description="80 % are used.")
    lasts_until: Instant | None = Field(description="Used up then, at the mean rate of the period so far.")
    at_this_rate: Instant | None = Field(description="Used up then, at the rate of now.")


class Amounts(Answer):
    """What a consumer and those below it have of resources now: name → amount, exact; nothing is said of 0."""

    owned: dict[str, float | str] = Field(description="Of hosts, or deserved as a queue.")
    allocated: dict[str, float | str]
    borrowed: dict[str, float | str] = Field(description="Allocated beyond owned.")
    lent: dict[str, float | str] = Field(description="Owned and allocated by others.")
    waiting: dict[str, float | str]
    reclaiming: dict[str, float | str] = Field(description="Part of allocated that is under notice.")
    entitled: dict[str, float | str] = Field(description="Fair share of a queue; else quotas of its leaves.")


class Share(Answer):
    """What there is of a resource, and what is used of it."""

    total: float | str
    used: float | str


class Owner(Answer):
    """What of a host a consumer owns and those below it do not."""

    consumer: str
    amounts: dict[str, float | str]


class QueueResource(Answer):
    """How a queue stands in one resource, in declared units; null: as much as there is."""

    fair_share: float | str
    deserved: float | str | None
    limit: float | str | None
    requested: float | str
    allocated: float | str
    saturation: str = Field(description="Allocated / fair share, as `5/4`; `unbounded` where the fair share is 0.")
    usage: float | str | None = Field(description="Decayed history, part of what there was; null: it does not count.")


class Queue(Answer):
    """How a queue of `fair_share` stands, by resource."""

    resource_groups: list[str]
    resources: dict[str, QueueResource]
    usage_from: Instant | None = Field(description="Begin of the history that counts, at the earliest.")
    usage_to: Instant | None = Field(description="End of the history that counts.")


class Consumer(Answer):
    """A consumer; a parent's numbers are the sums of its leaves', but for what it owns, borrows, lends and may have."""

    path: str
    leaf: bool
    rank: int
    owned: int = Field(description="Slots; of resources see `amounts`.")
    reserved: int
    limit: int | None
    quota: int = Field(description="Slots that it is entitled to.")
    demand: int
    allocated: int
    borrowed: int
    lent: int
    reclaiming: int = Field(description="Units under notice.")
    coming: int = Field(description="Units under notice that are on their way to it.")
    running: int = Field(description="Attempts.")
    waiting: int
    users: dict[str, int]
    user_limit: int | None = Field(description="Units that one user may hold in a leaf; null: any number.")
    budget: Budget | None
    amounts: Amounts | None = Field(description="Amounts of resources of hosts; null: it has slots.")
    queue: Queue | None = Field(description="Of `fair_share`; null: it is not a queue now.")


class Pauses(Answer):
    """What is paused."""

    grants: bool
    reclaims: bool


class NotUp(Answer):
    """Hosts that are not up, for one reason and since one instant."""

    state: Literal["unseen", "connecting", "silent", "down", "closed"]
    since: Instant | None = Field(description="Null: not known, or it was never up.")
    hosts: list[str]


class Presence(Answer):
    """How many hosts are up; what is not up counts with what is booked on it."""

    up: int
    all: int
    not_up: list[NotUp]


class Group(Answer):
    """A resource group; parents stand before their children."""

    slots: int
    idle: int
    resources: dict[str, Share] | None = Field(description="Of hosts; then `slots` are units that run. Null: slots.")
    paused: Pauses
    hosts: Presence | None = Field(description="Null: the plan names none of its hosts.")
    consumers: list[Consumer]


class Consumers(Answer):
    """All consumers, live; or, where `since` is not null, those that differ from that version."""

    version: int | None = Field(description="Of what is told; null: `since` was not asked for, or he does not see all.")
    since: int | None
    resource_groups: dict[str, Group]


class Events(Answer):
    """A page of the log; `next` is the number to go on behind."""

    events: list[dict[str, Any]]
    next: int


class Snapshot(Answer):
    """The state at entry `seq` of the log; all null where none is kept. What `state` holds may differ by version."""

    seq: int | None
    at: Instant | None
    state: dict[str, Any] | None


class Agent(Answer):
    """A machine's agent; `machine` is empty for the service's own."""

    machine: str
    host: str
    connected: bool
    since: Instant
    version: str
    slots: int
    waiting: int
    beat: Instant | None


class Health(Answer):
    """The state of the service."""

    state: Literal["ok", "trouble", "stopping"]
    role: Literal["leader"] = Field(description="A service that stands by answers `standby`, and little else.")
    term: int = Field(description="Counts services that have led the store; 0 = no other can.")
    leader: str = Field(description="Address of the one that leads: this one.")
    trouble: str | None
    version: str
    plan: int
    entries: int
    started: Instant
    uptime: float
    agents: list[Agent]


class Stop(Answer):
    """How the service stops."""

    how: Literal["leave", "drain", "kill", "failover"]


class Paused(Answer):
    """What is paused in a resource group."""

    resource_group: str
    grants: bool
    reclaims: bool


class ConsumerExplanation(Answer):
    """As `fairhold explain --json`, for each resource group, and in words."""

    explanations: list[dict[str, Any]]
    text: str


class CycleRow(Answer):
    """A cycle."""

    number: int
    at: Instant
    resource_group: str
    cause: str
    seconds: float
    granted: int
    reclaimed: int
    withdrawn: int
    idle: int
    observed: int = 0


class Cycles(Answer):
    """A page of cycles, the latest first."""

    cycles: list[CycleRow]


class CycleDetail(CycleRow):
    """A cycle with its quotas and decisions; null where they are not kept."""

    document: dict[str, Any] | None


class Allocation(Answer):
    """An attempt that holds units."""

    attempt: int
    job: str
    task: int
    number: int
    consumer: str
    resource_group: str
    user: str
    host: str
    units: int
    unit: dict[str, str] | None = Field(description="What it has of resources; null: slots.")
    pool: str | None = Field(description="What a unit of resources was placed in: `own`, `/` or a path.")
    lenders: list[str] = Field(description="Consumers other than its leaf that own what the unit uses.")
    devices: list[int] = Field(description="Numbers of the host's GPUs that only this attempt uses.")
    started: Instant
    state: str
    deadline: Instant | None
    for_: str | None = Field(alias="for")


class Allocations(Answer):
    """All attempts that hold units."""

    allocations: list[Allocation]


class Host(Answer):
    """A host."""

    host: str
    machine: str
    resource_groups: dict[str, int]
    resources: dict[str, Share] | None = Field(description="By name; null: it has slots.")
    owners: list[Owner] | None = Field(description="Who owns what of its resources; null: it has slots.")
    labels: list[str] = Field(description="What jobs can ask for of it: `name=value` or `name`.")
    state: Literal["up", "down", "closed", "draining", "connecting", "silent", "gone", "unseen", "unknown"] = Field(
        description="`unseen`: its agent was never connected; `connecting`: it was, before a restart just now."
    )
    reason: str | None
    connected: bool
    silent_since: Instant | None = Field(
        description="Since when its agent is not connected; null: it is connected, or never was."
    )
    gone_at: Instant | None = Field(
        description="When its lease ended, if it is silent: none of its tasks runs since then."
    )
    running: int
    starting: int
    queued: int = Field(description="Those of `starting` that wait for the limit of starts per second.")
    enforced: dict[str, Literal["kernel", "sampled", "none"]] | None = Field(
        description="What keeps the `memory` and `cpu` of a task within its unit, where the plan shares them."
    )
    refusals: int = Field(description="Attempts in a row that it could not start.")
    closing: bool = Field(description="It is planned to close.")
    close_at: Instant | None = Field(description="That instant.")
    open_at: Instant | None = Field(description="When it opens automatically; null: when it is opened by hand.")
    empty_by: Instant | None = Field(description="The latest deadline of the units under notice there; null: none.")


class Hosts(Answer):
    """All hosts."""

    hosts: list[Host]
