"""Ends the wait for a server that neither answers nor goes, such as one that is stopped while its machine runs."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 60.0
"""How long an answer may take: longer than any transaction of a service does."""


class Patience:
    """Watches who waits at which socket, in a thread of its own that begins with the first."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._begun: dict[int, float] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def at(self, descriptor: int) -> Iterator[None]:
        """Somebody waits here. Where that takes too long the connection is broken, and who waits meets that."""
        with self._lock:
            before = self._begun.get(descriptor)
            self._begun[descriptor] = time.monotonic() if before is None else before
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="fairhold-patience", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            if before is None:
                with self._lock:
                    del self._begun[descriptor]

    def _run(self) -> None:
        while True:
            time.sleep(self.seconds / 20)
            latest = time.monotonic() - self.seconds
            with self._lock:  # so that no descriptor is another's meanwhile
                for descriptor, begun in self._begun.items():
                    if begun < latest:
                        _break(descriptor)


def _break(descriptor: int) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
        connection.shutdown(socket.SHUT_RDWR)


PATIENCE = Patience()
