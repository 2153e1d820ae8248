"""What every request passes before it is looked at: who asks, how many do, how large it is; and how long it took."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from fairhold.errors import Fault
from fairhold.service.auth import Peer, Refused
from fairhold.service.problems import problem

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairhold.service.auth import Guard
    from fairhold.service.metrics import Requests
    from fairhold.service.settings import RequestLimits

_LOG = logging.getLogger("fairhold.requests")


class Gate:
    """The outermost application.

    The server says in `scope["state"]` who is at the other end (`peer`) and how many connections there are (`clients`).
    """

    def __init__(self, app: ASGIApp, *, guard: Guard, limits: RequestLimits, requests: Requests) -> None:
        self._app = app
        self._guard = guard
        self._limits = limits
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # no web sockets here; `lifespan` is the server's
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"cache-control", b"no-store")]
            await send(message)

        try:
            refusal = self._refusal(scope)
            await (refusal or self._app)(scope, self._counting(receive), sending)
        except Exception as error:
            if status:
                raise
            _LOG.exception("%s %s failed", scope["method"], scope["path"], exc_info=error)
            fault = Fault("internal", "the service failed; its log says why", "tell who runs it")
            await problem(500, [fault])(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "")
            self._requests.count(scope["method"], route.removeprefix("/v1"), status, seconds)
            told = {"status": status, "seconds": round(seconds, 6)}
            _LOG.debug("%s %s", scope["method"], scope["path"], extra=told)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is not looked at; None = it is. Notes who asks."""
        state = scope.setdefault("state", {})
        headers = dict(scope["headers"])
        caller = self._guard.check(headers, state.get("peer", Peer(None)))
        if isinstance(caller, Refused):
            return problem(caller.status, [caller.fault], caller.headers)
        state["caller"] = caller
        if state.get("clients", 0) > self._limits.clients:
            fault = Fault("too-many", f"the limit `clients` is {self._limits.clients}", "try again later")
            return problem(429, [fault], {"Retry-After": "1", "Connection": "close"})
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > self._limits.body:
            return problem(413, [self._too_large()], {"Connection": "close"})
        return None

    def _counting(self, receive: Receive) -> Receive:
        """Let no more through than a body may have, whatever its length is said to be."""
        received = 0

        async def receiving() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limits.body:
                raise HTTPException(413, self._too_large().what)
            return message

        return receiving

    def _too_large(self) -> Fault:
        return Fault("too-large", f"the limit `body` is {self._limits.body} bytes", "send less at once")
