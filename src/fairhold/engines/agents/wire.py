"""The connections of agents: one thread at a time serves them, and none of them can block it."""

from __future__ import annotations

import os
import selectors
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from fairhold.agent.frames import FrameError
from fairhold.agent.tunnel import Tunnel
from fairhold.engines.agents import listening
from fairhold.engines.agents.link import BrokenLinkError, Link
from fairhold.engines.agents.turned_away import TurnedAway

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.engines.agents.settings import AgentSettings

    Ready = list[tuple[selectors.SelectorKey, int]]
    """Connections and doors of which the system says that something can be done, and what."""

_PAUSE = 1.0
"""Seconds for which nobody is let in when there are no descriptors left."""
_SOON = 0.01
"""Seconds; the clock is not looked at more often for connections alone."""
TROUBLES = (BrokenLinkError, FrameError, ValueError, OSError)
"""What makes a connection useless."""


class Listener(Protocol):
    """Receives what arrives over the connections."""

    def hear(self, link: Link, message: Mapping[str, Any], now: float) -> None:
        """A message; the first of a connection leaves `link.machine` set. Raises one of TROUBLES where it is none."""
        ...

    def lost(self, link: Link, why: str) -> None:
        """A connection whose agent is known is no more."""
        ...


class Wire:
    """All connections, and the sockets that accept them.

    complain : called with faults of a connection
    clock    : seconds that do not go back
    secure   : of the doors, the one where TLS is spoken, and what is shown there; None = there is none
    """

    def __init__(
        self,
        doors: Sequence[socket.socket],
        listener: Listener,
        *,
        secret: bytes,
        settings: AgentSettings,
        complain: Callable[[str], None],
        clock: Callable[[], float],
        secure: tuple[socket.socket, ssl.SSLContext] | None = None,
    ) -> None:
        self._doors, self._secure = list(doors), secure
        self._turned_away = TurnedAway(complain)
        self._listener = listener
        self._secret = secret
        self._settings = settings
        self._complain = complain
        self._clock = clock
        self._links: dict[Link, None] = {}
        self._strangers: dict[Link, float] = {}
        self._closed_until: float | None = None
        self._is_choked = False
        self._due = clock()
        self._selector = selectors.DefaultSelector()
        self._wake_out, self._wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector.register(self._wake_out, selectors.EVENT_READ, None)
        self._open_doors()

    def wake(self) -> None:
        """End the wait of `turn`; may be called from any thread while the wire is not closed."""
        with suppress(BlockingIOError):
            os.write(self._wake_in, b"!")

    def due(self, due: float, *, is_choked: bool) -> float:
        """When the clock is to be looked at: at `due`, or earlier for connections.

        is_choked : what comes cannot be taken: agents are not read
        """
        self._choke(is_choked=is_choked)
        return min(due, self._due)

    def wait(self, due: float) -> Ready:
        """What has come, at `due` at the latest; meanwhile another thread may send and give up."""
        return self._selector.select(max(0.0, due - self._clock()))

    def serve(self, ready: Ready) -> None:
        """Pass on what has come."""
        now = self._clock()
        for key, mask in ready:
            if isinstance(key.data, Link):
                self._serve(key.data, mask, now)
            elif key.data is None:
                with suppress(BlockingIOError):
                    os.read(self._wake_out, 4096)
            else:
                self._let_in(key.data, now)
        if now >= self._due:
            self._look_at_the_clock(now)

    def send(self, link: Link, message: Mapping[str, Any]) -> None:
        """Put a message after those that wait; `flush` sends them. Raises FrameError where it is too long."""
        if not link.is_closed:
            try:
                link.send(message)
            except BrokenLinkError as error:
                self.give_up(link, str(error))

    def flush(self, link: Link) -> None:
        """Send what the other end takes now; the rest goes when it takes it."""
        if not link.is_closed:
            self._try(link, lambda: link.flush(self._clock()))

    def give_up(self, link: Link, why: str) -> None:
        """Close a connection; nothing where it is closed."""
        if link.is_closed:
            return
        if link.interest:
            self._selector.unregister(link.socket)
        link.close()
        self._links.pop(link, None)
        self._strangers.pop(link, None)
        if link.is_done:
            return
        if link.machine is None:
            self._turned_away.note(link.peer, why, self._clock())
            self._due = min(self._due, self._turned_away.due)
        else:
            self._listener.lost(link, why)

    def close(self) -> None:
        """Close everything without a word to the listener."""
        for link in (*self._links, *self._strangers):
            link.close()
        for door in self._doors:
            door.close()
        self._selector.close()
        os.close(self._wake_out)
        os.close(self._wake_in)

    def _open_doors(self) -> None:
        for door in self._doors:
            self._selector.register(door, selectors.EVENT_READ, door)

    def _let_in(self, door: socket.socket, now: float) -> None:
        """Accept a connection; the oldest stranger goes where there are too many."""
        try:
            sock, address = door.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:  # mostly: no descriptor is left
            if self._closed_until is None:
                self._complain(f"no agent can connect for {_PAUSE:g} s: {error.strerror}")
                for one in self._doors:
                    self._selector.unregister(one)
                self._closed_until = now + _PAUSE
                self._due = min(self._due, self._closed_until)
            return
        sock.setblocking(False)  # noqa: FBT003 - the only form there is
        is_own = sock.family == socket.AF_UNIX
        if not is_own:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while len(self._strangers) >= self._settings.strangers:
            self.give_up(next(iter(self._strangers)), "too many did not identify themselves")
        peer = listening.peer_name(address, is_own=is_own)
        tunnel = Tunnel(self._secure[1], is_service=True) if self._secure and door is self._secure[0] else None
        secret, most = self._secret, self._settings.backlog
        link = Link(sock, is_own=is_own, peer=peer, secret=secret, most=most, now=now, tunnel=tunnel)
        self._strangers[link] = now + self._settings.handshake
        self._due = min(self._due, self._strangers[link])
        self.flush(link)

    def _serve(self, link: Link, mask: int, now: float) -> None:
        if mask & selectors.EVENT_WRITE:
            self.flush(link)
        if mask & selectors.EVENT_READ and not link.is_closed:  # by something else that was ready in the same round
            self._try(link, lambda: self._take_in(link, now))

    def _take_in(self, link: Link, now: float) -> None:
        for message in link.receive(now):
            if link.is_closed:
                return
            self._listener.hear(link, message, now)
            if self._strangers and link.machine is not None and self._strangers.pop(link, None) is not None:
                self._links[link] = None
                self._due = min(self._due, now + self._settings.silence)
        if link in self._strangers:
            self._bound_strangers()

    def _bound_strangers(self) -> None:
        """Drop the strangers that have sent most, as long as all together hold too much of the memory."""
        strangers = [link for link in self._strangers if not link.is_own]
        total = sum(link.pending for link in strangers)
        while total > self._settings.unproven:
            largest = max(strangers, key=lambda link: link.pending)
            strangers.remove(largest)
            total -= largest.pending
            self.give_up(largest, "connections sent too much before they identified themselves")

    def _try(self, link: Link, action: Callable[[], object]) -> None:
        """Do something with a connection; it is given up where that does not work."""
        try:
            action()
        except TROUBLES as error:
            self.give_up(link, getattr(error, "strerror", None) or str(error))
        else:
            self._watch(link)

    def _watch(self, link: Link) -> None:
        """Ask the system for what we wait for on this connection."""
        if link.is_closed:
            return
        interest = (0 if self._is_choked else selectors.EVENT_READ) | (selectors.EVENT_WRITE if link.backlog else 0)
        if interest != link.interest:
            if not interest:
                self._selector.unregister(link.socket)
            elif link.interest:
                self._selector.modify(link.socket, interest, link)
            else:
                self._selector.register(link.socket, interest, link)
            link.interest = interest

    def _choke(self, *, is_choked: bool) -> None:
        """Read agents no more, or again; their silence while nobody listened is not held against them."""
        if is_choked != self._is_choked:
            self._is_choked = is_choked
            now = self._clock()
            for link in (*self._links, *self._strangers):
                link.heard = now
                self._watch(link)

    def _look_at_the_clock(self, now: float) -> None:
        """Handshakes that take too long, agents that say nothing or do not read."""
        self._turned_away.look(now)
        if self._closed_until is not None and self._closed_until <= now:
            self._closed_until = None
            self._open_doors()
        for link in [link for link, deadline in self._strangers.items() if deadline <= now]:
            self.give_up(link, "it took too long")
        silence = self._settings.silence
        due = [now + silence, self._turned_away.due, *self._strangers.values()]
        for link in list(self._links):
            if link.backlog and link.moved + silence <= now:
                self.give_up(link, f"it read nothing for {silence:g} s")
            elif not self._is_choked and link.heard + silence <= now:
                self.give_up(link, f"it said nothing for {silence:g} s")
            else:
                due.append(silence + min(link.heard, link.moved if link.backlog else link.heard))
        if self._closed_until is not None:
            due.append(self._closed_until)
        self._due = max(now + _SOON, min(due))
