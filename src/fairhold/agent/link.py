"""The agent's connection to the service: reconnects with growing pauses; sends and receives frames."""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import suppress

from fairhold.agent.frames import AGENT, Channel, FrameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from fairhold.agent.tunnel import Tunnel

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE, _SHORT_PAUSE = 2.0, 0.4
"""Seconds between two tries; where there are several services, one of them is about to lead."""
_SILENCE = 4.0
"""Seconds for which a service may say nothing where another may have taken over."""
RECONNECT = signal.SIGURG
"""Tells an agent that another service listens where it connects: one that knows nothing of it ignores the signal."""
PATIENCE = 10.0
"""Seconds that the service may take to answer a new connection."""
_PORTION = 64 * 1024
"""Bytes that are received at once; room for much more than this is mapped anew for every message."""
_NO_WELCOME = (
    "the service refused: the secret differs, the certificate does not count, or another agent has the name of this "
    "host; see the service's log"
)
_UNACKNOWLEDGED = 20_000
"""Milliseconds after which a TCP connection whose peer acknowledges nothing is broken."""


class Address:
    """`unix:PATH`, `tcp:HOST:PORT` or `tls:HOST:PORT`. Raises ValueError where a text is none of these.

    is_secure : whether TLS is spoken there
    """

    def __init__(self, text: str) -> None:
        kind, _, rest = text.partition(":")
        host, _, port = rest.rpartition(":")
        if kind == "unix" and rest:
            self.path, self.host, self.port = rest, "", 0
        elif kind in {"tcp", "tls"} and host and port.isdecimal():
            self.path, self.host, self.port = "", host.strip("[]"), int(port)
        else:
            raise ValueError(f"{text} is not an address: unix:PATH, tcp:HOST:PORT or tls:HOST:PORT")
        self.text, self.is_secure = text, kind == "tls"

    def connect(self) -> socket.socket:
        """A socket that is connected or about to be; it does not block. Raises OSError."""
        if self.path:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            target: Any = self.path
        else:
            found = socket.getaddrinfo(self.host.encode(), self.port, type=socket.SOCK_STREAM)
            made = socket.socket(found[0][0], socket.SOCK_STREAM)
            target = found[0][4]
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED)
        try:
            made.settimeout(0)
            with suppress(BlockingIOError):
                made.connect(target)
        except OSError:
            made.close()
            raise
        return made


def addresses_of(text: str) -> list[Address]:
    """Addresses with commas in between. Raises ValueError where one is none, or they cannot be of one cluster."""
    found = [Address(each) for each in text.split(",")]
    if len(found) > 1 and (any(each.path for each in found) or len({each.is_secure for each in found}) > 1):
        raise ValueError(f"{text}: several addresses are all tcp:HOST:PORT, or all tls:HOST:PORT")
    return found


class Link:
    """One connection at a time, or the pause before the next.

    addresses : of services of which one leads: where one does not answer, the next is asked
    poll : watches the socket for the agent's loop
    host : as which the agent is known to the service
    secret : shared with the service; where TLS is spoken, the directory with the agent's identity stands in its place
    complain : is told, once, why there is no connection, and once of every connection that the service welcomes
    next_at : when to connect again, on the loop's clock; meaningless while there is a connection
    """

    def __init__(
        self,
        addresses: Sequence[Address],
        secret: bytes | str,
        poll: select.epoll,
        complain: Callable[[str], None],
        *,
        host: str,
    ) -> None:
        self._tunnel: Tunnel | None = None
        self._addresses, self._asked = addresses, 0
        self._secret, self._poll, self._complain = secret, poll, complain
        self._host, self._again, self._told = host, "", ""
        self._socket: socket.socket | None = None
        self._channel: Channel | None = None
        self._out = bytearray()
        self._pause = _FIRST_PAUSE
        self._events = 0
        self.next_at = 0.0
        self.is_welcome = False
        self.heard_at = 0.0

    @property
    def descriptor(self) -> int:
        """Of the socket; -1 = there is none."""
        return self._socket.fileno() if self._socket else -1

    @property
    def is_open(self) -> bool:
        """Whether frames may be sent."""
        return self._channel is not None and self._channel.is_open

    @property
    def patience(self) -> float:
        """Seconds that a service may take to answer a new connection."""
        return PATIENCE if len(self._addresses) == 1 else _SILENCE

    def silence(self, lease: float) -> float:
        """Seconds for which a service may say nothing that answers every beat; lease: seconds of it."""
        return max(PATIENCE, lease / 4) if len(self._addresses) == 1 else _SILENCE

    @property
    def _address(self) -> Address:
        return self._addresses[self._asked % len(self._addresses)]

    def connect(self, now: float) -> None:
        """Begin a connection; what goes wrong is tried again later."""
        try:
            self._socket = self._address.connect()
            self._greet()
        except (OSError, ValueError) as error:
            self.close(now, getattr(error, "strerror", None) or str(error))
            return
        self.heard_at = now
        self._events = select.EPOLLIN | select.EPOLLOUT
        self._poll.register(self._socket, self._events)

    def close(self, now: float, why: str = _NO_WELCOME) -> None:
        """End the connection; the next one comes after a pause."""
        if not self.is_welcome and why != self._told:
            self._told = why
            self._complain(f"no connection to {self._address.text}: {why}; trying again")
        if self._socket:
            with suppress(OSError):
                self._poll.unregister(self._socket)
            self._socket.close()
        self._socket = self._channel = self._tunnel = None
        self._out.clear()
        self.is_welcome = False
        self._asked += 1
        self.next_at = now + self._pause * (1 - os.urandom(1)[0] / 512)  # so that hosts do not come as one
        longest = _LONGEST_PAUSE if len(self._addresses) == 1 else _SHORT_PAUSE
        self._pause = min(self._pause * 2, longest)

    def welcome(self) -> None:
        """The service knows us: after a break, connect again at once."""
        self.is_welcome = True
        self._pause, self._told = _FIRST_PAUSE, ""
        self._complain(f"connected{self._again} to the service at {self._address.text} as host {self._host}")
        self._again = " again"

    def send(self, message: Mapping[str, Any]) -> None:
        """Add a frame to what `flush` sends; nothing without a connection. Raises FrameError where it is too long."""
        if self._channel is not None and self._channel.is_open:
            frame = self._channel.seal(message)
            self._out += self._tunnel.seal(frame) if self._tunnel else frame

    def receive(self, now: float) -> list[dict[str, Any]]:
        """What has arrived, in order; a broken connection is closed."""
        if not self._socket or not self._channel:
            return []
        try:
            data = self._socket.recv(_PORTION)
            messages = self._channel.feed(self._unwrapped(data))
        except BlockingIOError:
            return []
        except (OSError, FrameError) as error:
            self.close(now, getattr(error, "strerror", None) or str(error))
            return []
        if data:
            self.heard_at = now
        else:
            self.close(now)
        return messages

    def _greet(self) -> None:
        """What goes out first, by TLS where the service speaks it. Raises ValueError where there is no identity."""
        if isinstance(self._secret, bytes):
            self._channel = Channel(self._secret, AGENT)
            self._out = bytearray(self._channel.greeting)
            return
        from fairhold.agent.tunnel import SECRET, Tunnel, context_of  # noqa: PLC0415 - others start faster without it

        self._channel = Channel(SECRET, AGENT)
        self._tunnel = Tunnel(context_of(self._secret), is_service=False)
        self._out = bytearray(self._tunnel.seal(self._channel.greeting))

    def _unwrapped(self, data: bytes) -> bytes:
        """What the service says. Raises FrameError where it is no TLS, or not our service."""
        if self._tunnel is None or not data:
            return data
        from fairhold.agent.tunnel import TunnelError  # noqa: PLC0415 - likewise

        try:
            return self._tunnel.feed(data)
        except TunnelError as error:
            raise FrameError(str(error)) from error
        finally:
            self._out += self._tunnel.take()

    def flush(self, now: float) -> None:
        """Send what can be sent now; the rest when there is room."""
        if not self._socket:
            return
        try:
            while self._out:
                del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self.close(now)
            return
        wanted = select.EPOLLIN | (select.EPOLLOUT if self._out else 0)
        if wanted != self._events:
            self._events = wanted
            self._poll.modify(self._socket, wanted)


def check_identity(directory: str) -> None:
    """Raise ValueError where an agent cannot speak TLS, because it has not enrolled."""
    from fairhold.agent.tunnel import context_of  # noqa: PLC0415 - others start faster without it

    context_of(directory)


def read_secret(path: str) -> bytes:
    """The secret of a file, 64 hexadecimal digits.

    Raises OSError, and ValueError where there is no file or others may read it as well.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise ValueError(f"there is no file {path}; copy `secret` of the service's state directory there") from error
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            from shlex import quote  # noqa: PLC0415 - an agent that has its secret starts without it

            raise ValueError(f"{path} can be read by others; run: chmod 600 {quote(path)}")
        content = os.read(descriptor, 1024).strip()
    finally:
        os.close(descriptor)
    if len(content) != 64:
        raise ValueError(f"{path} holds no secret of 64 hexadecimal digits")
    try:
        return bytes.fromhex(content.decode())
    except ValueError as error:
        raise ValueError(f"{path} holds no secret of 64 hexadecimal digits") from error
