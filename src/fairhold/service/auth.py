"""Authentication: a token, or the peer of the Unix socket; and the allowed origins."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import socket
import struct
from functools import partial
from hmac import compare_digest
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from fairhold.engines.private import drafted, read_private
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.service.settings import ServiceSettings

TOKEN = "token"  # noqa: S105 - the name of its file
_CREDENTIALS = struct.Struct("3i")
_ROOT = 0
_HERE = "fairhold"
"""What the service is called over its Unix socket, whatever port it listens on."""
_LONGEST_TOKEN = 4096
_HARD_TO_GUESS = re.compile(rb"[!-~]{20,}")


class Refused(NamedTuple):
    """Why somebody may not ask."""

    status: int
    fault: Fault
    headers: Mapping[str, str]


class Caller(NamedTuple):
    """Who asks.

    user : name
    may_change : whether more may be asked for than what is, and what would be
    """

    user: str
    may_change: bool = True


VIEWER = Caller("viewer", may_change=False)
"""Whoever has the viewers' token."""


class Peer(NamedTuple):
    """The other end of a connection.

    uid : number of its user where the connection is a Unix socket, None = it is not
    """

    uid: int | None


class Guard:
    """Checks requests: the name that they call, the page that they come from, who they are.

    token : of this service
    port  : that it listens on, 0 = any port is believed
    """

    def __init__(self, token: str, settings: ServiceSettings) -> None:
        self._token, self._viewers = token.encode(), settings.viewer_token
        self._names = settings.own_names()
        self._scheme = "https" if settings.is_secure else "http"
        self._own = os.getuid()
        self._user = user_name(self._own)
        self.port = settings.port

    def check(self, headers: Mapping[bytes, bytes], peer: Peer) -> Caller | Refused:
        """Who asks, or why it is refused."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not (self._is_own(host) or (host == _HERE and peer.uid is not None)):
            what = "the `Host` of the request is not a name of this service"
            return Refused(
                403,
                Fault("foreign-host", what, "use the address that the service printed, or add the name with --name"),
                {},
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"{self._scheme}://{host}":
            what = "the request comes from a page of another origin"
            return Refused(
                403, Fault("foreign-origin", what, "send it without a browser, or from this service's pages"), {}
            )
        if peer.uid is not None and peer.uid in {self._own, _ROOT}:
            return Caller(user_name(peer.uid))
        return self._by_token(headers.get(b"authorization", b""))

    def _is_own(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            return host in self._names
        return name in self._names and (not self.port or port == str(self.port))

    def _by_token(self, header: bytes) -> Caller | Refused:
        scheme, _, given = header.partition(b" ")
        challenge = {"WWW-Authenticate": "Bearer"}
        if scheme.lower() != b"bearer":
            fault = Fault("no-token", "the request has no token", "send `Authorization: Bearer TOKEN`")
            return Refused(401, fault, challenge)
        if not compare_digest(given.strip(), self._token):
            if self._is_of_viewers(given.strip()):
                return VIEWER
            fault = Fault("wrong-token", "the token is not this service's", "read it from the file `token` again")
            return Refused(401, fault, challenge)
        return Caller(self._user)

    def _is_of_viewers(self, given: bytes) -> bool:
        """Whether this is the viewers' token; its file is read anew, as others may write another into it."""
        if self._viewers is None:
            return False
        try:
            with self._viewers.open("rb") as file:
                token = file.read(_LONGEST_TOKEN).strip()
        except OSError:
            return False
        return bool(_HARD_TO_GUESS.fullmatch(token)) and compare_digest(given, token)


def user_name(uid: int) -> str:
    """Name of a user; the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def peer_of(connection: socket.socket | None) -> Peer:
    """Who is at the other end of a connection."""
    if connection is None or connection.family != socket.AF_UNIX:
        return Peer(None)
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return Peer(_CREDENTIALS.unpack(raw)[1])


def the_token(directory: Path) -> str:
    """The service's token, made once; a file that only its owner may read. One that anybody could guess is replaced.

    Raises InputError where others may read it, it is somebody else's or a link; OSError.
    """
    path = directory / TOKEN
    token = _read_token(path) if os.path.lexists(path) else b""
    if not _HARD_TO_GUESS.fullmatch(token):
        token = secrets.token_urlsafe(32).encode()
        with drafted(path, token + b"\n") as draft:
            draft.replace(path)
    return token.decode()


def _read_token(path: Path) -> bytes:
    mend = (
        f"others may know it: remove it, and a new one is made at the next start. Or run: chmod 600 {quote(str(path))}"
    )
    return read_private(path, _LONGEST_TOKEN, partial(_unusable, path), mend_mode=mend).strip()


def _unusable(path: Path, why: str, mend: str) -> InputError:
    return InputError([Fault("service-token", f"the service's token {why}", mend, file=str(path))])
