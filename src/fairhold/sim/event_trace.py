"""A recorded run: what came from outside to a live cluster, in order: requests of users, machines, run times.

Given to the orchestrator again at the same instants, it decides the same; given to it under another plan, it shows what
would have been.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Began:
    """An attempt began; what is decided is not played again, but lengths count from here."""

    attempt: int
    job: str
    task: int
    number: int


@dataclass(frozen=True, slots=True)
class Cycled:
    """Cycles ran in these resource groups."""

    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replanned:
    """Another plan came into force.

    moved   : old path → new path; windows: resource group → positions of the entries in force
    """

    plan: Plan
    moved: Mapping[str, str]
    windows: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class NodesChanged:
    """Nodes of the cluster came, changed or went (None): the plan's hosts are others.

    windows : as in `Replanned`
    """

    nodes: Mapping[str, Node | None]
    windows: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ServiceClosing:
    """The service was about to end: from now on it granted nothing."""


@dataclass(frozen=True, slots=True)
class ServiceStarted:
    """The service began again, from its log."""


class Line(NamedTuple):
    """Something that happened.

    what         : an event of the orchestrator, or one of the classes above
    after_notice, after_stop : of the end of an attempt, microseconds since it was told to leave, and to stop; None = it
                               was not
    """

    at: int
    what: Any
    after_notice: int | None = None
    after_stop: int | None = None


@dataclass(frozen=True, slots=True)
class EventTrace:
    """All of it.

    own     : name of the host that was the service's own machine
    begin, end : instants
    state   : the cluster at the begin, from `orchestrator.freeze`; None = there was nothing
    lines   : in order
    decided : what was written down, as `sim.log` writes it; empty = not known
    has_cycles : whether it is known when cycles ran; else they run when they are due
    quotas  : resource group → (rows,) those of the last cycle before the begin, as far as they still counted by then
    nodes   : of the cluster at the begin, by name
    is_observing : others decided, and their decisions were looked at: whatever ran had been started by them
    """

    own: str
    begin: int
    end: int
    state: Mapping[str, Any] | None
    lines: tuple[Line, ...]
    decided: tuple[str, ...] = ()
    has_cycles: bool = True
    quotas: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    is_observing: bool = False
