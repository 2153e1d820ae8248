"""What a service answers that stands by: who leads, and nothing else."""

from __future__ import annotations

import asyncio
import hmac
import threading
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from fairhold import __version__
from fairhold.errors import Fault
from fairhold.service.auth import the_token
from fairhold.service.problems import LEADER, problem

if TYPE_CHECKING:
    import socket

    import uvicorn
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from fairhold.ports.leading import LeaderNote
    from fairhold.runtime.live.standing_by import Standby
    from fairhold.service.settings import ServiceSettings


def not_leading(note: LeaderNote | None) -> Response:
    """The answer of a service that does not lead: whatever was asked, nothing was done."""
    there = [address for address in (note.addresses if note and note.holder else ()) if address]
    what = f"this service stands by, and {there[0]} leads" if there else "this service does not lead, and nobody may"
    mend = f"ask {there[0]}, or name the addresses of both in FAIRHOLD_SERVICE" if there else "ask again in a moment"
    return problem(503, [Fault("standby", what, mend)], {LEADER: there[0] if there else ""})


class StandbyApp:
    """Answers by HTTP while its service waits: health to whoever has its token, and to everybody that another leads."""

    def __init__(self, standby: Standby, settings: ServiceSettings) -> None:
        self._standby = standby
        self._token = the_token(settings.directory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        leader = self._standby.leader
        note = leader.note if leader is not None else None
        if request.url.path != "/v1/health" or request.method not in {"GET", "HEAD"} or not self._is_known(request):
            return not_leading(note)
        document: dict[str, Any] = {
            "state": "standby",
            "role": "standby",
            "term": note.term if note else 0,
            "leader": next(iter(note.addresses), "") if note else "",
            "version": __version__,
            "entries": self._standby.followed,
        }
        return JSONResponse(document)

    def _is_known(self, request: Request) -> bool:
        said = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(said, f"Bearer {self._token}".encode())


class Answering:
    """A server in a thread of its own, until it is closed, with its socket."""

    def __init__(self, server: uvicorn.Server, door: socket.socket) -> None:
        self._server, self._sockets = server, [door]
        self._thread = threading.Thread(target=self._run, name="standby", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Begin to end it, and with it its connections: nobody would answer what comes by them."""
        self._server.should_exit = True

    def close(self) -> None:
        """End it. May be called twice."""
        self.end()
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=self._sockets))
