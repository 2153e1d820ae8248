"""What the handlers of requests need: desk, store, settings, and who asks."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, Any, NamedTuple, ParamSpec, Protocol, TypeVar, runtime_checkable

from fastapi import Depends, Request

from fairhold.access.rights import Rights
from fairhold.engines.agents.machine import MachineStatus
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.measures import Measures
from fairhold.errors import InputError
from fairhold.ports import Store
from fairhold.runtime.live.auditing import Deed
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk, Freeing
from fairhold.service.allowing import require_visible
from fairhold.service.auth import Caller
from fairhold.service.doorkeeper import Doorkeeper
from fairhold.service.leading import Leading
from fairhold.service.metrics import Requests
from fairhold.service.news import News
from fairhold.service.problems import refused
from fairhold.service.settings import ServiceSettings
from fairhold.service.stopping import Stopping
from fairhold.service.subscribing import is_old, renew
from fairhold.service.veil import Veil, veiled

Answer = TypeVar("Answer")
Given = ParamSpec("Given")
AT_ONCE = 3
"""Plans that are read or compared at a time."""
NOBODY = Caller("", "", Rights("", {}))
REFUSED = frozenset({"not-allowed"})
"""Refusals that the gate puts on the record, many of them as one."""
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
    """A desk as the handlers see it; for one request, with who asks.

    stopping : takes the order to stop; None = who made the application ends it
    started  : instant
    began    : the same on a clock that nobody sets, seconds
    turn     : to read or compare plans: a few at a time, so that large ones leave threads for everybody else
    simulating : to play what happened under another plan: one at a time
    url      : address for clients by TCP
    keeper   : knows how often somebody may ask
    leading  : says who leads the store, None = no other can
    caller   : who asks
    deed     : what he asks for, for the record
    """

    desk: Desk
    settings: ServiceSettings
    news: News
    requests: Requests
    stopping: Stopping | None
    started: int
    began: float
    turn: asyncio.Semaphore
    simulating: asyncio.Semaphore
    url: str
    keeper: Doorkeeper
    leading: Leading | None = None
    caller: Caller = NOBODY
    deed: Deed = Deed("", "", "", "")

    @property
    def role(self) -> dict[str, Any]:
        """That it leads, by which term, and at which address it tells others that it does."""
        note = self.leading.note() if self.leading else None
        return {
            "role": "leader",
            "term": note.term if note else 0,
            "leader": next(iter(note.addresses), self.url) if note else self.url,
        }

    @property
    def rights(self) -> Rights:
        """What the caller may do."""
        return self.caller.rights

    def renewed(self) -> Rights | None:
        """What the caller may do by now, for answers that last; None = he may not ask any more."""
        caller, people = self.caller, self.desk.core.people
        if caller.is_built_in:
            return caller.rights
        token = people.token(caller.token)
        is_over = token is not None and (token.revoked or (token.expires and now() >= token.expires))
        if caller.provider is not None:
            is_over = caller.provider != people.access.provider or now() >= caller.expires
        is_known = people.knows(caller.user, caller.groups)
        return None if is_over or not is_known else people.rights(caller.user, caller.groups)

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

    async def write(
        self, ask: Callable[[Core], Answer], target: str = "", told: Callable[[Answer], str] | None = None
    ) -> Answer:
        """Let the core do something; returns when it is durable, and with it the record of who asked for what.

        target : what it is about; told: what it is about, of the answer, where that is known only then
        """
        if isinstance(ask, Freeing):
            freed: Any = Freeing(self.recorded(ask.ask, target))
            return await _answer(self.desk.write(freed))
        return await _answer(self.desk.write(self.recorded(ask, target, told)))

    def recorded(
        self, ask: Callable[[Core], Answer], target: str = "", told: Callable[[Answer], str] | None = None
    ) -> Callable[[Core], Answer]:
        """The same with a record of it; see `write`."""
        return _recorded(ask, self.deed, target, told)

    async def read(self, ask: Callable[[Core], Answer]) -> Answer:
        """Look at the core."""
        return await _answer(self.desk.read(ask))

    async def read_job(self, job: str, ask: Callable[[Core], Answer]) -> Answer:
        """Look at a job; InputError `unknown-job` where the caller does not see it."""

        def look(core: Core) -> Answer:
            require_visible(core, self.rights, job)
            return ask(core)

        return await self.read(look)

    def shown(self, document: dict[str, Any]) -> dict[str, Any]:
        """A document as the caller may see it."""
        return document if self.rights.sees_all else veiled(document, Veil.of(self.desk.core, self.rights))


def _recorded(
    ask: Callable[[Core], Answer], deed: Deed, target: str, told: Callable[[Answer], str] | None
) -> Callable[[Core], Answer]:
    """The same with a record of it, also where it is refused."""

    def recorded(core: Core) -> Answer:
        meant = deed._replace(target=target or deed.target)
        try:
            answer = ask(core)
        except InputError as error:
            if error.faults[0].code not in REFUSED:
                core.audit.note(meant, core.now(), error.faults[0].code)
            raise
        core.audit.note(meant._replace(target=told(answer)) if told else meant, core.now())
        return answer

    return recorded


async def _answer(future: Future[Answer]) -> Answer:
    try:
        async with asyncio.timeout(_LONGEST):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        what = f"the service has not answered within {_LONGEST:g} seconds; the request may still be carried out"
        raise refused("no-answer", what, "check whether it was, before you send it again") from None


async def the_service(request: Request) -> Service:
    """The service that a request came to, with who asks."""
    service: Service = request.app.state.service
    caller: Caller = request.scope["state"]["caller"]
    if is_old(service.desk.core.notifications.subscription(caller.user), caller, now()):
        service.desk.write(lambda core: renew(core, caller))  # nobody waits for it: else the next request does it
    origin: str = request.scope["state"].get("origin", "")
    deed = Deed(caller.user, caller.via, origin, request.scope["route"].name)
    return service._replace(caller=caller, deed=deed)


async def the_caller(request: Request) -> Caller:
    """Who asks."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


ServiceOf = Annotated[Service, Depends(the_service)]
CallerOf = Annotated[Caller, Depends(the_caller)]


def now() -> int:
    """The instant, for everything but decisions."""
    return time.time_ns() // 1000
