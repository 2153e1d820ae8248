"""Changes of machines and their hosts: connected, silent, closed, to be left, of another size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.orchestrator import changes as say
from fairhold.orchestrator.attempts import leave_by
from fairhold.orchestrator.budgets import count_hosts
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
    _fit(cluster, change.machine, now)


def miss(cluster: Cluster, change: say.MachineMissed, now: int) -> None:
    """It is not connected any more."""
    machine = cluster.machine(change.machine)
    if not machine.is_silent:
        machine.is_silent, machine.silent_at = True, now
    _fit(cluster, change.machine, now)


def shut(cluster: Cluster, change: say.MachineShut, now: int) -> None:
    """It starts nothing more, or may start work again."""
    machine = cluster.machine(change.machine)
    machine.shut, machine.refusals = change.reason, 0
    machine.try_at, machine.pauses, machine.drains = change.try_at, change.pauses, change.drains
    cluster.due.try_again(change.machine, change.try_at)
    _fit(cluster, change.machine, now)


def _fit(cluster: Cluster, name: str, now: int) -> None:
    """Update books and histories with what a machine's hosts may start, and its attempts with whether it is there."""
    hosts = cluster.hosts_of(name)
    for group in cluster.books:
        for host in hosts:
            if (group, host) in cluster.hosts:
                cluster.fit(group, host)
    for attempt in cluster.on(name):
        attempt.is_unknown = any(each.is_silent for each in cluster.machines_of(attempt))
    count_hosts(cluster, now, hosts)


def refuse(cluster: Cluster, change: say.MachineRefused, _now: int) -> None:
    """It could not start an attempt."""
    cluster.machine(change.machine).refusals += 1


def set_host(cluster: Cluster, change: say.HostSet, now: int) -> None:
    """A host has so many slots, and is up or not."""
    group = change.resource_group
    host = cluster.hosts.get((group, change.host))
    gained = change.slots - (host.slots if host else 0)
    host = host or cluster.add_host(group, change.host, change.slots)
    host.slots, host.is_up = change.slots, change.is_up
    cluster.fit(group, change.host)
    if gained:
        cluster.count_slots(group)
        for job in cluster.with_gangs(group):
            cluster.ask(job)
    count_hosts(cluster, now, (change.host,))


def drain(cluster: Cluster, change: say.Drained, _now: int) -> None:
    """The host of an attempt is to be left by a deadline."""
    attempt = cluster.attempts[change.attempt]
    attempt.noticed = True
    attempt.leaving = change.deadline
    if attempt.notice is None or attempt.notice.reason == "host":
        attempt.notice = leave_by(change.deadline)
    cluster.due.drain(change.deadline, change.attempt)


def undrain(cluster: Cluster, change: say.Undrained, _now: int) -> None:
    """It may stay."""
    attempt = cluster.attempts[change.attempt]
    attempt.leaving = None
    if attempt.notice is not None and attempt.notice.reason == "host":
        attempt.notice = None


OF_MACHINES: dict[type, Callable[[Cluster, Any, int], None]] = {
    say.MachineSeen: see,
    say.MachineMissed: miss,
    say.MachineShut: shut,
    say.MachineRefused: refuse,
    say.HostSet: set_host,
    say.Drained: drain,
    say.Undrained: undrain,
}
"""What each change of a machine does."""
