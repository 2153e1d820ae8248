"""A wire between a client and a server that a test cuts where it wants."""

from __future__ import annotations

import contextlib
import socket
import threading


class Proxy:
    """Passes on what comes at a port of its own to another port of this machine.

    cuts : empty = nothing; `asked` = the next thing that is asked never arrives; `answer` = it arrives, and its answer
           is lost. Afterwards the connection is gone, and nobody is let in until it is empty again
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.cuts = ""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.cuts:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._port))
            for pair, cut in (((client, server), "asked"), ((server, client), "answer")):
                threading.Thread(target=self._pass_on, args=(*pair, cut), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, cut: str) -> None:
        with contextlib.suppress(OSError):
            while (some := source.recv(65_536)) and self.cuts != cut:
                sink.sendall(some)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        """Let nobody in any more."""
        self._listening.close()
