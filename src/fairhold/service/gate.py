"""The gate of every request: authentication, limits of number and size, and its duration."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException

from fairhold.errors import Fault
from fairhold.runtime.live.submitting import raised
from fairhold.service.auth import Peer, Refused
from fairhold.service.doorkeeper import origin_of
from fairhold.service.problems import head_too_large, problem
from fairhold.service.standing_by import not_leading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairhold.service.auth import Caller, Guard
    from fairhold.service.doorkeeper import Doorkeeper
    from fairhold.service.leading import Leading
    from fairhold.service.metrics import Requests
    from fairhold.service.settings import ServiceSettings

_PIECE = 64 * 1024
_OF_PLANS = ("/v1/plan", "/v1/stop", "/v1/access", "/v1/tokens")
"""How requests begin that are taken where only the plan, and who may do what, may be changed."""
_LOOKS = frozenset({"/v1/jobs/check", "/v1/explore", "/v1/explore/draft", "/v1/simulate"})
"""Further requests that change nothing, besides those that only get."""
_SUBMITS = frozenset({"/v1/jobs", "/v1/jobs/check"})
"""Requests that are about new jobs."""
_LOG = logging.getLogger("fairhold.requests")


class Gate:
    """The outermost application.

    The server says in `scope["state"]` who is at the other end (`peer`), how many connections there are that came in
    as this one did (`clients`), and how to leave it at once (`leave`).
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        guard: Guard,
        settings: ServiceSettings,
        requests: Requests,
        keeper: Doorkeeper,
        leads: Callable[[], bool],
        leading: Leading | None,
    ) -> None:
        self._leads, self._leading = leads if settings.stands_by else lambda: True, leading
        """A service that is alone tells what it knows, also while it cannot say that it leads."""
        self._app, self._is_observing, self._has_pods = app, settings.is_observing, settings.has_pods
        self._keeper = keeper
        self._guard = guard
        self._limits = settings.limits
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # no web sockets here; `lifespan` is the server's
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        taken = self._in_pieces(send, scope)

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"cache-control", b"no-store")]
            await taken(message)

        try:
            await self._guard.prepare(_authorization(scope))
            refusal = self._refusal(scope)
            await (refusal or self._app)(scope, self._counting(receive), sending)
        except Exception as error:
            if status:
                raise
            _LOG.exception("%s %s failed", scope["method"], scope["path"], exc_info=error)
            fault = Fault("internal", "the service failed; its log says why", "tell the operator")
            await problem(500, [fault])(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "")
            self._requests.count(scope["method"], route.removeprefix("/v1"), status, seconds)
            self._keeper.answered(scope, status)
            told = {"status": status, "seconds": round(seconds, 6)}
            _LOG.debug("%s %s", scope["method"], scope["path"], extra=told)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is not looked at; None = it is. Notes who asks."""
        state = scope.setdefault("state", {})
        head = sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope.get("raw_path") or b"")
        if head + len(scope["query_string"]) > self._limits.head:
            return problem(431, [head_too_large(self._limits.head)], {"Connection": "close"})
        if not self._leads():
            return not_leading(self._leading.other() if self._leading else None)
        headers = dict(scope["headers"])
        return self._stranger(scope, headers) or self._too_much(state, headers)

    def _stranger(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Response | None:
        """The answer to somebody who may not ask, or not now. Notes who asks."""
        state = scope["state"]
        if fault := _careless(scope):
            state["refused"] = fault.code
            return problem(400, [fault])
        caller = self._guard.check(headers, state.get("peer", Peer(None)))
        if isinstance(caller, Refused):
            state["refused"], state["claimed"] = caller.fault.code, caller.user
            return problem(caller.status, [caller.fault], caller.headers)
        state["caller"], state["origin"] = caller, origin_of(scope)
        if not self._keeper.lets_in(caller):
            return problem(429, [_too_often(caller)])
        return self._barred(scope["method"], scope["path"])

    def _too_much(self, state: dict[str, Any], headers: Mapping[bytes, bytes]) -> Response | None:
        """The answer where there are too many clients, or too much is sent."""
        limit, most = self._limits.most_clients
        if state.get("clients", 0) > most:
            what = f"the limit `{limit}` is {getattr(self._limits, limit)}"
            fault = Fault("too-many", what, f"try again later, or {raised(limit)}")
            return problem(429, [fault], {"Connection": "close"})
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > self._limits.body:
            return problem(413, [self._too_large()], {"Connection": "close"})
        return None

    def _barred(self, method: str, path: str) -> Response | None:
        """The answer to what nobody may ask for where others decide, or where jobs are pods; None = it may be."""
        if self._has_pods and method == "POST" and path in _SUBMITS:
            what = "this service governs a Kubernetes cluster: its jobs are the pods that people submit there"
            return problem(
                409, [Fault("only-pods", what, "submit a Job or a pod with kubectl in a governed namespace")]
            )
        if not self._is_observing or method in {"GET", "HEAD"} or path in _LOOKS or path.startswith(_OF_PLANS):
            return None
        what = "this service only observes its cluster, where others decide"
        mend = "start it without --observe-only to govern the cluster"
        return problem(409, [Fault("only-observing", what, mend)])

    def _in_pieces(self, send: Send, scope: Scope) -> Send:
        """Send long bodies piece by piece, each when the client has taken most of what was sent; leave who does not."""

        async def send_piece(message: Message) -> None:
            try:
                async with asyncio.timeout(self._limits.silence):
                    await send(message)
            except TimeoutError:
                scope["state"].get("leave", lambda: None)()

        async def sending(message: Message) -> None:
            body = message.get("body", b"")
            for begin in range(0, len(body) - _PIECE, _PIECE):
                await send_piece({**message, "body": body[begin : begin + _PIECE], "more_body": True})
            rest = len(body) % _PIECE or _PIECE
            await send_piece({**message, "body": body[-rest:]} if len(body) > _PIECE else message)

        return sending

    def _counting(self, receive: Receive) -> Receive:
        """Let no more through than a body may have, whatever its length is said to be; and wait for no one long."""
        received, is_whole = 0, False

        async def receiving() -> Message:
            nonlocal received, is_whole
            try:
                async with asyncio.timeout(None if is_whole else self._limits.silence):
                    message = await receive()
            except TimeoutError:
                what = f"no data of the request arrived for {self._limits.silence:g} seconds"
                raise HTTPException(408, what, {"Connection": "close"}) from None
            is_whole = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > self._limits.body:
                raise HTTPException(413, self._too_large().what)
            return message

        return receiving

    def _too_large(self) -> Fault:
        what = f"the limit `body` is {self._limits.body} bytes"
        return Fault("too-large", what, f"send less in one request, or {raised('body')}")


def _authorization(scope: Scope) -> bytes:
    """The header of a request that says who asks; empty where it has none."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return bytes(value)
    return b""


def _careless(scope: Scope) -> Fault | None:
    """What is wrong with how a request shows its token, whatever the token is; None = nothing."""
    if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
        what = "the request has two headers `Authorization`, and it is not clear which one counts"
        return Fault("two-tokens", what, "send one")
    query = scope["query_string"]
    if b"token" in query.lower() and any(
        name.lower() in _TOKENS for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    ):
        what = "a token in an address is written to logs and histories on its way"
        return Fault("token-in-query", what, "send `Authorization: Bearer TOKEN`, and revoke this token")
    return None


_TOKENS = frozenset({"token", "access_token", "bearer_token"})
"""Names under which others send tokens in queries."""


def _too_often(caller: Caller) -> Fault:
    what = f"the limit `requests` of `{caller.user}` is {caller.rights.limits.requests} a second"
    return Fault("too-many", what, "ask less often, or have an administrator raise it in the access document")
