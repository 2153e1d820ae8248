"""Faults of service, agents, supervisors, hosts and connections, as steps from a world to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.protocol.service import Message, attempts_of
from tests.protocol.world import (
    AGAIN,
    DEAD,
    FORKED,
    ORDERED,
    ORPHANED,
    RUNS,
    Entry,
    Host,
    World,
    broken,
    put,
    service_steps,
    stage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LATEST = {"notice", "withdraw"}
"""Messages of which the latest counts: one that comes twice, does so before the next."""
AFTER_RESTART = {FORKED: ORDERED, RUNS: DEAD, ORPHANED: DEAD}


def faults(world: World) -> Iterator[World]:
    """Every single fault that may happen next."""
    if world.doubles:
        yield from _doubled(world._replace(doubles=world.doubles - 1))
    if world.restarts:
        yield from _restarted(world._replace(restarts=world.restarts - 1))
    if not world.faults:
        return
    world = world._replace(faults=world.faults - 1)
    if world.is_up:
        yield service_killed(world)
        for _, committed in service_steps(world):
            yield service_killed(committed)
    for at, host in enumerate(world.hosts):
        for entry in host.spool:
            if entry.stage in {FORKED, RUNS}:
                yield put(world, at, stage(host, entry, ORDERED if entry.stage == FORKED else ORPHANED))
        yield from (put(world, at, after) for after in _unlinked(host) if host.linked)
        if host.is_up:
            for after in _unlinked(host):
                for spool, last in _in_the_midst(host):
                    yield put(world, at, after._replace(is_up=False, going=(), spool=spool, last=last))


def _doubled(world: World) -> Iterator[World]:
    """The next message of a host, or for it, comes twice."""
    for at, host in enumerate(world.hosts):
        if host.coming and host.coming[0][0] in {"running", "ended"}:
            for coming in _twice(host.coming, host.coming[0]):
                yield put(world, at, host._replace(coming=coming))
        if host.going:
            message = host.going[0]
            again = (*message, AGAIN) if message[0] == "start" else message
            for going in _twice(host.going, again, is_late=message[0] not in LATEST):
                yield put(world, at, host._replace(going=going))


def _twice(messages: tuple[Message, ...], again: Message, *, is_late: bool = True) -> Iterator[tuple[Message, ...]]:
    """The first message once more: at once, and after all that is on the way."""
    yield (messages[0], again, *messages[1:])
    if is_late and len(messages) > 1:
        yield (*messages, again)


def service_killed(world: World) -> World:
    """The service loses its memory and its connections; what was sent may still be read."""
    return world._replace(is_up=False, hosts=tuple(_alone(world, at) for at in range(len(world.hosts))))


def _alone(world: World, at: int) -> Host:
    """A host whose service is gone; that remembers a spool only where it has work from before."""
    host = world.hosts[at]
    booked = attempts_of(world.document).items()
    known = frozenset(name for name, attempt in booked if attempt[1] == world.machines[at])
    if not world.restarts and host.disk == host.seen:
        known, seen = frozenset(), host.seen
    else:
        seen = host.seen if known else 0
    lease = "over" if host.lease == "told" else host.lease
    return host._replace(linked=False, open=False, coming=(), lease=lease, known=known, seen=seen)


def _unlinked(host: Host) -> Iterator[Host]:
    return broken(host) if host.linked else iter((host,))


def _restarted(world: World) -> Iterator[World]:
    """A host restarts: nothing of it runs. Its disk is as it was, or a moment earlier, or another one.

    A lease that stands on it counts on a clock that has begun again.
    """
    for at, host in enumerate(world.hosts):
        is_old = bool(world.machines[at])
        kept = tuple(each._replace(stage=AFTER_RESTART.get(each.stage, each.stage)) for each in host.spool)
        for broke in _unlinked(host):
            down = broke._replace(is_up=False, going=(), boot=host.boot + 1, spool=kept)
            yield put(world, at, down._replace(is_old=is_old))
            yield put(world, at, down._replace(spool=(), last=0, disk=host.disk + 1, is_old=False))
            for latest in host.spool[-1:]:  # nobody waits for the disk (`fsync`): it may be gone with the power
                last = min(host.last, latest.attempt - 1)
                yield put(world, at, down._replace(is_old=is_old, spool=kept[:-1], last=last))


def _in_the_midst(host: Host) -> Iterator[tuple[tuple[Entry, ...], int]]:
    """What is on the disk when an agent is killed: between two messages, or while it carries out a start."""
    yield host.spool, host.last
    if host.going and host.going[0][0] == "start" and host.going[0][1] > host.last:
        attempt = host.going[0][1]
        yield host.spool, attempt
        yield (*host.spool, Entry(attempt, ORDERED)), attempt
