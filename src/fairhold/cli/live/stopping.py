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
_TOLD = {
    "leave": "the service has stopped; its tasks run on",
    "drain": "the service has stopped; nothing of it runs",
    "kill": "the service has stopped, and what ran; the tasks wait for its next start",
}


def stop_service(service: str, how: str, *, wait: bool, as_json: bool) -> int:
    """Stop the service: `leave`, `drain` or `kill`; returns the exit code."""
    connection = connect(service)
    started = connection.run(steps.health())["started"]
    with _process(connection.peer) as wait_for_end:
        answer = connection.run(steps.stop(how))
        try:
            if wait:
                _wait_for_silence(connection, started)
                wait_for_end()
        except KeyboardInterrupt:
            complain("the service goes on stopping")
            return _INTERRUPTED
    if as_json:
        say_json(answer)
    else:
        say(_TOLD[how] if wait else "the service is stopping")
    return 0


def _wait_for_silence(connection: Connection, started: str) -> None:
    """Until it does not answer any more, or another one does."""
    pause = _LOOK
    while True:
        try:
            if connection.run(steps.health(patience=0))["started"] != started:  # it is back already
                return
        except ServiceError as error:
            if error.status not in {429, 503}:
                return
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
