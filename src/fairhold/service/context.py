"""What the handlers of requests need: desk, store, settings, and who asks."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, NamedTuple, ParamSpec, Protocol, TypeVar, runtime_checkable

from fastapi import Depends, Request

from fairhold.engines.agents.machine import MachineStatus
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.measures import Measures
from fairhold.ports import Store
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.service.auth import Caller
from fairhold.service.metrics import Requests
from fairhold.service.news import News
from fairhold.service.problems import refused
from fairhold.service.settings import ServiceSettings
from fairhold.service.stopping import Stopping

Answer = TypeVar("Answer")
Given = ParamSpec("Given")
AT_ONCE = 3
"""Plans that are read or compared at a time."""
_LONGEST = 60.0
"""Seconds after which a desk that does not answer is given up."""


@runtime_checkable
class Reporting(Protocol):
    """A hub that can tell of its agents."""

    def status(self) -> tuple[MachineStatus, ...]:
        """All machines by name."""
        ...


@runtime_checkable
class Governing(Protocol):
    """An engine that governs a cluster."""

    governor: Governor
    measures: Measures


class Service(NamedTuple):
    """A desk as the handlers see it.

    stopping : takes the order to stop; None = who made the application ends it
    started  : instant
    began    : the same on a clock that nobody sets, seconds
    turn     : to read or compare plans: a few at a time, so that large ones leave threads for everybody else
    url      : address for clients by TCP
    """

    desk: Desk
    settings: ServiceSettings
    news: News
    requests: Requests
    stopping: Stopping | None
    started: int
    began: float
    turn: asyncio.Semaphore
    url: str

    @property
    def store(self) -> Store:
        """The store; any thread may read it."""
        return self.desk.core.store

    @property
    def jobs_directory(self) -> Path:
        """Where the outputs of tasks are."""
        return self.settings.directory / "jobs"

    @property
    def condition(self) -> str:
        """`ok`, `trouble` or `stopping`."""
        is_stopping = self.news.is_ended or (self.stopping is not None and self.stopping.how is not None)
        return "stopping" if is_stopping else "trouble" if self.desk.trouble else "ok"

    def agents(self) -> tuple[MachineStatus, ...]:
        """The agents of all machines."""
        hub = self.desk.agents
        return hub.status() if isinstance(hub, Reporting) else ()

    @property
    def governor(self) -> Governor:
        """The governor of the cluster, for the desk's thread alone. Raises InputError `no-cluster`."""
        if not isinstance(self.desk.agents, Governing):
            raise refused("no-cluster", "this service governs no Kubernetes cluster", "ask one that does")
        return self.desk.agents.governor

    async def work_out(self, work: Callable[Given, Answer], *given: Given.args, **more: Given.kwargs) -> Answer:
        """Do something long with plans, in another thread."""
        async with self.turn:
            return await asyncio.to_thread(work, *given, **more)

    async def write(self, ask: Callable[[Core], Answer]) -> Answer:
        """Let the core do something; returns when it is durable."""
        return await _answer(self.desk.write(ask))

    async def read(self, ask: Callable[[Core], Answer]) -> Answer:
        """Look at the core."""
        return await _answer(self.desk.read(ask))


async def _answer(future: Future[Answer]) -> Answer:
    try:
        async with asyncio.timeout(_LONGEST):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        what = f"the service has not answered within {_LONGEST:g} seconds; the request may still be carried out"
        raise refused("no-answer", what, "check whether it was, before you send it again") from None


async def the_service(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


async def the_caller(request: Request) -> Caller:
    """Who asks."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


ServiceOf = Annotated[Service, Depends(the_service)]
CallerOf = Annotated[Caller, Depends(the_caller)]


def now() -> int:
    """The instant, for everything but decisions."""
    return time.time_ns() // 1000
