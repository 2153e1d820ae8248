"""`stop`: ends the service, and waits until it has."""

from __future__ import annotations

import time

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import say, say_json
from fairhold.client import steps
from fairhold.client.errors import ServiceError
from fairhold.runtime.outlet import complain

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
    answer = connection.run(steps.stop(how))
    pause = _LOOK
    try:
        while wait:
            try:
                if connection.run(steps.health(patience=0))["started"] != started:  # it is back already
                    break
            except ServiceError as error:
                if error.status not in {429, 503}:
                    break
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)
    except KeyboardInterrupt:
        complain("the service goes on stopping")
        return _INTERRUPTED
    if as_json:
        say_json(answer)
    else:
        say(_TOLD[how] if wait else "the service is stopping")
    return 0
