"""Serves a fake at a port and a Unix socket, and cuts connections when it is told to."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import pytest

from tests.client.fake import TOKEN, Document, Fake, Problem, fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: Fake

    def log_message(self, *_: Any) -> None:
        pass

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, OSError):
            self.close_connection = True

    def _serve(self) -> None:
        fake = self.fake
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with fake.lock:
            cut = fake.cuts.pop(0) if fake.cuts else "ok"
        if cut == "before":
            self.close_connection = True
            return
        body = json.loads(data) if data else None
        with fake.lock:
            fake.asked.append((self.command, self.path, body))
            fake.hosts_called.append(self.headers.get("Host", ""))
        head: Document = {}
        content: Document | bytes
        is_here = isinstance(self.server, socketserver.UnixStreamServer)
        try:
            if not is_here and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                raise Problem(401, fault("no-token", "the request has no token", "send one"))  # noqa: TRY301
            status, content, head = fake.answer(self.command, self.path, body, self.headers)
        except Problem as error:
            status = error.status
            first = error.faults[0]
            content = {"code": first["code"], "detail": first["what"], "status": status, "faults": error.faults}
        if cut == "after":
            self.close_connection = True
            return
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": len(sent), **head}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if cut == "during":
            self.wfile.write(sent[: len(sent) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(sent)

    do_GET = do_POST = do_PUT = do_PATCH = _serve  # noqa: N815


class _Here(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def running(folder: Path, fake: Fake | None = None, *, port: int = 0) -> Iterator[Fake]:
    """The fake at a port and a Unix socket, found through `folder`/current."""
    fake = fake or Fake()
    handler = type("Handler", (_Handler,), {"fake": fake})
    state = folder / "state"
    state.mkdir(exist_ok=True)
    socket = state / "api.sock"
    socket.unlink(missing_ok=True)
    (state / "token").write_text(TOKEN + "\n")
    with _Tcp(("127.0.0.1", port), handler) as tcp, _Here(str(socket), handler) as here:
        fake.url, fake.socket = f"http://127.0.0.1:{tcp.server_address[1]}", str(socket)
        document = {"url": fake.url, "socket": str(socket), "token_file": str(state / "token"), "pid": 1}
        (folder / "current").write_text(json.dumps(document))
        threads = [threading.Thread(target=each.serve_forever, args=(0.02,)) for each in (tcp, here)]
        for thread in threads:
            thread.start()
        try:
            yield fake
        finally:
            for server in (tcp, here):
                server.shutdown()
            for thread in threads:
                thread.join()
            socket.unlink(missing_ok=True)


def cuts_of(where: str) -> list[str]:
    """A connection that breaks three times and then holds."""
    return [where] * 3


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """A service that runs here, and nothing in the environment that names another."""
    for name in ("FAIRHOLD_SERVICE", "FAIRHOLD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path))
    with running(tmp_path) as found:
        yield found
