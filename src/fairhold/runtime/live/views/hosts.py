"""The hosts, by name, with what they have and do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.model.presence import CONNECTING
from fairhold.model.siting import shown_labels
from fairhold.runtime.live.views.pools import host_resources
from fairhold.runtime.live.views.presence import connecting
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.hosts import MachineRecord
    from fairhold.runtime.live.closings import Closing
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
NOT_PLANNED = "not in the plan"
"""Why nothing starts on a host that the plan does not have."""
_OTHERWISE = {"memory": "sampled", "cpu": "none"}
"""Who keeps a limit where the kernel does not: a supervisor that looks once a second, or nobody."""


def hosts_document(
    core: Core,
    queued: Mapping[str, int] | None = None,
    enforced: Mapping[str, Collection[str] | None] | None = None,
    gone: Mapping[str, int] | None = None,
) -> Document:
    """Every host of every resource group; `-` is the service's own machine where it has no name.

    Where an agent gives a name that the plan does not have, there is a row of the state `unknown`.
    queued : machine → starts that were decided and not sent to its agent yet
    enforced : machine → limits that the kernel keeps there; None = its agent has not said
    gone   : machine that is silent → instant at which its lease was over
    """
    cluster = core.cluster
    queued = queued or {}
    groups: dict[str, dict[str, int]] = {}
    is_up: dict[str, bool] = {}
    labels: dict[str, frozenset[str]] = {}
    for (group, name), host in cluster.hosts.items():
        labels[name] = labels.get(name, frozenset()) | cluster.books[group].hosts.labels.get(host.row, frozenset())
        groups.setdefault(name, {})[cluster.books[group].rows.group.name] = host.slots
        is_up[name] = is_up.get(name, False) or host.is_up
    on: dict[str, list[Attempt]] = {}
    for attempt in cluster.attempts.values():
        for place, _ in attempt.places:
            on.setdefault(place, []).append(attempt)
    returning = connecting(core)
    planned = {host.name for group in core.plan.resource_groups.values() for host in group.hosts}
    rows = []
    for name, slots in groups.items():
        machine, mine = cluster.machines.get(cluster.machine_of(name)), on.get(name, [])
        row = _row(core, name, machine, queued)
        row["resource_groups"], row["state"] = slots, _state(machine, mine, is_up=is_up[name])
        if row["state"] == "silent" and cluster.machine_of(name) in returning:
            row["state"] = CONNECTING
        if row["state"] == "silent" and (gone_at := (gone or {}).get(cluster.machine_of(name))):
            row["state"], row["gone_at"] = "gone", format_instant(gone_at)
        if planned and name not in planned and row["reason"] is None:
            row["reason"] = NOT_PLANNED
        row["labels"] = shown_labels(labels[name])
        row |= host_resources(core, name, mine) or {}
        row["running"] = sum(attempt.is_running for attempt in mine)
        row["starting"] = len(mine) - row["running"]
        row["empty_by"] = _empty(mine)
        rows.append(row)
    _say_limits(core, rows, enforced or {})
    known = {cluster.machine_of(name) for name in groups}
    rows += [
        _row(core, name, machine, queued)
        for name, machine in cluster.machines.items()
        if name and name not in known and not machine.is_silent
    ]
    return {"hosts": rows}


def _say_limits(core: Core, rows: Iterable[Document], enforced: Mapping[str, Collection[str] | None]) -> None:
    """Of what the plan hands out, by whom a unit's limit is kept on each host; None where nobody has said."""
    names = [resource.name for resource in core.plan.resources if resource.name in _OTHERWISE]
    for row in rows:
        kept = enforced.get("" if row["machine"] == "-" else row["machine"])
        if kept is not None and names:
            row["enforced"] = {name: "kernel" if name in kept else _OTHERWISE[name] for name in names}


def _row(core: Core, name: str, machine: MachineRecord | None, queued: Mapping[str, int]) -> Document:
    """A host without slots."""
    own = core.cluster.machine_of(name)
    closing = core.closings.get(own)
    return {
        "host": name or "-",
        "machine": own or "-",
        "resource_groups": {},
        "resources": None,
        "owners": None,
        "state": "unknown",
        "reason": machine.shut if machine else None,
        "connected": machine is not None and not machine.is_silent,
        "silent_since": _silent_since(machine),
        "gone_at": None,
        "running": 0,
        "starting": 0,
        "queued": queued.get(own, 0),
        "enforced": None,
        "refusals": machine.refusals if machine else 0,
        "closing": closing is not None and closing.close_at > 0,
        "close_at": format_instant(closing.close_at) if closing and closing.close_at else None,
        "open_at": _opens(closing, machine),
        "empty_by": None,
    }


def _silent_since(machine: MachineRecord | None) -> str | None:
    """Since when a host that was connected is not any more."""
    if machine is None or machine.is_unseen or not machine.silent_at:
        return None
    return format_instant(machine.silent_at)


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
        return "unseen" if machine.is_unseen else "silent"
    if machine.shut is None:
        return "up"
    return "draining" if any(attempt.leaving is not None for attempt in attempts) else "closed"
