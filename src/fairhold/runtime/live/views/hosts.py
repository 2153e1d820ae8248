"""The hosts, by name, with what they have and do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.siting import shown_labels
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.orchestrator.hosts import MachineRecord
    from fairhold.orchestrator.tasks import Attempt
    from fairhold.runtime.live.closings import Closing
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]


def hosts_document(core: Core, queued: Mapping[str, int] | None = None) -> Document:
    """Every host of every resource group; `-` is the service's own machine where it has no name.

    queued : machine → starts that were decided and not sent to its agent yet
    """
    cluster = core.cluster
    groups: dict[str, dict[str, int]] = {}
    is_up: dict[str, bool] = {}
    labels: dict[str, frozenset[str]] = {}
    for (group, name), host in cluster.hosts.items():
        labels[name] = labels.get(name, frozenset()) | cluster.books[group].hosts.labels.get(host.row, frozenset())
        groups.setdefault(name, {})[group] = host.slots
        is_up[name] = is_up.get(name, False) or host.is_up
    on: dict[str, list[Attempt]] = {}
    for attempt in cluster.attempts.values():
        for place, _ in attempt.places:
            on.setdefault(place, []).append(attempt)
    rows = []
    for name, slots in groups.items():
        machine = cluster.machines.get(cluster.machine_of(name))
        mine = on.get(name, [])
        closing = core.closings.get(cluster.machine_of(name))
        rows.append(
            {
                "host": name or "-",
                "machine": cluster.machine_of(name) or "-",
                "resource_groups": slots,
                "labels": shown_labels(labels[name]),
                "state": _state(machine, mine, is_up=is_up[name]),
                "reason": machine.shut if machine else None,
                "connected": machine is not None and not machine.is_silent,
                "running": sum(attempt.is_running for attempt in mine),
                "starting": sum(not attempt.is_running for attempt in mine),
                "queued": (queued or {}).get(cluster.machine_of(name), 0),
                "refusals": machine.refusals if machine else 0,
                "closing": closing is not None and closing.close_at > 0,
                "close_at": format_instant(closing.close_at) if closing and closing.close_at else None,
                "open_at": _opens(closing, machine),
            }
        )
    return {"hosts": rows}


def _opens(closing: Closing | None, machine: MachineRecord | None) -> str | None:
    """When a host opens by itself: as it was asked for, or after it could not start anything."""
    instant = (closing and closing.open_at) or (machine and machine.try_at)
    return format_instant(instant) if instant else None


def _state(machine: MachineRecord | None, attempts: Iterable[Attempt], *, is_up: bool) -> str:
    if not is_up:
        return "down"
    if machine is None:
        return "up"
    if machine.is_silent:
        return "silent"
    if machine.shut is None:
        return "up"
    return "draining" if any(attempt.leaving is not None for attempt in attempts) else "closed"
