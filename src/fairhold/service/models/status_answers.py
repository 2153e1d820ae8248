"""What `GET /v1/status` and `GET /v1/state` answer."""

from typing import Any, Literal

from pydantic import Field

from fairhold.service.models.answers import Answer, CycleRow, Instant, Share
from fairhold.service.models.plan_answers import PlanHead


class ServiceStatus(Answer):
    """Which service it is, and how it is."""

    state: Literal["ok", "trouble", "stopping"]
    role: Literal["leader"]
    term: int = Field(description="Counts services that have led the store; 0 = no other can.")
    leader: str = Field(description="Address of the one that leads: this one.")
    trouble: str | None
    version: str
    address: str = Field(description="For clients by TCP.")
    directory: str = Field(description="State directory, with the store, tokens and outputs.")
    started: Instant
    uptime: float


class HostsOther(Answer):
    """Hosts that are not up, of one state; names that differ in a number alone are folded: `g[01-20]`."""

    state: str
    count: int
    hosts: list[str]


class Loan(Answer):
    """What a lender, `/` = nobody, lends a leaf: slots, or a resource in declared units, exact."""

    lender: str
    borrower: str
    resource: str
    units: int | float | str


class Loans(Answer):
    """Of a resource group."""

    pairs: list[Loan]


class Lending(Answer):
    """Pairs in which a consumer, or somebody below it, lends or borrows."""

    consumer: str
    resource_groups: dict[str, Loans]


class HostsStatus(Answer):
    """How many hosts there are, and which are not up."""

    all: int
    up: int
    others: list[HostsOther]


class GroupStatus(Answer):
    """What is used of a resource group: of slots, or of resources by name; the other one is null."""

    slots: Share | None
    resources: dict[str, Share] | None


class Oldest(Answer):
    """The job that was submitted first, of those of which tasks wait."""

    job: str
    consumer: str
    submitted: Instant


class WaitingStatus(Answer):
    """Tasks that would start if there were room."""

    tasks: int
    jobs: int
    oldest: Oldest | None


class ReclaimingStatus(Answer):
    """What is under notice."""

    attempts: int
    units: int
    next: Instant | None = Field(description="The next deadline.")


class Status(Answer):
    """The service in a few numbers."""

    service: ServiceStatus
    plan: PlanHead
    hosts: HostsStatus
    resource_groups: dict[str, GroupStatus]
    waiting: WaitingStatus
    reclaiming: ReclaimingStatus
    cycle: CycleRow | None = Field(description="The latest; null: none has run, or none is kept.")


class State(Answer):
    """The live state as a state file has it."""

    plan: int = Field(description="Version of the plan that it goes with.")
    plan_text: str | None = Field(
        description="That plan with all hosts as they are, where its own text does not say them; else null."
    )
    unsaid: list[str] = Field(description="What is true of the service but cannot be written in a state file.")
    state: dict[str, Any]
