"""The hosts, by name, with what they have and do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

    Where an agent gives a name that the plan does not have, there is a row of the state `unknown`.
    queued : machine → starts that were decided and not sent to its agent yet
    """
    cluster = core.cluster
    queued = queued or {}
    groups: dict[str, dict[str, int]] = {}
    is_up: dict[str, bool] = {}
    for (group, name), host in cluster.hosts.items():
        groups.setdefault(name, {})[group] = host.slots
        is_up[name] = is_up.get(name, False) or host.is_up
    on: dict[str, list[Attempt]] = {}
    for attempt in cluster.attempts.values():
        for place, _ in attempt.places:
            on.setdefault(place, []).append(attempt)
    rows = []
    for name, slots in groups.items():
        machine, mine = cluster.machines.get(cluster.machine_of(name)), on.get(name, [])
        row = _row(core, name, machine, queued)
        row["resource_groups"], row["state"] = slots, _state(machine, mine, is_up=is_up[name])
        row["running"] = sum(attempt.is_running for attempt in mine)
        row["starting"] = len(mine) - row["running"]
        row["empty_by"] = _empty(mine)
        rows.append(row)
    known = {cluster.machine_of(name) for name in groups}
    rows += [
        _row(core, name, machine, queued)
        for name, machine in cluster.machines.items()
        if name and name not in known and not machine.is_silent
    ]
    return {"hosts": rows}


def _row(core: Core, name: str, machine: MachineRecord | None, queued: Mapping[str, int]) -> Document:
    """A host without slots."""
    own = core.cluster.machine_of(name)
    closing = core.closings.get(own)
    return {
        "host": name or "-",
        "machine": own or "-",
        "resource_groups": {},
        "state": "unknown",
        "reason": machine.shut if machine else None,
        "connected": machine is not None and not machine.is_silent,
        "running": 0,
        "starting": 0,
        "queued": queued.get(own, 0),
        "refusals": machine.refusals if machine else 0,
        "closing": closing is not None and closing.close_at > 0,
        "close_at": format_instant(closing.close_at) if closing and closing.close_at else None,
        "open_at": _opens(closing, machine),
        "empty_by": None,
    }


def _opens(closing: Closing | None, machine: MachineRecord | None) -> str | None:
    """When a host opens by itself: as it was asked for, or after it could not start anything."""
    instant = (closing and closing.open_at) or (machine and machine.try_at)
    return format_instant(instant) if instant else None


def _empty(attempts: Iterable[Attempt]) -> str | None:
    """The latest deadline of what is to leave a host."""
    last = max((attempt.leaving for attempt in attempts if attempt.leaving is not None), default=None)
    return None if last is None else format_instant(last)


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
