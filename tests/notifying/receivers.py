"""Who is told, for tests: a receiver of webhooks and a mail server, both real, on loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from aiosmtpd.smtp import SMTP, AuthResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aiosmtpd.smtp import Envelope, Session


def until(look: Callable[[], Any], seconds: float = 10) -> Any:
    """What a look gives as soon as that is something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)
    return found


class Got(NamedTuple):
    head: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """A receiver of webhooks; answers with these statuses in turn, then with 204. 0 = it hangs up without an answer."""

    def __init__(self, *statuses: int, location: str = "", certificate: tuple[Path, Path] | None = None) -> None:
        self.got: list[Got] = []
        self.statuses = list(statuses)
        self.may_answer = Event()
        self.may_answer.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(Got({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.may_answer.wait(20)
                status = receiver.statuses.pop(0) if receiver.statuses else 204
                if status:
                    self.send_response(status)
                    if location:
                        self.send_header("Location", location)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.scheme = "https"
        self.port = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook/s3cret-part"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, number: int) -> list[Got]:
        until(lambda: len(self.got) >= number)
        return self.got


class Mailbox:
    """A mail server that keeps what it gets.

    users       : name → password, where it asks for one
    certificate : with it, TLS has to be begun by STARTTLS; is_tls: from the first byte
    """

    def __init__(
        self,
        users: dict[str, str] | None = None,
        certificate: tuple[Path, Path] | None = None,
        *,
        is_tls: bool = False,
    ) -> None:
        self.got: list[tuple[list[str], str]] = []
        self.refusal = ""
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
        self._tls = context if is_tls else None

        def authenticate(_s: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, given: Any) -> AuthResult:
            is_right = (users or {}).get(given.login.decode()) == given.password.decode()
            return AuthResult(success=is_right, handled=False)

        by_command = context if not is_tls else None
        self._terms: dict[str, Any] = {"tls_context": by_command, "require_starttls": by_command is not None}
        self._has_users = bool(users)
        if users:  # of TLS from the first byte the library knows nothing
            self._terms |= {"auth_require_tls": not is_tls, "authenticator": authenticate}
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0

    async def handle_DATA(  # noqa: N802 - as the library calls it
        self,
        _server: SMTP,
        session: Session,
        envelope: Envelope,
    ) -> str:
        if self._has_users and not session.authenticated:
            return "530 authentication required"
        if self.refusal:
            return self.refusal
        assert isinstance(envelope.content, bytes)
        self.got.append((list(envelope.rcpt_tos), envelope.content.decode()))
        return "250 OK"

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def _listen(self) -> asyncio.Server:
        made = lambda: SMTP(self, loop=self._loop, **self._terms)  # noqa: E731
        return await self._loop.create_server(made, "127.0.0.1", 0, ssl=self._tls)

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def wait(self, number: int) -> list[tuple[list[str], str]]:
        until(lambda: len(self.got) >= number)
        return self.got
