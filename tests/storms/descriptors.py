"""What a descriptor of a simulated process can be: an open file, the end of a pipe, a process, a socket, a door."""

from __future__ import annotations

import errno
import os
import select
import socket
from typing import TYPE_CHECKING, Any

from tests.storms.kernel import SECOND

if TYPE_CHECKING:
    from tests.storms.kernel import Host, Kernel, Process

IN, OUT, GONE = select.EPOLLIN, select.EPOLLOUT, select.EPOLLHUP
WINDOW = 64 * 1024
"""Bytes that may be on the way, or wait to be read, in one direction of a connection."""


def fault(number: int) -> OSError:
    """What a system call raises; of the kind that Python has for it."""
    return OSError(number, os.strerror(number))


class Thing:
    """Something behind a descriptor; state: whether it can be read, written, or is gone."""

    owner: Process | None = None

    def opened(self, process: Process) -> None:
        self.owner = process

    def closed(self) -> None:
        """Its last descriptor is closed."""

    def state(self) -> int:
        return 0

    def stir(self) -> None:
        """Its state is another: those of its process who wait for one look again."""
        for thread in self.owner.threads if self.owner else ():
            if thread.polls:
                thread.wake()


class OpenFile(Thing):
    """A file of a host; an unnamed content is kept by nobody else."""

    def __init__(self, content: bytearray, host: Host) -> None:
        self.content, self.host = content, host

    def write(self, data: bytes, place: int) -> int:
        if place + len(data) > len(self.content) and self.host.is_full:
            raise fault(errno.ENOSPC)
        if len(self.content) < place:
            self.content.extend(bytes(place - len(self.content)))
        self.content[place : place + len(data)] = data
        return len(data)


class Pipe(Thing):
    """The end of a pipe that is read; several may write."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.is_closed = False

    def put(self, data: bytes) -> None:
        if self.is_closed:
            raise fault(errno.EPIPE)
        self.content += data
        self.stir()

    def take(self, size: int) -> bytes:
        if not self.content:
            raise fault(errno.EAGAIN)
        taken = bytes(self.content[:size])
        del self.content[:size]
        return taken

    def state(self) -> int:
        return IN if self.content else 0

    def closed(self) -> None:
        self.is_closed = True


class PipeIn(Thing):
    """An end of a pipe that is written to."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def put(self, data: bytes) -> None:
        self.pipe.put(data)


class Watched(Thing):
    """A process that is watched: readable when it is over."""

    def __init__(self, process: Process) -> None:
        self.process = process
        before = process.on_end

        def over() -> None:
            before()
            self.stir()

        process.on_end = over

    def state(self) -> int:
        return IN if self.process.is_over else 0


class Network:
    """Who can reach whom.

    doors : by address, unix:HOST or tcp:HOST:PORT
    cut   : hosts that are cut off
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.doors: dict[str, Door] = {}
        self.cut: set[str] = set()
        self.links: list[Socket] = []

    def delay(self) -> int:
        """Microseconds that some bytes are on the way."""
        random = self.kernel.random
        chance = random.random()
        return 20 + int(chance * 2000) if chance < 0.97 else int((chance - 0.97) * 100 * SECOND)

    def break_links(self, host: str, *, is_noticed: bool) -> None:
        """All connections of a host break; what is on the way is lost.

        is_noticed : the system tells both ends; else each finds out by itself
        """
        for link in [link for link in self.links if link.host is not None and link.host.name == host]:
            link.break_off(is_noticed=is_noticed)
        self.links = [link for link in self.links if link.is_linked]

    def heal(self, host: str) -> None:
        """A host can be reached again: what was said goes on its way once more."""
        self.cut.discard(host)
        for link in self.links:
            link.go_on()


class Door(Thing):
    """A listening socket."""

    def __init__(self, network: Network, address: str) -> None:
        self.network, self.address = network, address
        self.family = socket.AF_UNIX if address.startswith("unix") else socket.AF_INET
        self.queue: list[Socket] = []
        network.doors[address] = self

    def knock(self, other: Socket) -> None:
        """Somebody connects."""
        self.queue.append(other)
        self.stir()

    def accept(self) -> tuple[Socket, Any]:
        if not self.queue:
            raise fault(errno.EAGAIN)
        made = self.queue.pop(0)
        made.descriptor = self.network.kernel.open(made)
        return made, "" if self.family == socket.AF_UNIX else ("10.0.0.1", 7)

    def state(self) -> int:
        return IN if self.queue else 0

    def fileno(self) -> int:
        return self.descriptor

    descriptor = -1

    def close(self) -> None:
        """Closed by its program; the network knows it no more."""
        if self.network.doors.get(self.address) is self:
            del self.network.doors[self.address]
            self.network.kernel.close(self.descriptor)

    def closed(self) -> None:
        self.network.doors.pop(self.address, None)
        for waiting in self.queue:
            waiting.closed()


class Socket(Thing):
    """One end of a stream: what is sent arrives in its order, in any pieces, or is lost with the connection.

    host : of the agent's end; is_linked: it has not broken and neither end has closed it
    """

    def __init__(self, network: Network, family: int, host: Host | None = None) -> None:
        self.network, self.family, self.host = network, family, host
        self.descriptor = -1
        self.peer: Socket | None = None
        self.content = bytearray()
        self.is_linked = self.is_reset = self.is_ended = self.is_closed = False
        self._sent: list[bytes] = []
        self._under_way = 0
        self._arrives_at = 0
        self._is_moving = False

    def settimeout(self, _seconds: float) -> None: ...

    def setblocking(self, _flag: bool) -> None: ...  # noqa: FBT001 - as of a socket

    def setsockopt(self, *_: object) -> None: ...

    def fileno(self) -> int:
        return self.descriptor

    def connect(self, target: Any) -> None:
        kernel = self.network.kernel
        kernel.enter()
        address = f"unix:{target}" if isinstance(target, str) else "tcp"
        self.descriptor = kernel.open(self)
        door = self.network.doors.get(address)
        assert self.host is not None
        if self.family != socket.AF_UNIX and self.host.name in self.network.cut:
            return  # nobody answers
        if door is None:
            raise fault(errno.ECONNREFUSED)
        other = self.peer = Socket(self.network, self.family)
        other.peer, other.host = self, self.host
        self.is_linked = other.is_linked = True
        self.network.links += [self, other]
        kernel.after(self.network.delay(), lambda: door.knock(other))

    def send(self, data: Any) -> int:
        self.network.kernel.enter()
        if self.is_reset:
            raise fault(errno.ECONNRESET)
        if self.is_ended and self.is_closed:
            raise fault(errno.EPIPE)
        if self.peer is None:
            raise fault(errno.EAGAIN)
        size = min(len(data), WINDOW - self._under_way - len(self.peer.content))
        if size <= 0:
            raise fault(errno.EAGAIN)
        self._sent.append(bytes(data[:size]))
        self._under_way += size
        self.go_on()
        return size

    def go_on(self) -> None:
        """What was sent is on its way, a piece after the other."""
        if self._is_moving or not self._sent or not self.is_linked or self._is_cut():
            return
        kernel = self.network.kernel
        self._is_moving = True
        kernel.after(self.network.delay(), self._arrive)

    def _is_cut(self) -> bool:
        return self.family != socket.AF_UNIX and self.host is not None and self.host.name in self.network.cut

    def _arrive(self) -> None:
        self._is_moving = False
        if not self.is_linked or self._is_cut() or self.peer is None:
            return
        data = b"".join(self._sent)
        self._sent.clear()
        random = self.network.kernel.random
        if len(data) > 1 and random.random() < 0.1:
            part = random.randrange(1, len(data))
            self._sent.append(data[part:])
            data = data[:part]
        self._under_way -= len(data)
        self.peer.content += data
        self.peer.stir()
        self.stir()
        self.go_on()

    def recv(self, size: int) -> bytes:
        self.network.kernel.enter()
        if self.content:
            taken = bytes(self.content[:size])
            del self.content[:size]
            return taken
        if self.is_reset:
            raise fault(errno.ECONNRESET)
        if self.is_ended:
            return b""
        raise fault(errno.EAGAIN)

    def state(self) -> int:
        found = IN if self.content or self.is_ended or self.is_reset else 0
        if self.is_reset:
            return found | OUT | GONE
        room = self.peer is not None and self._under_way + len(self.peer.content) < WINDOW
        return found | OUT if room else found

    def break_off(self, *, is_noticed: bool) -> None:
        """The connection is no more; what this end has sent and the other has not got is lost."""
        self.is_linked = False
        self._sent.clear()
        if is_noticed:
            self.network.kernel.after(self.network.delay(), self._reset)

    def _reset(self) -> None:
        self.is_reset = True
        self.stir()

    def close(self) -> None:
        """Closed by its program."""
        if self.descriptor in self.network.kernel.descriptors:
            self.network.kernel.close(self.descriptor)

    def closed(self) -> None:
        if self.is_closed:
            return
        self.is_closed, self.is_linked = True, False
        peer = self.peer
        if peer is not None and peer.is_linked:
            peer.is_linked = False
            kernel = self.network.kernel
            if not self._is_cut():
                data = b"".join(self._sent) if kernel.random.random() < 0.7 else b""
                kernel.after(self.network.delay(), lambda: peer.ends(data))
        self._sent.clear()

    def ends(self, data: bytes) -> None:
        """The other end has closed it, after this."""
        self.content += data
        self.is_ended = True
        self.stir()
