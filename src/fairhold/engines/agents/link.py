"""One connection of an agent: non-blocking input and output."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fairhold.agent.frames import SERVICE, Channel
from fairhold.agent.tunnel import SECRET, TunnelError

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from fairhold.agent.tunnel import Tunnel
    from fairhold.engines.agents.authority import Certified

_CHUNK = 64 * 1024


class BrokenLinkError(Exception):
    """A connection is broken; the message says why, for users."""


class NotEnrolledError(Exception):
    """A host is not given a certificate, or the one that it shows does not count; the message says why."""


class Link:
    """A connection of an agent; the agent's name is known after its inventory has arrived.

    is_own  : it comes over the Unix socket, from the service's own machine
    peer    : where it comes from, as text for users
    most    : bytes that may wait to be sent; a peer with more does not read, and is dropped
    machine : of its agent, None until its inventory
    heard   : when it last said anything; moved : when bytes last went out or began to wait
    known   : attempts that this agent holds or was sent over this connection, until they end
    tunnel  : where TLS is spoken, None = it is not; certified : what its certificate says, once it is known
    is_done : it has got what it came for, and was never to be an agent
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        is_own: bool,
        peer: str,
        secret: bytes,
        most: int,
        now: float,
        tunnel: Tunnel | None = None,
    ) -> None:
        self.socket = sock
        self.is_own = is_own
        self.peer = peer
        self.machine: str | None = None
        self.heard = self.moved = now
        self.known: set[int] = set()
        self.interest = 0
        self.is_closed = self.is_done = False
        self._is_fresh = True
        self.tunnel = tunnel
        self.certified: Certified | None = None
        self._channel = Channel(SECRET if tunnel else secret, SERVICE)
        self._most = most
        self._waiting = bytearray(self._wrapped(self._channel.greeting))

    @property
    def backlog(self) -> int:
        """Bytes that wait to be sent."""
        return len(self._waiting)

    @property
    def pending(self) -> int:
        """Bytes that have come of a frame that is not whole."""
        return self._channel.pending + (self.tunnel.pending if self.tunnel else 0)

    def receive(self, now: float) -> list[dict[str, Any]]:
        """Messages that have come. Raises BrokenLinkError at the end, FrameError and OSError."""
        try:
            data = self.socket.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return []
        if not data:
            raise BrokenLinkError("the agent closed the connection")
        if self.tunnel:
            data = self._unwrapped(self.tunnel, data)
        messages = self._channel.feed(data)
        if messages:
            self.heard = now
        return messages

    def send(self, message: Mapping[str, Any]) -> None:
        """Put a message after those that wait. Raises FrameError where it is too long, BrokenLinkError."""
        frame = self._channel.seal(message)
        if self._waiting and len(self._waiting) + len(frame) > self._most:
            raise BrokenLinkError("the agent does not read what it is sent")
        self._is_fresh = self._is_fresh or not self._waiting
        self._waiting += self._wrapped(frame)

    def flush(self, now: float) -> None:
        """Send what the other end takes. Raises OSError."""
        if self._is_fresh:  # what waits has only begun to wait
            self.moved, self._is_fresh = now, False
        while self._waiting:
            try:
                with memoryview(self._waiting) as waiting, waiting[:_CHUNK] as chunk:
                    sent = self.socket.send(chunk)
            except (BlockingIOError, InterruptedError):
                return
            del self._waiting[:sent]
            self.moved = now

    def _wrapped(self, data: bytes) -> bytes:
        return self.tunnel.seal(data) if self.tunnel else data

    def _unwrapped(self, tunnel: Tunnel, data: bytes) -> bytes:
        """What the other end says by TLS; what has to be answered to that waits to be sent."""
        try:
            return tunnel.feed(data)
        except TunnelError as error:
            with suppress(OSError):
                self.socket.send(tunnel.take())  # so that the other end can say why
            raise BrokenLinkError(str(error)) from error
        finally:
            self._is_fresh = self._is_fresh or not self._waiting
            self._waiting += tunnel.take()

    def close(self) -> None:
        """Give the connection up."""
        self.is_closed = True
        self.socket.close()
