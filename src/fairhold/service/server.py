"""The whole service: opened, listening on TCP and on a Unix socket, until it is asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from fairhold.errors import FairholdError, Fault, InputError
from fairhold.runtime.live.desk import LeadershipLostError, MustEndError
from fairhold.runtime.live.governed import open_governed
from fairhold.runtime.live.led import StoppedWhileWaitingError
from fairhold.runtime.live.opening import Live, open_live
from fairhold.service import logs
from fairhold.service.app import make_app, whole
from fairhold.service.auth import the_token
from fairhold.service.certificates import Certificate
from fairhold.service.connection import Connection
from fairhold.service.context import now
from fairhold.service.doors import Crowd
from fairhold.service.leading import Leading
from fairhold.service.listening import (
    SOCKET,
    advertised,
    begin_to_listen,
    listen_here,
    listen_tcp,
    tell,
    untell,
    url_of,
)
from fairhold.service.notifying.courier import Courier
from fairhold.service.standing_by import Answering, StandbyApp
from fairhold.service.stopping import DRAIN, FAILOVER, KILL, LEAVE, Stopping

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

    from fairhold.runtime.live.desk import Desk
    from fairhold.runtime.live.governed import GovernedLive
    from fairhold.runtime.live.opening import LiveSettings
    from fairhold.runtime.live.standing_by import Standby
    from fairhold.service.doors import Door
    from fairhold.service.news import News
    from fairhold.service.settings import RequestLimits, ServiceSettings

_LOG = logging.getLogger("fairhold.service")
_READERS = 16
"""Threads that read the store and the outputs."""
_KEEP_ALIVE = 75
_FEWEST_FILES = 128
"""Open files of a service, its agents' connections and a few clients."""


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
    """Run a service until it is asked to stop, or gets SIGTERM, SIGINT or SIGHUP; returns how it stopped.

    on_ready : called with the address for clients as soon as they are answered
    Raises InputError where the plan, the store, the directory or the address cannot be used; ServiceFailedError where
    it has to be started again; MustEndError where another service leads.
    """
    settings.check()
    _certificate(settings)
    logs.configure(level)
    settings = replace(settings, limits=_allow_open_files(settings.limits), stands_by=live.standby)
    while True:
        try:
            with contextlib.ExitStack() as doors:
                how = _serve(live, settings, doors, on_ready)
        except LeadershipLostError as lost:
            if not live.standby:
                raise
            _LOG.warning("%s; it stands by", lost)
            yields = 0.0
        else:
            if how != FAILOVER:
                return how
            _LOG.info("handed over, and stands by")
            yields = live.failover
        live = replace(live, is_again=True, yields=yields)
        gc.unfreeze()  # what was led is of no use any more
        gc.collect()


def _serve(
    live: LiveSettings,
    settings: ServiceSettings,
    doors: contextlib.ExitStack,
    on_ready: Callable[[str], None] | None,
) -> str:
    """Open, and run until the end. A port or a token that cannot be used is found out before a plan is in force."""
    taken: list[Door] = []
    with contextlib.ExitStack() as waiting:

        def listen(standby: Standby | None = None) -> str:
            if not taken:
                the_token(settings.directory)
                taken.append(doors.enter_context(contextlib.closing(listen_tcp(settings.host, settings.port))))
            if standby is not None:
                begin_to_listen(taken[0], settings.host, settings.port)
                whole()  # what can be made beforehand
                app = StandbyApp(standby, settings)
                server = _server(app, settings, Crowd(settings.limits), _certificate(settings))
                answering = Answering(server, taken[0].dup())
                waiting.callback(answering.close)
                standby.on_turn = answering.end
            return advertised(settings, taken[0].getsockname()[1])

        try:
            opened = open_governed(live, listen) if live.cluster else open_live(live, listen)
        except StoppedWhileWaitingError as asked:
            _LOG.info("%s", asked)
            return LEAVE
    how, is_lost = "", False
    try:
        with Courier(opened.desk, settings.smtp_secret, now):
            how = asyncio.run(run(opened.desk, settings, on_ready=on_ready, tcp=taken[0], leading=_leading(opened)))
    except LeadershipLostError:
        is_lost = True
        raise
    finally:
        is_idle = not opened.core.cluster.attempts
        if isinstance(opened, Live) and (is_lost or how == FAILOVER):
            opened.close(hands_over=True)
        else:
            opened.close(with_agent=how in {DRAIN, KILL} or (not how and is_idle))
        untell(settings)
        _LOG.info("stopped (%s)", how or "failed")
    return how


def _leading(opened: Live | GovernedLive) -> Leading | None:
    """How a service of a store leads; one that governs a cluster has a lease there."""
    if not isinstance(opened, Live):
        return None
    leader = opened.leader
    return Leading(lambda: leader.note, lambda: leader.note if leader.is_other else None, opened.hand_over)


async def run(
    desk: Desk,
    settings: ServiceSettings,
    *,
    on_ready: Callable[[str], None] | None = None,
    tcp: Door | None = None,
    leading: Leading | None = None,
) -> str:
    """Answer requests over a desk until somebody asks to stop; how. Raises as `serve`.

    leading : says who leads, None = there is no other
    tcp : bound to the address of the settings; None = it is made here
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_READERS, "reading"))
    stopping, certificate = Stopping(desk), _certificate(settings)
    with contextlib.ExitStack() as doors:
        tcp = doors.enter_context(contextlib.closing(tcp or listen_tcp(settings.host, settings.port)))
        here = [doors.enter_context(contextlib.closing(door)) for door in _sockets(settings)]
        begin_to_listen(tcp, settings.host, settings.port)
        port = tcp.getsockname()[1]
        app = make_app(desk, settings, stopping=stopping, port=port, leading=leading)
        news: News = app.state.service.news
        news.open()
        crowd = Crowd(settings.limits)
        for door in (tcp, *here):
            door.guard(crowd)
        servers = [_server(app, settings, crowd, each) for each in (certificate, *(None for _ in here))]
        _hear_signals(stopping, servers)
        async with asyncio.TaskGroup() as tasks:
            for server, door in zip(servers, (tcp, *here), strict=True):
                tasks.create_task(server.serve(sockets=[door]))
            for server in servers:
                await server.is_open.wait()
            looking = tasks.create_task(_watch(certificate, settings))
            url = url_of(settings, port)
            _tell(settings, url)
            _LOG.info("listening at %s", url)
            if on_ready is not None:
                on_ready(url)
            failed = await _end(desk, stopping)
            looking.cancel()
            if stopping.how == FAILOVER and leading is not None:
                await asyncio.to_thread(leading.hand_over)
            news.close()
            app.state.service.keeper.close()
            for server in servers:
                server.should_exit = True
    if isinstance(failed, MustEndError):
        raise failed
    if failed is not None:
        raise ServiceFailedError(f"the service has failed: {failed}") from failed
    return stopping.how or LEAVE


def _sockets(settings: ServiceSettings) -> Iterator[Door]:
    """The Unix sockets: the service's own, and the one for all users of this machine."""
    yield listen_here(settings.directory / SOCKET)
    if settings.socket is not None:
        yield listen_here(settings.socket, for_all=True)


def _tell(settings: ServiceSettings, url: str) -> None:
    """Say where the service is. Without room for that it goes on: what runs needs it."""
    try:
        tell(settings, url)
    except OSError as error:
        _LOG.error("could not write where clients find the service: %s", error)


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


def _hear_signals(stopping: Stopping, servers: list[Server]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` wants it
            asyncio.get_running_loop().add_signal_handler(number, _signalled, stopping, servers)


def _signalled(stopping: Stopping, servers: list[Server]) -> None:
    """A first signal ends the service in good order, a second one at once; tasks go on either way."""
    if stopping.how == LEAVE:
        for server in servers:
            server.force_exit = True
    stopping.leave_now()


def _certificate(settings: ServiceSettings) -> Certificate | None:
    """That of the service, None where no TLS is wanted. InputError `tls-files` where its files are none."""
    if settings.certificate is None or settings.key is None:
        return None
    return Certificate(settings.certificate, settings.key)


async def _watch(certificate: Certificate | None, settings: ServiceSettings) -> None:
    if certificate is not None:
        await certificate.keep_looking(settings.certificate_look)


def _server(app: ASGIApp, settings: ServiceSettings, crowd: Crowd, certificate: Certificate | None) -> Server:
    made = Server(
        uvicorn.Config(
            app,
            http=partial(Connection, crowd=crowd),  # type: ignore[arg-type]  # what makes one
            ws="none",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=max(1, round(settings.patience)),
            h11_max_incomplete_event_size=settings.limits.head,
            ssl_certfile=settings.certificate if certificate else None,
            ssl_keyfile=str(settings.key) if certificate else None,
        )
    )
    if certificate:
        made.config.load()
        assert made.config.ssl is not None
        certificate.offer(made.config.ssl)
    return made


def _allow_open_files(limits: RequestLimits) -> RequestLimits:
    """Allow many open files, as far as the system lets us: every client is one. The limits as they are then.

    InputError `open-files` where there are too few to run at all.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = limits.open_files if hard == resource.RLIM_INFINITY else min(limits.open_files, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        except (OSError, ValueError):
            allowed = soft
    if allowed < _FEWEST_FILES:
        what = f"the service may open only {allowed} files and needs at least {_FEWEST_FILES}"
        raise InputError([Fault("open-files", what, "allow more: `ulimit -n 4096`, or LimitNOFILE of its unit")])
    return replace(limits, open_files=allowed)
