"""What the service answers, as values with types. `document` is the whole answer, also what later versions add.

Instants are `datetime`s in UTC, durations seconds; None where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.client.exchange import Document

_OVER = ("done", "failed", "cancelled")


def instant(value: str | None) -> datetime | None:
    """An instant of an answer."""
    return None if value is None else datetime.fromisoformat(value)


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    state     : waiting, blocked, held, running, done, failed or cancelled
    reason    : code that says why it waits, None = it does not; text: that in words
    tasks     : how many there are (`tasks`), and in each state
    exit_code : of its task; of several 0 where all are done, else 1; None = it is not over
    """

    name: str
    title: str
    consumer: str
    resource_group: str
    user: str
    state: str
    reason: str | None
    text: str
    priority: int
    units: int
    tasks: Mapping[str, int]
    labels: Mapping[str, str]
    submitted: datetime | None
    ended: datetime | None
    exit_code: int | None
    document: Document = field(repr=False, compare=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in _OVER

    @classmethod
    def of(cls, document: Document) -> Job:
        """From the service's document, in which `job` is its number and `name` what people call it."""
        return cls(
            name=document["job"],
            title=document.get("name") or "",
            consumer=document["consumer"],
            resource_group=document["resource_group"],
            user=document.get("user") or "",
            state=document["state"],
            reason=document.get("reason"),
            text=document.get("text") or "",
            priority=document.get("priority", 0),
            units=document.get("units", 1),
            tasks=document["tasks"],
            labels=document.get("labels") or {},
            submitted=instant(document.get("submitted")),
            ended=instant(document.get("ended")),
            exit_code=document.get("exit_code"),
            document=document,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of a task.

    number : from 1, of this task
    reason : why it ended (finished, reclaim, time limit, …), None = it has not
    code   : exit code; signal: that ended it
    """

    number: int
    state: str
    host: str
    units: int
    reason: str | None
    code: int | None
    signal: int | None
    started: datetime | None
    ended: datetime | None
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Attempt:
        """From the service's document."""
        return cls(
            number=document["number"],
            state=document["state"],
            host=document.get("host") or "",
            units=document.get("units", 1),
            reason=document.get("reason"),
            code=document.get("code"),
            signal=document.get("signal"),
            started=instant(document.get("started")),
            ended=instant(document.get("ended")),
            document=document,
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a job, from 0, with its attempts, the latest last.

    through : index of the last of tasks that are alike and have no attempt, which stand as one; else its own index
    """

    index: int
    state: str
    attempts: tuple[Attempt, ...]
    through: int

    @classmethod
    def of(cls, document: Document) -> Task:
        """From the service's document."""
        attempts = tuple(map(Attempt.of, document.get("attempts", ())))
        index = int(document["task"])
        return cls(index, document["state"], attempts, int(document.get("through", index)))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a task: how its last attempt ended, and the whole output of that attempt.

    state : done, failed, cancelled
    """

    index: int
    state: str
    code: int | None
    output: bytes

    @property
    def text(self) -> str:
        """The output as text; bytes that are not UTF-8 are replaced."""
        return self.output.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer in a resource group, in units. limit: None = none."""

    path: str
    resource_group: str
    is_leaf: bool
    owned: int
    limit: int | None
    demand: int
    allocated: int
    quota: int
    borrowed: int
    lent: int
    waiting: int
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document, group: str) -> Consumer:
        """From the service's document."""
        names = ("owned", "demand", "allocated", "quota", "borrowed", "lent", "waiting")
        numbers = {name: int(document.get(name, 0)) for name in names}
        return cls(
            path=document["path"],
            resource_group=group,
            is_leaf=bool(document.get("leaf")),
            limit=document.get("limit"),
            document=document,
            **numbers,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A version of the plan. text: None where a list leaves it out; until: when the one before comes back."""

    version: int
    at: datetime | None
    author: str
    comment: str
    until: datetime | None
    text: str | None

    @classmethod
    def of(cls, document: Document) -> Plan:
        """From the service's document."""
        return cls(
            document["version"],
            instant(document.get("at")),
            document.get("author") or "",
            document.get("comment") or "",
            instant(document.get("until")),
            document.get("text"),
        )


@dataclass(frozen=True, slots=True)
class File:
    """What lies in the job directory of a task. kind: file, folder or other; size: bytes."""

    name: str
    kind: str
    size: int
    modified: datetime | None

    @classmethod
    def of(cls, document: Document) -> File:
        """From the service's document."""
        return cls(document["name"], document["kind"], document["size"], instant(document["modified"]))


@dataclass(frozen=True, slots=True)
class Host:
    """A host. state: up, closed, draining, silent, gone, or unknown to the plan; reason: of a closed one."""

    name: str
    state: str
    reason: str
    slots: Mapping[str, int]
    running: int
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Host:
        """From the service's document."""
        return cls(
            document["host"],
            document["state"],
            document.get("reason") or "",
            document.get("resource_groups") or {},
            document.get("running", 0),
            document,
        )
