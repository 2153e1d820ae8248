"""Puts the simulated system in the place of the real one, in the modules of the product that ask for it."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.agent import agent, attempts, frames, groups, launch, link, lost, output, spool, supervisor
from fairhold.engines.agents import hub, wire
from fairhold.runtime import clock
from fairhold.runtime.live import desk, leases, opening, recovery
from tests.storms import calls
from tests.storms.stands import Processes
from tests.storms.waits import Select, Selectors, Threading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.storms.storm import Storm

    Place = tuple[Any, str, Any]
    """A module or a class, a name in it, and what it stands for."""

_ABSENT = object()
_NAMES = {
    agent: ("os", "select", "signal", "time"), attempts: ("os", "signal", "time", "processes"), frames: ("os",),
    groups: ("os",), launch: ("os",), link: ("os", "socket"), lost: ("os", "processes"), output: ("os",),
    spool: ("os", "time"), supervisor: ("os", "signal", "time", "processes"), hub: ("threading",),
    wire: ("os", "selectors"), clock: ("time",), leases: ("time",),
}  # fmt: skip


class Nothing:
    """In the place of `gc`: what a dead service leaves behind has to go."""

    disable = enable = freeze = staticmethod(lambda: None)


def places(storm: Storm) -> list[Place]:
    """All that is replaced while a storm runs."""
    kernel, time = storm.kernel, storm.time
    threading, opened = Threading(kernel), calls.reading(kernel)
    stands = {
        "os": calls.System(kernel, storm.tasks.launch), "signal": calls.Signals(kernel), "select": Select(kernel),
        "time": time, "socket": calls.Sockets(kernel, storm.network), "processes": Processes(kernel),
        "selectors": Selectors(kernel), "threading": threading,
    }  # fmt: skip
    found: list[Place] = [(module, name, stands[name]) for module, names in _NAMES.items() for name in names]
    nothing = lambda *_: None  # noqa: E731
    fork = lambda of, *words: storm.fork(of, *words)  # noqa: E731, PLW0108 - a function becomes a method
    return [
        *found,
        (agent, "now", time.uptime), (agent, "take_orphans_in", nothing), (agent, "log", nothing),
        (supervisor, "now", time.uptime), (supervisor, "take_orphans_in", nothing), (supervisor, "open", opened),
        (spool, "open", opened), (groups, "open", opened), (attempts.Attempts, "_fork", fork),
        (opening, "Lock", threading.Lock), (desk, "Thread", threading.Thread),
        (desk, "Condition", threading.Condition), (desk, "SNAPSHOT_EVERY", 300), (desk, "SLICE", 3),
        (recovery, "gc", Nothing), (recovery, "_give_back", nothing),
    ]  # fmt: skip


@contextmanager
def installed(found: list[Place]) -> Iterator[None]:
    """Meanwhile the product runs on simulated machines, and says nothing in its log."""
    before = [(place, name, place.__dict__.get(name, _ABSENT)) for place, name, _ in found]
    log = logging.getLogger("fairhold")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    for place, name, stand in found:
        setattr(place, name, stand)
    try:
        yield
    finally:
        log.setLevel(level)
        for place, name, real in before:
            if real is _ABSENT:
                delattr(place, name)
            else:
                setattr(place, name, real)
