"""Finds the connection for an instruction.

An agent gets instructions only after the orchestrator has received its inventory, not as soon as it has connected:
earlier decisions are repeated then, and would otherwise arrive too late or twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import MachineGone, MachineReported, MachineSilent, TaskEnded
from fairhold.orchestrator.instructions import Forget, Start, Stop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.engines.agents.link import Link
    from fairhold.orchestrator.events import TaskRunning
    from fairhold.orchestrator.instructions import Notify, Withdraw

    Report = MachineReported | MachineSilent | MachineGone | TaskRunning | TaskEnded
    Order = Start | Notify | Withdraw | Stop | Forget

OWN = ""
"""The service's own machine."""


class Routes:
    """Machines that have reported, and where attempts are.

    own_host : the plan's name of the service's own machine
    known    : machines, besides the own one, that have work from before
    """

    def __init__(self, own_host: str, known: Iterable[str]) -> None:
        self._own_host = own_host
        self._known = set(known)
        self._open: dict[str, Link] = {}
        self._machine_of: dict[int, str] = {}

    def told(self, report: Report, link: Link | None) -> None:
        """The orchestrator is given this report, which came over that connection."""
        if isinstance(report, MachineReported) and link:
            self._known.add(report.machine)
            self._open[report.machine] = link
            self._drop(report.machine)
            for held in report.held:
                if held.exit is None:  # a restored service may have given the number of a stray to another machine
                    self._machine_of.setdefault(held.attempt, report.machine)
        elif isinstance(report, MachineSilent):
            self._open.pop(report.machine, None)
        elif isinstance(report, MachineGone):
            self._drop(report.machine)
        elif isinstance(report, TaskEnded) and report.machine in {None, self._machine_of.get(report.attempt)}:
            self._machine_of.pop(report.attempt, None)

    def link_for(self, order: Order) -> Link | None:
        """The connection for an instruction; None where it is dropped."""
        if isinstance(order, Start):
            machine = order.host if order.host in self._known and order.host != self._own_host else OWN
            link = self._open.get(machine)
            if link:
                self._machine_of[order.attempt] = machine
            return link
        if isinstance(order, Forget):
            self._machine_of.pop(order.attempt, None)
            return self._open.get(order.machine)
        if isinstance(order, Stop) and order.reason == "stray":
            return self._open.get(order.machine)
        place = self._machine_of.get(order.attempt)
        return None if place is None else self._open.get(place)

    def link_to(self, machine: str) -> Link | None:
        """The connection of a machine's agent."""
        return self._open.get(machine)

    def _drop(self, machine: str) -> None:
        """Forget what was there."""
        for attempt in [attempt for attempt, place in self._machine_of.items() if place == machine]:
            del self._machine_of[attempt]
