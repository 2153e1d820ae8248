"""A service with its doors open: TCP and the Unix socket, over a desk without processes."""

from __future__ import annotations

import asyncio
import select
import subprocess
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

from fairhold.service.server import run
from fairhold.service.settings import ServiceSettings
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


def serving(place: Path, work: Callable[[Bank, str], Awaitable[None]], **more: Any) -> str:
    """Do something while a service runs, until it stops; how it did. Settings of the service may be given."""
    with Bank(place / "state") as bank:
        settings = ServiceSettings(bank.place, port=0, patience=2, beat=0.1, **more)

        async def both() -> str:
            ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            running = asyncio.create_task(run(bank.desk, settings, on_ready=ready.set_result))
            await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
            try:
                if not running.done():
                    await work(bank, ready.result())
                return await asyncio.wait_for(running, 10)
            finally:
                while Line.opened:
                    Line.opened.pop().cut()

        return asyncio.run(both())


def own_certificate(place: Path) -> tuple[Path, Path]:
    """Files of a certificate for this machine, and of its key."""
    certificate, key = place / "cert.pem", place / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def here(bank: Bank, socket: Path | None = None) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(socket or bank.place / "api.sock"))
    return httpx.AsyncClient(transport=transport, base_url="http://fairhold", timeout=10)


class Line:
    """A connection to a service, byte by byte; cut when the service is over."""

    opened: ClassVar[list[Line]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, bank: Bank) -> Line:
        cls.opened.append(cls(*await asyncio.open_unix_connection(str(bank.place / "api.sock"))))
        return cls.opened[-1]

    @classmethod
    async def open_by_tcp(cls, url: str) -> Line:
        host, _, port = url.removeprefix("http://").partition(":")
        cls.opened.append(cls(*await asyncio.open_connection(host, int(port))))
        return cls.opened[-1]

    async def send(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)
        await self.writer.drain()

    async def rest(self) -> str:
        """Everything until the service closes."""
        try:
            async with asyncio.timeout(10):
                return (await self.reader.read()).decode()
        except ConnectionError:
            return ""

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer, which has a length."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split()[0])
        return int(head.split()[1]), await self.reader.readexactly(length)

    async def is_cut(self) -> bool:
        """Whether the service ends the connection soon, with whatever is still sent before."""
        await self.rest()
        return self.reader.at_eof() or self.reader.exception() is not None

    async def hung_up(self) -> None:
        """Wait until the service has closed its end, also while nothing is read of what it sent before."""
        poll = select.poll()
        poll.register(self.writer.transport.get_extra_info("socket").fileno(), 0)
        assert await asyncio.to_thread(poll.poll, 30_000), "the service has not hung up"

    def cut(self) -> None:
        self.writer.transport.abort()
