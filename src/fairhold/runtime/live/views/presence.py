"""Which hosts of a live cluster are up, and which are not, why and since when (R-UP-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED, vector_groups
from fairhold.model.presence import CLOSED, CONNECTING, DOWN, SILENT, UNSEEN, not_up_in, presence
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.model.plan import Host
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
RETURN = 10 * SECOND
"""Time in which agents that were connected before a restart are expected: they try again every 2 seconds or sooner."""


def connecting(core: Core) -> frozenset[str]:
    """Machines that were connected before the service was restarted, and have not had time to connect again."""
    before, last = core.began
    if core.now() >= last + RETURN:
        return frozenset()
    machines = core.cluster.machines.items()
    return frozenset(
        name for name, each in machines if each.is_silent and each.boot and before < each.silent_at <= last
    )


def why_not_up(
    cluster: Cluster, group: str, name: str, returning: Collection[str] = ()
) -> tuple[str, str | None] | None:
    """Why a host is not up, and since when; None where it is up.

    group     : as the cluster calls it, `POOLED` for all that share vectors
    returning : machines that are `connecting`
    """
    machine = cluster.machines.get(cluster.machine_of(name))
    host = cluster.hosts.get((group, name))
    if host is not None and not host.is_up:
        return DOWN, None
    if machine is None:
        return None
    if machine.is_unseen:
        return UNSEEN, None
    if machine.is_silent and cluster.machine_of(name) in returning:
        return CONNECTING, None
    if machine.is_silent:  # by whole seconds, so that hosts that were lost together are told together
        return SILENT, format_instant(machine.silent_at // SECOND * SECOND) if machine.silent_at else None
    return None if machine.shut is None else (CLOSED, None)


def presence_in(cluster: Cluster, group: str, returning: Collection[str]) -> Document | None:
    """The hosts of what is shared together, as the cluster calls it; None where it has no hosts with names."""
    hosts = cluster.books[group].rows.group.hosts
    return _presence(cluster, group, hosts, returning) if hosts else None


def absent_hosts(core: Core, groups: Iterable[str]) -> Document:
    """Of some resource groups of the plan those of which some hosts are not up, as a part of an explanation."""
    pooled, cluster, returning = set(vector_groups(core.plan)), core.cluster, connecting(core)
    found = {
        name: _presence(cluster, POOLED if name in pooled else name, core.plan.resource_groups[name].hosts, returning)
        for name in groups
    }
    return not_up_in(found)


def _presence(cluster: Cluster, group: str, hosts: Iterable[Host], returning: Collection[str]) -> Document:
    names = [host.name for host in hosts]
    away = ((name, why_not_up(cluster, group, name, returning)) for name in names)
    return presence(names, {name: why for name, why in away if why is not None})
