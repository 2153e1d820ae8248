"""What can happen to the orchestrator. Instants are arguments of `handle`, not parts of an event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How an attempt ended."""

    FINISHED = "finished"
    """It did its work."""
    FAILED = "failed"
    """It ended by itself, or could not be started, without doing its work."""
    STOPPED = "stopped"
    """It was stopped on the orchestrator's instruction."""


@dataclass(frozen=True, slots=True)
class HostJoined:
    """A host is up with so many slots; also after it was lost."""

    resource_group: str
    host: str
    slots: int


@dataclass(frozen=True, slots=True)
class HostLost:
    """A host is down; what ran there is reported by `TaskEnded`, one attempt after another."""

    resource_group: str
    host: str


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    """A leaf wants `count` tasks run, one slot each.

    job      : unique name
    consumer : path of the leaf
    priority : inside the leaf, larger first
    """

    job: str
    consumer: str
    resource_group: str
    count: int
    priority: int = 0


@dataclass(frozen=True, slots=True)
class JobCancelled:
    """What of a job waits is dropped, what runs is stopped."""

    job: str


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """An attempt is over; its slot is free."""

    attempt: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Woken:
    """An instant that `WakeAt` asked for has come."""


Event = HostJoined | HostLost | JobSubmitted | JobCancelled | TaskEnded | Woken
