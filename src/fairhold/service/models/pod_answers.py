"""What `GET /v1/pods` answers."""

from typing import Literal

from pydantic import Field

from fairhold.service.models.answers import Answer, Instant

State = Literal["waiting", "refused", "granted", "running", "notice", "stopping", "over"]


class Notice(Answer):
    """By when a pod has to go, why, and for whom."""

    deadline: Instant
    reason: str
    taker: str = Field(default="", description="Consumer; may be left out.")


class Action(Answer):
    """What would be done to a pod."""

    action: Literal["start", "notice", "stop"]
    namespace: str
    pod: str
    job: str
    task: int
    consumer: str
    node: str | None
    deadline: Instant | None
    taker: str | None
    reason: str | None


class Pod(Answer):
    """A pod of a governed namespace, and where it stands."""

    namespace: str
    pod: str
    uid: str
    state: State
    consumer: str | None = Field(description="Null: it was refused.")
    job: str | None
    task: int | None
    node: str | None = Field(description="That it was granted, or on which it is.")
    reason: str | None = Field(description="Word for why it waits, was refused or is stopped.")
    text: str
    notice: Notice | None
    would: Action | None = Field(description="Of a service that only observes.")


class Pods(Answer):
    """The first pods by namespace and name; so many more there are."""

    pods: list[Pod]
    left_out: int


class Running(Answer):
    """Of the pods that run, how many would run on, be told to go, and be stopped."""

    keep: int
    notice: int
    stop: int


class Waiting(Answer):
    """Of the pods that wait, how many would start, wait on, and not be accepted."""

    start: int
    wait: int
    refused: int


class Observed(Answer):
    """What would be done now, beside what the cluster does."""

    at: Instant
    running: Running
    waiting: Waiting
    actions: list[Action]
    left_out: int
