"""Changes of machines: connected, silent, closed, could not start an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.orchestrator import changes as say
from fairhold.orchestrator.histories import count_capacity
from fairhold.orchestrator.hosts import label_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.orchestrator.cluster import Cluster


def see(cluster: Cluster, change: say.MachineSeen, now: int) -> None:
    """A machine's agent has connected."""
    machine = cluster.machine(change.machine)
    machine.boot, machine.spool, machine.is_silent, machine.is_gone = change.boot, change.spool, False, False
    machine.silent_at = 0
    label_machine(cluster, change.machine, change.labels)
    cluster.fit_machine(change.machine)
    count_capacity(cluster, now)


def miss(cluster: Cluster, change: say.MachineMissed, now: int) -> None:
    """It is not connected any more."""
    machine = cluster.machine(change.machine)
    if not machine.is_silent:
        machine.is_silent, machine.silent_at = True, now
    cluster.fit_machine(change.machine)
    count_capacity(cluster, now)


def shut(cluster: Cluster, change: say.MachineShut, now: int) -> None:
    """It starts nothing more, or may start work again."""
    machine = cluster.machine(change.machine)
    machine.shut, machine.refusals = change.reason, 0
    machine.try_at, machine.pauses, machine.drains = change.try_at, change.pauses, change.drains
    cluster.due.try_again(change.machine, change.try_at)
    cluster.fit_machine(change.machine)
    count_capacity(cluster, now)


def refuse(cluster: Cluster, change: say.MachineRefused, _now: int) -> None:
    """It could not start an attempt."""
    cluster.machine(change.machine).refusals += 1


OF_MACHINES: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.MachineSeen: see,
    say.MachineMissed: miss,
    say.MachineShut: shut,
    say.MachineRefused: refuse,
}
"""What each change of a machine does."""
