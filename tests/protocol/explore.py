"""Every state that can be reached, and from each of them the way on without faults."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from tests.protocol import faults, service
from tests.protocol import world as model

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.protocol.world import World

LONGEST_WAY = 400
MOST = 2_000_000


class Flaw(AssertionError):  # noqa: N818 - a word for what it is
    """A state that must not be, with the way to it."""


def explore(begin: World, *, leases: bool = True, most: int = MOST) -> int:
    """Check every state that can be reached from here; returns how many there are. Raises Flaw.

    leases : leases end where there is no connection
    most   : with more states than these, it is no exploration: raises RuntimeError
    """
    came_from: dict[World, World | None] = {begin: None}
    good: set[World] = set()
    todo = deque([begin])
    while todo:
        world = todo.popleft()
        _judge(world, came_from, model.check)
        _judge(world, came_from, lambda state: ends(state, good))
        following: list[World] = []

        def look(state: World, found: list[World] = following) -> None:
            found += [*model.steps(state), *faults.faults(state), *(model.lease_steps(state) if leases else ())]

        _judge(world, came_from, look)
        for after in following:
            if after not in came_from:
                came_from[after] = world
                todo.append(after)
            _judge_step(world, after, came_from)
        if len(came_from) > most:
            message = f"there are more than {most} states: {len(todo)} were not looked at"
            raise RuntimeError(message)
    return len(came_from)


def _judge_step(before: World, after: World, came_from: dict[World, World | None]) -> None:
    """Of every step, also one that leads to where others lead: what was forgotten makes no state different."""
    for machine, old, new in zip(before.machines, before.hosts, after.hosts, strict=True):
        if old.spool is new.spool:
            continue
        begun = {each.attempt for each in new.spool if each.stage == model.RUNS and each.attempt in before.ran} - {
            each.attempt for each in old.spool if each.stage == model.RUNS
        }
        gone = {each.attempt for each in old.spool} - {each.attempt for each in new.spool}
        if (old.disk, old.boot) != (new.disk, new.boot):
            gone.clear()
        if begun or gone:
            _judge(after, came_from, partial(_judge_spool, before, machine, begun, gone))


def _judge_spool(before: World, machine: str, begun: set[int], gone: set[int], _: World) -> None:
    """Of what begins once more, and what goes."""
    assert not begun, f"attempt {begun} is started twice"
    booked = service.attempts_of(before.document).items()
    early = gone & {attempt for attempt, (_, at, *_) in booked if at == machine}
    assert not early, f"the record of {early} is deleted, and its end is not committed"


def _judge(world: World, came_from: dict[World, World | None], truth: Callable[[World], None]) -> None:
    try:
        truth(world)
    except AssertionError as error:
        way = []
        at: World | None = world
        while at is not None:
            way.append(at)
            at = came_from[at]
        lines = "\n".join(_text(each) for each in reversed(way))
        raise Flaw(f"{error}\n{lines}") from error


def _text(world: World) -> str:
    hosts = " | ".join(
        f"{'up' if host.is_up else 'DOWN'} last={host.last} {'open' if host.open else 'linked' if host.linked else '-'}"
        f" {[tuple(each) for each in host.spool]} coming={list(host.coming)} going={list(host.going)} {host.lease}"
        for host in world.hosts
    )
    return f"{'up' if world.is_up else 'DOWN'} {service.attempts_of(world.document)} {world.asked} :: {hosts}"


def ends(world: World, good: set[World]) -> None:
    """Without another fault, and with nothing more asked, everything comes to its end."""
    way: list[World] = []
    at = world._replace(faults=0, doubles=0, restarts=0, asked=(), ran=frozenset())
    while at not in good:
        way.append(at)
        assert len(way) < LONGEST_WAY, "it never ends"
        after = next((each for each in map(_unmarked, model.steps(at)) if each != at), None)
        after = after or next(model.lease_steps(at), None) or model.opened(at)
        if after is None:
            model.settled(at)
            break
        at = after
    good.update(way)


def _unmarked(world: World) -> World:
    return world._replace(ran=frozenset())
