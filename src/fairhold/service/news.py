"""Notifies waiters in the event loop from the desk's thread: the log has grown, and which jobs have ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fairhold.runtime.live.desk import Desk


class News:
    """Tells of every commit, however many wait, with one message to the loop at a time.

    last    : number of the last entry of the log
    streams : how many follow it at present
    """

    def __init__(self, desk: Desk) -> None:
        self.last = desk.core.store.last
        self.streams = 0
        self._desk = desk
        self._lock = Lock()
        self._over: list[str] = []
        self._seq = self.last
        self._is_told = False
        self._is_ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._grown: set[asyncio.Future[None]] = set()
        self._ends: dict[str, set[asyncio.Future[None]]] = {}

    def open(self) -> None:
        """Begin to listen; called in the loop. May be called twice in one loop."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._desk.listeners.append(self._heard)

    def close(self) -> None:
        """Wake everybody: there will be no more. Called in the loop."""
        self._is_ended = True
        if self._heard in self._desk.listeners:
            self._desk.listeners.remove(self._heard)
        self._wake([waiting for each in self._ends.values() for waiting in each])
        self._wake(list(self._grown))

    @property
    def is_ended(self) -> bool:
        """Whether the service is stopping."""
        return self._is_ended

    async def counted(self, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
        """The same pieces, counted as a stream as long as somebody reads them."""
        self.streams += 1
        try:
            async for piece in pieces:
                yield piece
        finally:
            self.streams -= 1

    async def growth(self, after: int, seconds: float) -> None:
        """Wait until the log has entries above `after`, for some seconds at most, or until the service stops."""
        if self.last > after or self._is_ended:
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._grown.add(waiting)
        try:
            await self._wait(waiting, seconds)
        finally:
            self._grown.discard(waiting)

    def expect(self, job: str) -> End:
        """A place to wait for the end of a job; made before looking whether it is over."""
        return End(self, job)

    def _heard(self, seq: int) -> None:
        """A commit; in the desk's thread."""
        core = self._desk.core
        over, core.over = core.over, []
        with self._lock:
            self._seq = seq
            self._over += over
            if self._is_told or self._loop is None:
                return
            self._is_told = True
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        with self._lock:
            self.last, over, self._over = self._seq, self._over, []
            self._is_told = False
        for job in over:
            self._wake(list(self._ends.get(job, ())))
        self._wake(list(self._grown))

    @staticmethod
    def _wake(waiting: list[asyncio.Future[None]]) -> None:
        for each in waiting:
            if not each.done():
                each.set_result(None)

    @staticmethod
    async def _wait(waiting: asyncio.Future[None], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await waiting

    def enter(self, job: str, waiting: asyncio.Future[None]) -> None:
        """Be woken when a job is over."""
        self._ends.setdefault(job, set()).add(waiting)

    def leave(self, job: str, waiting: asyncio.Future[None]) -> None:
        """Be woken no more."""
        others = self._ends.get(job, set())
        others.discard(waiting)
        if not others:
            self._ends.pop(job, None)


class End:
    """The end of a job, for one who waits for it: `with news.expect(job) as end: … await end.wait(10)`."""

    def __init__(self, news: News, job: str) -> None:
        self._news = news
        self._job = job
        self._waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __enter__(self) -> End:  # noqa: PYI034 - it has no heirs
        self._news.enter(self._job, self._waiting)
        return self

    def __exit__(self, *_: object) -> None:
        self._news.leave(self._job, self._waiting)

    async def wait(self, seconds: float) -> None:
        """Wait for the end, for some seconds at most, or until the service stops."""
        if not self._news.is_ended:
            await self._news._wait(self._waiting, seconds)  # noqa: SLF001 - one thing in two classes
