"""Answers about jobs and their tasks."""

from typing import Any, Literal

from pydantic import Field

from fairhold.service.models.answers import Answer, Budget, Instant


class After(Answer):
    """A job that another waits for."""

    job: str
    on: str


class Counts(Answer):
    """How many tasks of a job are where; `reclaimed` counts attempts."""

    tasks: int
    waiting: int
    delayed: int
    running: int
    done: int
    failed: int
    cancelled: int
    reclaimed: int


class Expected(Answer):
    """When a task that waits will start, as far as can be told; `place`: in the line of its leaf, from 1."""

    place: int | None
    p50: Instant | None
    p90: Instant | None
    why: str = Field(description="Why no start is told; empty: it is.")
    at: Instant | None = Field(description="When this was worked out.")
    draws: int


class BudgetOver(Budget):
    """A budget that a job's use counts for."""

    consumer: str


class JobRow(Answer):
    """A job in a list."""

    job: str
    name: str
    consumer: str
    resource_group: str
    user: str
    state: Literal["waiting", "blocked", "held", "running", "done", "failed", "cancelled"]
    reason: str | None = Field(
        description="Why it waits, or can never start. Null in the answer to a submit: only a cycle can tell."
    )
    text: str
    priority: int
    units: int
    unit: dict[str, str] | None = Field(description="What each task needs of resources; null: slots.")
    min_count: int = Field(description="Tasks that begin together or not at all; 0: each by itself.")
    preemptible: bool = Field(
        description="Whether its units may be reclaimed for others; false only in a queue of `fair_share`."
    )
    tasks: Counts
    submitted: Instant
    ended: Instant | None
    labels: dict[str, str]
    hold: str | None
    after: list[After]
    throttle: int
    retries: int
    need: list[str]
    prefer: list[str]
    avoid: list[str]
    place: Literal["spread", "pack"] | None
    exit_code: int | None
    expected: Expected | None = Field(None, description="Where it is asked for, while a task waits.")


class Job(JobRow):
    """A job; null where its command is not known any more."""

    argv: list[str] | None
    directory: str | None
    time_limit: float | None = Field(description="Seconds; null: none.")
    memory: int | None = Field(description="Bytes; null: as much as there is.")
    budgets: list[BudgetOver] = Field(
        default=[], description="Of its consumer and those above, while it has not ended."
    )


class Accepted(Answer):
    """What a job would ask for that would be accepted."""

    resource_group: str
    tasks: int
    units: int
    unit: dict[str, str] | None


class Jobs(Answer):
    """A page of jobs."""

    jobs: list[JobRow]
    next: str | None
    others: int | None = Field(
        description="On the first page: jobs of consumers that are not seen; null: all are seen, or nothing is told."
    )


class Attempt(Answer):
    """One attempt of a task."""

    attempt: int
    number: int
    host: str
    units: int
    state: str
    reason: str | None
    code: int | None
    signal: int | None
    detail: str
    started: Instant | None
    ended: Instant | None
    deadline: Instant | None
    for_: str | None = Field(alias="for")


class Task(Answer):
    """A task with its attempts; or, with `through`, tasks from one index through another that are alike."""

    task: int
    state: str
    attempts: list[Attempt]
    through: int | None = None
    until: Instant | None = Field(None, description="When a delayed task is tried again.")


class Tasks(Answer):
    """A page of tasks."""

    tasks: list[Task]
    next: str | None


class LeafNumbers(Answer):
    """What the leaf of a job is entitled to and has."""

    consumer: str
    resource_group: str
    quota: int
    allocated: int
    demand: int
    limit: int | None
    owned: int = Field(description="Whole slots of those that there are now.")
    owned_in_plan: int


class Bound(Answer):
    """What holds the quota of a consumer where it is; `exact` is a fraction."""

    consumer: str
    bound: str
    rule: str
    quota: int
    exact: str
    allocated: int


class Holder(Answer):
    """Another leaf that has units."""

    consumer: str
    units: int
    quota: int | None = Field(description="Null: with resources of hosts a leaf has no quota of units.")
    reclaiming: int
    deadline: Instant | None


class Notice(Answer):
    """Units on their way to the leaf."""

    consumer: str
    attempt: int
    units: int
    for_: str | None = Field(alias="for")
    deadline: Instant


class Reclaim(Answer):
    """An attempt of the job that was, or is, under notice."""

    attempt: int
    task: int
    number: int = Field(description="Of the attempt in its task, from 1.")
    cycle: int | None
    rule: str | None
    reason: str
    why: str | None = Field(description="The reason given when its host was drained.")
    for_: str | None = Field(alias="for")
    at: Instant
    deadline: Instant
    ended: Instant | None
    end: str | None


class JobExplanation(Answer):
    """Why a job waits, and what was taken from it; `place`: tasks of its leaf that are served before."""

    job: str
    state: str
    reason: str | None
    text: str
    place: int | None
    leaf: LeafNumbers | None
    bound: str | None
    bounds: list[Bound]
    holders: list[Holder]
    notices: list[Notice]
    request: dict[str, Any] | None = Field(
        description="Of units of resources of hosts: what `explain --json` says of a request, by the next cycle."
    )
    reclaims: list[Reclaim]


class RunTimes(Answer):
    """Where the run times of a consumer are drawn from; `from` null: none of its tasks is over yet."""

    consumer: str
    from_: str | None = Field(alias="from")
    tasks: int


class Never(Answer):
    """Why a job cannot start, whatever ends."""

    code: str
    text: str


class Covered(Answer):
    """How many of these forecasts came true: jobs that began by the forecast instant; `share` in millionths."""

    told: int
    covered: int
    share: int


class Coverage(Answer):
    """The last back-test: forecasts at so many instants of a recorded run, and what came of them."""

    at: Instant
    instants: int
    forecasts: int
    draws: int
    seed: int
    p50: Covered
    p90: Covered


class Forecast(Answer):
    """When the next task of a job will start; `p50`, `p90` null: not within the horizon."""

    job: str
    waiting: int = Field(description="Tasks of it that wait now; the first of them is forecast.")
    started: int = Field(description="Tasks of it that run or are over.")
    at: Instant
    p50: Instant | None
    p90: Instant | None
    horizon: Instant
    draws: int
    begun: int = Field(description="Draws in which it began within the horizon.")
    seed: int
    tasks: int = Field(description="Finished tasks that run times are drawn from.")
    run_times: list[RunTimes]
    never: Never | None
    assumptions: list[str]
    coverage: Coverage | None


class TaskFile(Answer):
    """What lies in the job directory of a task."""

    name: str
    kind: Literal["file", "folder", "other"]
    size: int = Field(description="Bytes.")
    modified: Instant


class TaskFiles(Answer):
    """What a task has left in its job directory, or in a folder of it."""

    job: str
    task: int
    attempt: int
    host: str
    path: str
    files: list[TaskFile]
    next: str | None = Field(description="Of the next page; null: there is none.")
