"""Asks the service with the standard library's HTTP client, which starts in a tenth of the time of others."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fairhold.client.errors import ConnectionLost, ServiceMissing
from fairhold.client.exchange import Pause, Request, Response, carry_through
from fairhold.client.finding import START, Target, find
from fairhold.client.rotation import PATIENCE as ANSWER_OF_SEVERAL
from fairhold.client.rotation import Rotation, Tries

if TYPE_CHECKING:
    from fairhold.client.exchange import Returned, Steps
    from fairhold.client.login import Renewed

Asked = str | Target
"""Which service is meant: as `--service` names it, or found already."""
_CONNECT, _ANSWER = 10.0, 90.0
"""Seconds until somebody answers at all, and until a request is answered besides the time that it asks to wait."""
_CREDENTIALS = 12
"""Bytes: three numbers, the process, its user and its group."""


class Connection:
    """A connection to a service, opened with the first request and again after it broke.

    answer : seconds that an answer may take
    peer   : number of the process that was connected to last by a Unix socket, 0 = it is not known
    """

    def __init__(self, target: Target, *, answer: float = _ANSWER) -> None:
        self._rotation = Rotation(target)
        self.target = self._rotation.targets[0]
        self._answer = answer if not target.others else min(answer, ANSWER_OF_SEVERAL)
        self._http: HTTPConnection | None = None
        self.peer = 0
        self._signed_in = self._by_sign_in() if target.sign_ins else None

    def _turn(self, at: int) -> None:
        """Ask the service at a place."""
        if self.target is not (now := self._rotation.targets[at]):
            self.close()
            self.target = now
            self._signed_in = self._by_sign_in() if now.sign_ins else None

    def run(self, steps: Steps[Returned]) -> Returned:
        """Carry out steps (see `client.exchange`); raises Refused and ServiceError."""
        return carry_through(steps, self._carry_out)

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _by_sign_in(self) -> Renewed:
        from fairhold.client.login import Renewed  # noqa: PLC0415 - most commands need none of it

        assert self.target.sign_ins is not None
        return Renewed(self.target.sign_ins, self.target.key, self._ask_without)

    def _ask_without(self, request: Request) -> Response:
        """Ask over a connection of its own, without a token."""
        other = Connection(self.target._replace(sign_ins=None), answer=self._answer)
        try:
            answer = other._carry_out(request)
        finally:
            other.close()
        assert answer is not None
        return answer

    def _carry_out(self, step: Request | Pause) -> Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        tries = Tries(self._rotation)
        while True:
            self._turn(tries.at)
            try:
                outcome: Response | ServiceMissing = self._asked(step)
            except ServiceMissing as error:
                outcome = error
            except ConnectionLost:
                tries.broke()
                raise
            if (answer := tries.judge(outcome)) is not None:
                return answer

    def _asked(self, step: Request) -> Response:
        """The answer of one service. Raises ServiceMissing, ConnectionLost."""
        token = self._signed_in.token() if self._signed_in else self.target.token
        http = self._open()
        try:
            assert http.sock is not None
            http.sock.settimeout(self._answer + step.wait)
            head = {"Host": self.target.host} if self.target.host else {}
            head |= {"Authorization": f"Bearer {token}"} if token else {}
            with suppress(BrokenPipeError, ConnectionResetError):  # who refuses a large body may have answered by now
                http.request(step.method, step.path, step.body, {**step.headers, **head})
            answer = http.getresponse()
            response = Response(
                answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
            )
        except (OSError, HTTPException) as error:
            self.close()
            raise ConnectionLost(f"the connection to {self.target.name} broke: {_why(error)}") from error
        except BaseException:  # what is half read cannot be used again
            self.close()
            raise
        if http.sock is None:
            self._http = None
        return response

    def _open(self) -> HTTPConnection:
        if self._http is not None:
            return self._http
        http = _connection(self.target)
        try:
            http.connect()
        except (OSError, HTTPException) as error:
            what = f"the service at {self.target.name} does not answer: {_why(error)}; {START}"
            raise ServiceMissing(what) from error
        self._http = http
        self.peer = _peer(http.sock)
        return http


class _Here(HTTPConnection):
    """A connection over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("fairhold", timeout=_CONNECT)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_CONNECT)
        self.sock.connect(self._path)


def _connection(target: Target) -> HTTPConnection:
    if target.socket:
        return _Here(target.socket)
    parts = urlsplit(target.url)
    assert parts.hostname is not None
    if parts.scheme == "https":
        try:
            context = ssl.create_default_context(cafile=target.certificates or None)
        except OSError as error:
            raise ServiceMissing(f"the certificates in {target.certificates} cannot be read: {_why(error)}") from None
        return HTTPSConnection(parts.hostname, parts.port, timeout=_CONNECT, context=context)
    return HTTPConnection(parts.hostname, parts.port, timeout=_CONNECT)


def _peer(sock: socket.socket | None) -> int:
    """As this process sees it: the socket may be of another container."""
    if sock is None or sock.family != socket.AF_UNIX:
        return 0
    return int.from_bytes(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS)[:4], sys.byteorder)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def connect(service: Asked, *, answer: float = _ANSWER) -> Connection:
    """A connection to the service that is meant; raises ServiceMissing, UsageError.

    service : as `--service` names it, empty = as the environment says, or the one that runs here
    """
    return Connection(service if isinstance(service, Target) else find(service or None), answer=answer)
