"""Hosts without agents, and resource groups that pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.orchestrator import changes as say
from fairhold.orchestrator import jobs

if TYPE_CHECKING:
    from fairhold.orchestrator.events import GroupPaused, HostJoined, HostLost
    from fairhold.orchestrator.handle import Orchestrator


def join(live: Orchestrator, event: HostJoined) -> None:
    """A host is up with so many slots."""
    _group_of(live, event.resource_group)
    if not 0 <= event.slots <= jobs.MOST:
        raise _refused("out-of-range", f"host `{event.host}` has {event.slots} slots", "report a number of slots")
    live.do(say.HostSet(event.resource_group, event.host, event.slots, True))  # noqa: FBT003 - a tuple's field
    live.changed(event.resource_group)


def lose(live: Orchestrator, event: HostLost) -> None:
    """A host is down."""
    _group_of(live, event.resource_group)
    host = live.cluster.hosts.get((event.resource_group, event.host))
    if host is None:
        what = f"resource group `{event.resource_group}` has no host `{event.host}`"
        raise _refused("unknown-host", what, "report only hosts that have joined")
    live.do(say.HostSet(event.resource_group, event.host, host.slots, False))  # noqa: FBT003 - a tuple's field
    live.changed(event.resource_group)


def _group_of(live: Orchestrator, group: str) -> None:
    if group not in live.books:
        raise _refused(
            "unknown-resource-group",
            f"no policy shares the resource group `{group}`",
            f"use one of {', '.join(live.books)}",
        )


def pause(live: Orchestrator, event: GroupPaused) -> None:
    """Grants or reclaims of a group are paused or resumed."""
    _group_of(live, event.resource_group)
    live.do(say.Paused(event.resource_group, event.grants, event.reclaims))
    live.changed(event.resource_group)


def _refused(code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, what, mend)])
