"""Bodies of requests. Unknown keys are refused, and a number in quotes is not a number."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fairhold.model.spec import TERM
from fairhold.service.fields import (
    MOST,
    Amount,
    Command,
    ConsumerPath,
    Directory,
    Duration,
    Events,
    GroupName,
    HostLabels,
    Instant,
    JobName,
    Label,
    Memory,
    Plain,
    Positive,
    Priority,
    ResourceName,
    Shown,
    Signal,
    Span,
    Stdin,
    Text,
    User,
    Variable,
    Whole,
)
from fairhold.units import SECOND

AHEAD = 7 * 24 * 3600 * SECOND
"""How far the coming windows are looked at where nobody says it."""


class Body(BaseModel):
    """A body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class After(Body):
    """A job that another waits for, and how it has to end."""

    job: JobName
    on: Literal["ok", "fail", "any"] = "ok"


class SubmitBody(Body):
    """A job to be run."""

    consumer: ConsumerPath = Field(description="Path of the leaf that it belongs to.")
    argv: Command = Field(
        description="The command, run without a shell; `{index}` stands for the number of the task, from 0."
    )
    resource_group: GroupName | None = Field(None, description="May be left out where the plan shares only one.")
    name: Shown = ""
    count: Annotated[int, Field(ge=1)] = Field(1, description="Tasks; at most as many as the limit `tasks` says.")
    units: Positive = Field(1, description="Slots that each task needs, all at once.")
    unit: dict[ResourceName, Amount] | None = Field(
        None, description="What each task needs of resources of one host, in the units that the plan declares."
    )
    min_count: Whole = Field(0, description="With `unit`: tasks that begin together or not at all.")
    preemptible: bool | None = Field(
        None,
        description="In a queue of `fair_share`: whether its units may be reclaimed; default: below priority 100.",
    )
    throttle: Whole = Field(0, description="How many of its tasks may run at once; 0 = any number.")
    priority: Priority = 0
    time_limit: Duration = Field(0, description="Longest run time of an attempt; 0 = no limit.")
    memory: Memory = Field(0, description="Bytes that an attempt may use; 0 = as much as there is.")
    environment: dict[Variable, Plain] = Field(default_factory=dict, description="The whole environment.")
    directory: Directory = "/"
    stdin: Stdin = b""
    hold: bool = False
    after: list[After] = Field(default_factory=list)
    retries: Annotated[int, Field(ge=0, le=1_000)] = 0
    backoff: Duration = Field(
        10_000_000, description="Delay before the first retry; it doubles with each retry, up to 1h."
    )
    signal: Signal = Field(TERM, description="Signal that tells a task of a reclaim or another stop.")
    lead: Duration = Field(0, description="How long before the deadline it is sent; 0 = at once.")
    labels: dict[Label, Shown] = Field(default_factory=dict)
    need: HostLabels = Field(default_factory=list, description="Labels `name` or `name=value` that a host must have.")
    prefer: HostLabels = Field(default_factory=list, description="Hosts that have most of these labels come first.")
    avoid: HostLabels = Field(default_factory=list, description="Labels of which a host must have none.")
    place: Literal["spread", "pack"] | None = Field(
        None, description="Whether units go on different hosts or side by side; of a task that packs all on one host."
    )
    user: User | None = Field(None, description="Owner of the job; default: the caller.")
    notify: Events | None = Field(None, description="Of what its owner is told; default: as he said of all his jobs.")


class HoldBody(Body):
    """Why a job is held."""

    reason: Shown = ""


class ChangeBody(Body):
    """What is to be different of a job; what is left out stays."""

    priority: Priority | None = None
    consumer: ConsumerPath | None = None
    labels: dict[Label, Shown] | None = None


class CheckBody(Body):
    """A plan to be looked at."""

    text: Text


class DiffBody(CheckBody):
    """A plan to be compared with the one in force."""

    was: dict[ConsumerPath, ConsumerPath] = Field(
        default_factory=dict, description="New path → old path of consumers that the plan renames."
    )
    next: Span = Field(
        AHEAD,
        description="How far to look ahead.",
        json_schema_extra={"default": "7d"},
    )
    checkpoint: Span | None = Field(
        None, description="How often tasks save their state; null: a stopped task loses all its work."
    )


class DraftBody(Body):
    """Other numbers of the plan."""

    changes: Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=1_000)] = Field(
        default_factory=list, description="Made one after the other: `/Trading:owned=8`, `/Trading/FX:demand=5`."
    )


class ExploreBody(DraftBody):
    """Other numbers of the plan, or of what is wanted."""

    consumer: ConsumerPath | Literal[""] = Field("", description="Path whose explanations are wanted.")


class SimulateBody(Body):
    """What of the past is played again, and under which plan."""

    text: Text | None = Field(None, description="A plan; default: the one in force.")
    since: Instant | None = Field(None, description="Default: as far back as the log reaches.")
    until: Instant | None = Field(None, description="Default: now.")


class PlanBody(DiffBody):
    """A plan to be put in force."""

    comment: Shown = ""
    for_: Span | None = Field(
        None, alias="for", description="How long the plan is in force; then the previous plan is restored."
    )


class RevertBody(Body):
    """Which plan is to come back."""

    to: Annotated[int, Field(ge=1, le=MOST)] | None = Field(None, description="A version; default: the previous one.")
    comment: Shown = ""
    was: dict[ConsumerPath, ConsumerPath] = Field(default_factory=dict, description="As for a plan.")


class CloseBody(Body):
    """Why a host starts nothing more."""

    reason: Annotated[Shown, Field(min_length=1)] | None = Field(
        None, description="Shown to all users. With `drain`, default: the reason that it is already closed for."
    )
    drain: bool = Field(default=False, description="Also reclaim what runs there, with the graces of its holders.")
    at: Instant | None = Field(None, description="When it closes; default: now.")
    until: Instant | None = Field(None, description="When it opens again; default: when it is opened by hand.")
    by: Instant | None = Field(None, description="With `drain`: when the tasks that still run there are stopped.")


class PauseBody(Body):
    """What a resource group stops doing, or does again: what is true; both where neither is named."""

    grants: bool | None = None
    reclaims: bool | None = None


class StopBody(Body):
    """How the service stops."""

    how: Literal["leave", "drain", "kill", "failover"] = Field(
        "leave",
        description="leave: tasks run on; drain: it starts nothing more and waits for tasks; kill: it stops them; "
        "failover: a service that stands by takes over, and this one stands by.",
    )
