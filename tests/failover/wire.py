"""A connection between two programs of this machine that can be cut as a cable is, and mended."""

from __future__ import annotations

import contextlib
import socket
import threading


class Wire:
    """Passes on what comes at a port of its own to another port.

    While it is cut nothing arrives and nobody is told: who connects waits, and what was sent arrives when it is mended.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listening.getsockname()[1])
        self._whole = threading.Event()
        self._whole.set()
        self._ends: set[socket.socket] = set()
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._whole.clear()

    def mend(self) -> None:
        self._whole.set()

    def close(self) -> None:
        self._is_closed = True
        self._whole.set()
        for each in (self._listening, *list(self._ends)):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._ends.add(client)
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._whole.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            self._end(client)
            return
        self._ends.add(server)
        threading.Thread(target=self._pass_on, args=(server, client), daemon=True).start()
        self._pass_on(client, server)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while some := source.recv(65_536):
                self._whole.wait()
                if self._is_closed:
                    break
                sink.sendall(some)
        self._whole.wait()  # the end of a connection does not pass either
        self._end(source, sink)

    def _end(self, *ends: socket.socket) -> None:
        for each in ends:
            self._ends.discard(each)
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
