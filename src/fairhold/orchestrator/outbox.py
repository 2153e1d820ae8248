"""Instructions that wait until the changes behind them are committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import MachineReported, MachineSilent
from fairhold.orchestrator.instructions import Forget, JobOver, Notify, Start, Stop, WakeAt, Withdraw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.instructions import Instruction

Order = Start | Notify | Withdraw | Stop | Forget
"""What agents are told."""
_WISHED = ("cancel", "requeue")


class Outbox:
    """The instructions of several events that are committed together.

    Instructions for a machine from before its connection broke, or before it reported its attempts, must not be sent
    over a new connection. A start among them could arrive after the service has concluded that it never arrived, and
    run beside the next attempt of its task. So these two events drop the machine's waiting instructions; what is still
    needed is decided again at the report (docs/attempts.md, rule 3).
    """

    def __init__(self) -> None:
        self._orders: list[tuple[str, Order]] = []

    def add(self, event: Event, instructions: Iterable[Instruction], cluster: Cluster) -> None:
        """The instructions of an event that was just handled, with the cluster as it is after it."""
        if isinstance(event, MachineReported | MachineSilent):
            self._orders = [each for each in self._orders if each[0] != event.machine]
        for order in instructions:
            if not isinstance(order, JobOver | WakeAt):
                self._orders.append((_machine_of(order, cluster), order))

    def unsent(self) -> set[int]:
        """Attempts whose start waits here: nothing of them runs."""
        return {order.attempt for _, order in self._orders if isinstance(order, Start)}

    def take(self) -> list[Order]:
        """All that is to be carried out, in order, after the commit; then it is empty."""
        taken, self._orders = [order for _, order in self._orders], []
        return taken

    def take_stops(self) -> list[Order]:
        """Instructions that may be carried out although no commit is possible: stops that users asked for.

        Should that be lost, the attempt was stopped for nothing and its task waits again. A stop behind the start of
        its attempt waits with it.
        """
        unsent = self.unsent()
        taken: list[Order] = []
        left: list[tuple[str, Order]] = []
        for machine, order in self._orders:
            if isinstance(order, Stop) and order.reason in _WISHED and order.attempt not in unsent:
                taken.append(order)
            else:
                left.append((machine, order))
        self._orders = left
        return taken


def _machine_of(order: Order, cluster: Cluster) -> str:
    if isinstance(order, Start):
        return cluster.machine_of(order.host)
    if isinstance(order, Forget) or (isinstance(order, Stop) and order.reason == "stray"):
        return order.machine
    attempt = cluster.attempts.get(order.attempt) or cluster.ended[order.attempt]
    return attempt.machine
