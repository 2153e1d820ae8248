"""The whole service: opened, listening on TCP and on a Unix socket, until it is asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairhold.errors import FairholdError
from fairhold.runtime.live.opening import open_live
from fairhold.service import logs
from fairhold.service.app import make_app
from fairhold.service.auth import peer_of
from fairhold.service.listening import listen_here, listen_tcp, tell, untell, url_of
from fairhold.service.stopping import DRAIN, KILL, LEAVE, Stopping

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from fastapi import FastAPI

    from fairhold.runtime.live.desk import Desk
    from fairhold.runtime.live.opening import LiveSettings
    from fairhold.service.news import News
    from fairhold.service.settings import ServiceSettings

_LOG = logging.getLogger("fairhold.service")
_READERS = 16
"""Threads that read the store and the outputs."""
_LONGEST_HEAD = 64 * 1024
_KEEP_ALIVE = 75
_OPEN_FILES = 16_384


class Connection(H11Protocol):
    """A connection that tells the application who is at its other end, and how many there are."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in its parent
        """Note the peer for all requests of this connection."""
        super().connection_made(transport)
        peer = peer_of(transport.get_extra_info("socket"))
        self.app_state = {**self.app_state, "peer": peer, "clients": len(self.connections)}


class Server(uvicorn.Server):
    """A server that leaves signals to us and says when it is open."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_open = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.is_open.set()


class ServiceFailedError(FairholdError):
    """The service cannot go on; what it has accepted is in its log, and the next start takes it up."""

    code = "failed"


def serve(
    live: LiveSettings, settings: ServiceSettings, *, level: str = "INFO", on_ready: Callable[[str], None] | None = None
) -> str:
    """Run a service until it is asked to stop, or gets SIGTERM or SIGINT; returns how it stopped.

    on_ready : called with the address for clients as soon as they are answered
    Raises InputError where the plan, the store, the directory or the address cannot be used; ServiceFailedError where
    it has to be started again.
    """
    settings.check()
    logs.configure(level)
    _raise_open_files()
    opened = open_live(live)
    how = ""
    try:
        how = asyncio.run(run(opened.desk, settings, on_ready=on_ready))
    finally:
        is_idle = not opened.core.cluster.attempts
        opened.close(with_agent=how in {DRAIN, KILL} or (not how and is_idle))
        untell(settings)
        _LOG.info("stopped (%s)", how or "failed")
    return how


async def run(desk: Desk, settings: ServiceSettings, *, on_ready: Callable[[str], None] | None = None) -> str:
    """Answer requests over a desk until somebody asks to stop; how. Raises as `serve`."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_READERS, "reading"))
    stopping = Stopping(desk)
    with contextlib.ExitStack() as doors:
        tcp = doors.enter_context(contextlib.closing(listen_tcp(settings.host, settings.port)))
        here = doors.enter_context(contextlib.closing(listen_here(settings.directory)))
        port = tcp.getsockname()[1]
        app = make_app(desk, settings, stopping=stopping, port=port)
        news: News = app.state.service.news
        news.open()
        servers = [_server(app, settings, is_here=False), _server(app, settings, is_here=True)]
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, _signalled, stopping, servers)
        async with asyncio.TaskGroup() as tasks:
            for server, door in zip(servers, (tcp, here), strict=True):
                tasks.create_task(server.serve(sockets=[door]))
            for server in servers:
                await server.is_open.wait()
            url = url_of(settings, port)
            tell(settings, url)
            _LOG.info("listening at %s", url)
            if on_ready is not None:
                on_ready(url)
            failed = await _end(desk, stopping)
            news.close()
            for server in servers:
                server.should_exit = True
    if failed is not None:
        raise ServiceFailedError(f"the service has failed: {failed}") from failed
    return stopping.how or LEAVE


async def _end(desk: Desk, stopping: Stopping) -> BaseException | None:
    """Wait until the service may end; the error where it must."""
    loop, failed = asyncio.get_running_loop(), asyncio.Event()

    def tell_failure(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the desk was stopped at the end
            loop.call_soon_threadsafe(failed.set)

    desk.failed.add_done_callback(tell_failure)
    tasks = [asyncio.create_task(failed.wait()), asyncio.create_task(stopping.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return desk.failed.result() if desk.failed.done() else None


def _signalled(stopping: Stopping, servers: list[Server]) -> None:
    """A first signal ends the service in good order, a second one at once; tasks go on either way."""
    if stopping.how == LEAVE:
        for server in servers:
            server.force_exit = True
    stopping.leave_now()


def _server(app: FastAPI, settings: ServiceSettings, *, is_here: bool) -> Server:
    tls: dict[str, Any] = {}
    if settings.is_secure and not is_here:
        tls = {"ssl_certfile": settings.certificate, "ssl_keyfile": settings.key}
    return Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=max(1, round(settings.patience)),
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            **tls,
        )
    )


def _raise_open_files() -> None:
    """Allow many open files, as far as the system lets us: every client is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
