"""Connections of clients: their peer, their number, and their timeouts.

A client may be slow, but it has to go on: one that does not send its request, or does not take its answer, is left.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairhold.errors import Fault
from fairhold.service.auth import peer_of
from fairhold.service.doors import door_of
from fairhold.service.problems import MEDIA_TYPE, head_too_large, problem_document

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

    from fairhold.service.doors import Crowd

_TOO_LARGE = 431


class Connection(H11Protocol):
    """A connection that tells the application about its other end, and leaves who keeps it waiting."""

    def __init__(self, *words: Any, crowd: Crowd, **more: Any) -> None:  # noqa: ANN401 - its parent's
        super().__init__(*words, **more)
        self._crowd = crowd
        self._slow = crowd.limits.silence
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its parent
        """Note the peer for all requests of this connection."""
        super().connection_made(transport)
        mine = transport.get_extra_info("socket")
        self._door = door_of(mine)
        self._crowd.here[self._door] += 1
        told = {"peer": peer_of(mine), "clients": self._crowd.here[self._door], "leave": transport.abort}
        self.app_state = {**self.app_state, **told}
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._crowd.here[self._door] -= 1
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """An answer is on its way; whoever does not take the rest of it is left."""
        super().on_response_complete()
        if self.transport.is_closing():
            self.loop.call_later(self._slow, self.transport.abort)
        elif self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self._watch()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing more was asked for a while."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Answer with a problem what is not a valid request."""
        error = sys.exception()
        if getattr(error, "error_status_hint", 400) == _TOO_LARGE:
            self._end(_TOO_LARGE, head_too_large(self._crowd.limits.head))
        else:
            self._end(400, Fault("bad-request", str(error or msg), "send HTTP/1.1"))

    # Whom we wait for

    def _watch(self) -> None:
        """Begin to wait for the rest of a request, or end it where there is nothing to wait for."""
        cycle: RequestResponseCycle | None = self.cycle
        is_refused = cycle is not None and cycle.response_complete and self.conn.their_state is h11.SEND_BODY
        if self.transport.is_closing() or not (self.conn.their_state is h11.IDLE or is_refused):
            self._unwatch()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._slow, self._give_up)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        what = f"the request did not come within {self._slow:g} seconds"
        self._end(408, Fault("too-slow", what, "send the whole request at once"))

    def _end(self, status: int, fault: Fault) -> None:
        """Say why, where that is possible, and close."""
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.abort()
            return
        body = json.dumps(problem_document(status, [fault])).encode()
        headers = [
            ("Content-Type", MEDIA_TYPE),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
