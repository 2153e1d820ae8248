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


class Pods(Answer):
    """The first pods by namespace and name; so many more there are."""

    pods: list[Pod]
    left_out: int
