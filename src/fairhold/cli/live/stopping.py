"""`stop`: ends the service, and waits until it has."""

from __future__ import annotations

import os
import select
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import say, say_json
from fairhold.client import steps
from fairhold.client.errors import ServiceError
from fairhold.runtime.outlet import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cli.live.connection import Connection

_LOOK, _LONGEST_LOOK = 0.05, 1.0
_INTERRUPTED = 128 + 2
_LOST = (
    "Jobs of which the submit was answered with store-full are lost; what ran is known by its agent, and its tasks "
    "wait again once there is room"
)
_TOLD = {
    "leave": "the service has stopped; its tasks run on",
    "drain": "the service has stopped; none of its tasks runs",
    "kill": "the service and its tasks have stopped; the tasks wait for its next start",
}


def stop_service(service: str, how: str, *, wait: bool, as_json: bool) -> int:
    """Stop the service: `leave`, `drain` or `kill`; returns the exit code."""
    connection = connect(service)
    started = connection.run(steps.health())["started"]
    unwritten = ""
    with _process(connection.peer) as wait_for_end:
        answer = connection.run(steps.stop(how))
        try:
            if wait:
                unwritten = _wait_for_silence(connection, started)
                wait_for_end()
        except KeyboardInterrupt:
            complain("the service goes on stopping")
            return _INTERRUPTED
    if unwritten:
        complain(f"it had no space to write its last changes: {unwritten}. {_LOST}")
    if as_json:
        say_json(answer)
    else:
        say(_TOLD[how] if wait else "the service is stopping")
    return 0


def hand_over(service: str, *, wait: bool, as_json: bool) -> int:
    """Let a service that stands by lead; returns the exit code: 1 where none has taken over."""
    connection = connect(service)
    before = connection.run(steps.health())
    answer = connection.run(steps.stop("failover"))
    if not wait:
        if as_json:
            say_json(answer)
        else:
            say("the service hands over")
        return 0
    after = connection.run(steps.another_leader(before["term"]))
    if as_json:
        say_json(after)
    elif after["leader"] != before["leader"]:
        say(f"{after['leader']} leads")
    else:
        complain(f"no other service has taken over: {after['leader']} leads again")
    return int(after["leader"] == before["leader"])


def _wait_for_silence(connection: Connection, started: str) -> str:
    """Until it does not answer any more, or another one does; what it could not write, as far as it has said so."""
    pause, trouble = _LOOK, ""
    while True:
        try:
            found = connection.run(steps.health(patience=0))
            if found["started"] != started:  # it is back already
                return trouble
            trouble = found.get("trouble") or ""
        except ServiceError as error:
            if error.status not in {429, 503}:
                return trouble
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK)


@contextmanager
def _process(pid: int) -> Iterator[Callable[[], object]]:
    """How to wait until a process of this machine has ended: it holds its store until then, when it answers no more.

    Nothing to wait for where the process is not known.
    """
    try:
        watched = os.pidfd_open(pid) if pid else -1
    except OSError:  # it is gone already, or the system has no such thing
        watched = -1
    if watched < 0:
        yield lambda: None
        return
    try:
        yield lambda: select.select([watched], [], [])
    finally:
        os.close(watched)
