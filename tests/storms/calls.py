"""What the product asks of an operating system, answered by the kernel of the simulation.

Each class stands in the place of a module of the standard library, or of one of the product's that reads /proc.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import time
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self

from tests.storms.descriptors import OpenFile, Pipe, PipeIn, Socket, Watched, fault
from tests.storms.kernel import SECOND, Process
from tests.storms.stands import Stand

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tests.storms.descriptors import Network
    from tests.storms.kernel import Host, Kernel

NOT_KEPT = "/jobs/"
"""Below it is what tasks print, which nobody looks at."""


class Paths:
    """In the place of `os.path`."""

    join, dirname = staticmethod(os.path.join), staticmethod(os.path.dirname)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def exists(self, path: str) -> bool:
        return path in self.kernel.enter().host.files

    def isdir(self, _path: str) -> bool:
        return False

    def samestat(self, one: Any, other: Any) -> bool:
        return one is other


class System(Stand):
    """In the place of `os`."""

    real = os

    def __init__(self, kernel: Kernel, launch: Callable[[Process, dict[str, str]], Process]) -> None:
        super().__init__(kernel)
        self.path, self.launch = Paths(kernel), launch
        self.environ = os.environ

    def _thing(self, descriptor: int) -> Any:
        try:
            return self.kernel.descriptors[descriptor]
        except KeyError:
            raise fault(errno.EBADF) from None

    def open(self, path: str, flags: int, _mode: int = 0o777) -> int:
        host = self.kernel.enter().host
        content = host.files.get(path)
        if content is None and path != "/dev/null" and not path.endswith("/spool"):
            if not flags & os.O_CREAT:
                raise fault(errno.ENOENT)
            if host.is_full:
                raise fault(errno.ENOSPC)
            content = bytearray()
            if NOT_KEPT not in path:
                host.files[path] = content
        elif flags & os.O_TRUNC and content is not None:
            content.clear()
        return self.kernel.open(OpenFile(bytearray() if content is None else content, host))

    def close(self, descriptor: int) -> None:
        self.kernel.enter()
        self._thing(descriptor)
        self.kernel.close(descriptor)

    def read(self, descriptor: int, size: int) -> bytes:
        self.kernel.enter()
        thing = self._thing(descriptor)
        taken: bytes = bytes(thing.content[:size]) if isinstance(thing, OpenFile) else thing.take(size)
        return taken

    def write(self, descriptor: int, data: bytes) -> int:
        self.kernel.enter()
        thing = self._thing(descriptor)
        if isinstance(thing, OpenFile):
            return thing.write(data, len(thing.content))
        thing.put(data)
        return len(data)

    def pread(self, descriptor: int, size: int, place: int) -> bytes:
        self.kernel.enter()
        return bytes(self._thing(descriptor).content[place : place + size])

    def pwrite(self, descriptor: int, data: bytes, place: int) -> int:
        self.kernel.enter()
        written: int = self._thing(descriptor).write(bytes(data), place)
        return written

    def rename(self, old: str, new: str) -> None:
        files = self.kernel.enter().host.files
        if old not in files:
            raise fault(errno.ENOENT)
        files[new] = files.pop(old)

    def unlink(self, path: str) -> None:
        if self.kernel.enter().host.files.pop(path, None) is None:
            raise fault(errno.ENOENT)

    def listdir(self, directory: str) -> list[str]:
        files = self.kernel.enter().host.files
        return [path.removeprefix(f"{directory}/") for path in files if path.startswith(f"{directory}/")]

    def makedirs(self, _path: str, _mode: int = 0, *, exist_ok: bool = False) -> None:
        assert exist_ok

    def mkdir(self, _path: str, _mode: int = 0) -> None:
        self.kernel.enter()

    def rmdir(self, _path: str) -> None:
        raise fault(errno.ENOENT)

    def fsync(self, _descriptor: int) -> None:
        self.kernel.enter()

    def fstat(self, descriptor: int) -> Any:
        self.kernel.enter()
        return Size(len(self._thing(descriptor).content))

    def lstat(self, _path: str) -> Any:
        raise fault(errno.ENOENT)

    def pipe2(self, _flags: int) -> tuple[int, int]:
        self.kernel.enter()
        pipe = Pipe()
        return self.kernel.open(pipe), self.kernel.open(PipeIn(pipe))

    def getpid(self) -> int:
        assert self.kernel.current is not None
        return self.kernel.current.process.pid

    def kill(self, pid: int, number: int) -> None:
        found = self.kernel.enter().host.processes.get(pid)
        if found is not None:  # else it was not waited for yet, or has ended on the way
            found.signal(number)

    def waitpid(self, pid: int, flags: int) -> tuple[int, int]:
        number, status, _ = self.wait4(pid, flags)
        return number, status

    def wait4(self, _pid: int, _flags: int) -> tuple[int, int, Any]:
        process = self.kernel.enter()
        if process.zombies:
            number, status = process.zombies.pop(0)
            return number, status, Used
        if not process.children:
            raise fault(errno.ECHILD)
        return 0, 0, Used

    def pidfd_open(self, pid: int) -> int:
        found = self.kernel.enter().host.processes.get(pid)
        if found is None:
            raise fault(errno.ESRCH)
        return self.kernel.open(Watched(found))

    def urandom(self, size: int) -> bytes:
        return self.kernel.random.randbytes(size)

    def chdir(self, _path: str) -> None:
        self.kernel.enter()

    def access(self, _path: str, _mode: int) -> bool:
        return True

    def posix_spawn(self, _path: str, _argv: object, environment: dict[str, str], **_: object) -> int:
        process = self.kernel.enter()
        if self.kernel.random.random() < 0.002:
            raise fault(errno.EAGAIN)
        return self.launch(process, environment).pid


class Size:
    """What `fstat` tells."""

    def __init__(self, size: int) -> None:
        self.st_size = size


class Used:
    """What `wait4` tells of a process."""

    ru_utime = ru_stime = 0.001
    ru_maxrss = 1000


class Signals(Stand):
    """In the place of `signal`."""

    real = signal

    def pthread_sigmask(self, *_: object) -> None:
        self.kernel.enter()

    def set_wakeup_fd(self, descriptor: int, **_: object) -> None:
        self.kernel.enter().wake_descriptor = descriptor

    def signal(self, number: int, handler: Any) -> None:
        if callable(handler):
            self.kernel.enter().handlers[number] = handler

    def sigtimedwait(self, wanted: Collection[int], seconds: float) -> Any:
        process, kernel = self.kernel.enter(), self.kernel
        until = kernel.now + max(1, seconds * SECOND)
        thread = kernel.current
        assert thread is not None
        while True:
            for number in wanted:
                if number in process.pending:
                    process.pending.discard(int(number))
                    return Told(int(number))
            if kernel.now >= until:
                return None
            thread.waits_for = frozenset(map(int, wanted))
            kernel.block(until + 1)
            thread.waits_for = frozenset()


class Told:
    """What `sigtimedwait` tells."""

    def __init__(self, number: int) -> None:
        self.si_signo = number


class Times(Stand):
    """In the place of `time`: each host has clocks of its own."""

    real = time

    def host(self) -> Host:
        """Whose clock is looked at; nothing happens to a process for that."""
        assert self.kernel.current is not None
        return self.kernel.current.process.host

    def uptime(self) -> float:
        """Seconds since the start of the host whose process runs."""
        return self.host().uptime()

    def time_ns(self) -> int:
        return self.host().time_of_day() * 1000

    def clock_gettime(self, _clock: int) -> float:
        return self.host().uptime()

    def clock_gettime_ns(self, _clock: int) -> int:
        return int(self.host().uptime() * SECOND) * 1000

    def monotonic(self) -> float:
        return self.uptime()

    def sleep(self, seconds: float) -> None:
        self.kernel.enter()
        self.kernel.block(self.kernel.now + seconds * SECOND)

    strftime, gmtime, perf_counter_ns = staticmethod(time.strftime), staticmethod(time.gmtime), staticmethod(lambda: 0)


class Sockets(Stand):
    """In the place of `socket`, for an agent."""

    real = socket

    def __init__(self, kernel: Kernel, network: Network) -> None:
        super().__init__(kernel)
        self.network = network

    def socket(self, family: int, _kind: int) -> Socket:
        return Socket(self.network, family, self.kernel.enter().host)

    def getaddrinfo(self, host: bytes, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, 0, 0, "", (host.decode(), port))]


def reading(kernel: Kernel) -> Callable[..., Any]:
    """In the place of `open`, of small files."""

    def opened(path: str, mode: str, **_: object) -> Any:
        host = kernel.enter().host
        if mode == "w":
            if host.is_full:
                raise fault(errno.ENOSPC)
            return Written(host.files, path)
        if path not in host.files:
            raise fault(errno.ENOENT)
        return BytesIO(host.files[path])

    return opened


class Written:
    """A file that is being written."""

    def __init__(self, files: dict[str, bytearray], path: str) -> None:
        self.content = files[path] = bytearray()

    def write(self, text: str) -> None:
        self.content += text.encode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...
