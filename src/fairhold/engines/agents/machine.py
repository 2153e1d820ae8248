"""A machine in the connection thread: its agent, and starts that wait to be sent."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.engines.agents.link import Link
    from fairhold.engines.agents.pace import Pace
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.instructions import Notify, Start


class MachineStatus(NamedTuple):
    """The status of a machine, as shown to users.

    machine : its name, empty = the service's own
    host    : what its agent calls it; empty where none was ever connected
    since   : instant since which it is connected, or silent
    version : of the agent
    slots   : how many the agent offers
    waiting : starts that wait for the limit of starts a second, or for an agent that is slow to read
    beat    : instant of the last beat, 0 = none
    enforced : limits that the kernel keeps there; None = its agent has not said
    gone_at : instant at which its lease was over while it was silent, 0 = it was not
    """

    machine: str
    is_connected: bool
    since: int
    host: str = ""
    version: str = ""
    slots: int = 0
    waiting: int = 0
    beat: int = 0
    enforced: tuple[str, ...] | None = None
    gone_at: int = 0


@dataclass(slots=True)
class Waiting:
    """A start that was not sent yet, and the notice that came meanwhile."""

    start: Start
    spec: Spec
    notice: Notify | None = None


@dataclass(slots=True)
class Machine:
    """A machine that was connected at least once, or is awaited since the service started.

    spool    : identity of where its agent keeps its attempts
    is_bound : something may run there while it is silent, of which only that spool can tell the end
    enforced : limits that the kernel keeps there; missing : those that people were told are not
    gone_at : as of its status
    """

    name: str
    pace: Pace
    since: int
    link: Link | None = None
    host: str = ""
    version: str = ""
    slots: int = 0
    beat: int = 0
    spool: str = ""
    is_bound: bool = False
    enforced: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    gone_at: int = 0
    waiting: dict[int, Waiting] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)

    def put(self, start: Start, spec: Spec) -> None:
        """Let a start wait; one that waits already goes on waiting."""
        if start.attempt not in self.waiting:
            self.waiting[start.attempt] = Waiting(start, spec)
            heapq.heappush(self._order, start.attempt)

    def next_start(self) -> Waiting:
        """The one of the lowest number, taken out (docs/attempts.md, rule 1); something must wait."""
        while True:
            waiting = self.waiting.pop(heapq.heappop(self._order), None)
            if waiting:  # else it was stopped meanwhile
                return waiting

    def drop_waiting(self) -> None:
        """The connection broke: what was not sent is ordered again when the agent is back."""
        self.waiting.clear()
        self._order.clear()

    def status(self) -> MachineStatus:
        """For people."""
        return MachineStatus(
            self.name,
            self.link is not None,
            self.since,
            self.host,
            self.version,
            self.slots,
            len(self.waiting),
            self.beat,
            self.enforced,
            self.gone_at,
        )
