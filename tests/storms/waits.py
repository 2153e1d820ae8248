"""Waiting of simulated processes: for descriptors, for locks, and for one another's word."""

from __future__ import annotations

import select
import selectors
from typing import TYPE_CHECKING, Any

from tests.storms.descriptors import IN, OUT
from tests.storms.kernel import SECOND, Thread
from tests.storms.stands import Stand

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.storms.kernel import Kernel


def waiting(kernel: Kernel, look: Callable[[], list[Any]], seconds: float | None) -> list[Any]:
    """What `look` finds, as soon as there is something; nothing after so many seconds."""
    kernel.enter()
    thread = kernel.current
    assert thread is not None
    # Looking costs time, too: who looks again and again gets on.
    until = None if seconds is None or seconds == float("inf") else kernel.now + max(1, seconds * SECOND)
    while not (found := look()):
        if until is not None and kernel.now >= until:
            break
        thread.polls = True
        kernel.block(None if until is None else until + 1)
        thread.polls = False
    return found


class Epoll:
    """In the place of `select.epoll`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.wanted: dict[int, int] = {}

    def register(self, what: Any, mask: int) -> None:
        self.wanted[what if isinstance(what, int) else what.fileno()] = mask

    modify = register

    def unregister(self, what: Any) -> None:
        self.wanted.pop(what if isinstance(what, int) else what.fileno(), None)

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        return waiting(self.kernel, self._look, seconds)

    def _look(self) -> list[tuple[int, int]]:
        things = self.kernel.descriptors
        found = []
        for descriptor, mask in self.wanted.items():
            thing = things.get(descriptor)
            state = thing.state() & (mask | select.EPOLLHUP) if thing is not None else 0
            if state:
                found.append((descriptor, state))
        return found


class Select(Stand):
    """In the place of `select`."""

    real = select

    def epoll(self) -> Epoll:
        return Epoll(self.kernel)


class Selector:
    """In the place of `selectors.DefaultSelector`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, what: Any, events: int, data: Any) -> None:
        assert what not in self.keys
        number = what if isinstance(what, int) else what.fileno()
        self.keys[what] = selectors.SelectorKey(what, number, events, data)

    def modify(self, what: Any, events: int, data: Any) -> None:
        del self.keys[what]
        self.register(what, events, data)

    def unregister(self, what: Any) -> None:
        del self.keys[what]

    def select(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        return waiting(self.kernel, self._look, seconds)

    def _look(self) -> list[tuple[selectors.SelectorKey, int]]:
        found = []
        for key in list(self.keys.values()):
            thing = self.kernel.descriptors.get(key.fd)
            state = thing.state() if thing is not None else 0
            mask = (selectors.EVENT_READ if state & IN else 0) | (selectors.EVENT_WRITE if state & OUT else 0)
            if mask & key.events:
                found.append((key, mask & key.events))
        return found

    def close(self) -> None:
        self.keys.clear()


class Selectors(Stand):
    """In the place of `selectors`."""

    real = selectors

    def DefaultSelector(self) -> Selector:  # noqa: N802 - its name
        return Selector(self.kernel)


class Lock:
    """In the place of `threading.Lock`: who finds it taken waits, or is told so."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.holder: Thread | None = None
        self.waiting: list[Thread] = []

    def acquire(self, *, blocking: bool = True) -> bool:
        kernel = self.kernel
        if kernel.current is None:
            return True  # a thread of the HTTP side, which the simulation does not have: it has taken its turn
        if not blocking and kernel.random.random() < 0.1:
            return False  # as if another had been a little earlier
        while self.holder is not None:
            if not blocking:
                return False
            self.waiting.append(kernel.current)
            kernel.block()
        self.holder = kernel.current
        return True

    def release(self) -> None:
        if self.kernel.current is not None:
            self.holder = None
            if self.waiting:
                self.waiting.pop(0).wake()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Condition(Lock):
    """In the place of `threading.Condition`."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.sleeper: Thread | None = None

    def wait(self, seconds: float) -> None:
        self.release()
        self.sleeper = self.kernel.current
        self.kernel.block(self.kernel.now + seconds * SECOND)
        self.sleeper = None
        self.acquire()

    def notify(self) -> None:
        if self.sleeper is not None:
            self.sleeper.wake()


class Threading:
    """In the place of `threading`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def Lock(self) -> Lock:  # noqa: N802 - its name
        return Lock(self.kernel)

    def Condition(self) -> Condition:  # noqa: N802
        return Condition(self.kernel)

    def Thread(self, *, target: Callable[..., object], args: tuple[Any, ...] = (), **_: object) -> Started:  # noqa: N802
        return Started(self.kernel, lambda: target(*args))


class Started:
    """In the place of `threading.Thread`."""

    def __init__(self, kernel: Kernel, run: Callable[[], object]) -> None:
        self.kernel, self.run = kernel, run
        self.thread: Thread | None = None
        self.is_done = False

    def start(self) -> None:
        process = self.kernel.enter()
        self.thread = Thread(process, self._main)

    def _main(self) -> None:
        self.run()
        self.is_done = True

    def is_alive(self) -> bool:
        return self.thread is not None and not self.is_done

    def join(self) -> None:
        while not self.is_done:
            self.kernel.block(self.kernel.now + 1000)
