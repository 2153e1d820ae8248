"""A desk over a real store and a hub without processes."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, Self, cast

import httpx

from fairhold.engines.agents.machine import MachineStatus
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import Exit, MachineReported, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Start, Stop
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.opening import Rising
from fairhold.service.app import make_app
from fairhold.service.settings import RequestLimits, ServiceSettings
from fairhold.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from pathlib import Path

    from fastapi import FastAPI

    from fairhold.engines.agents.authority import Authority
    from fairhold.engines.kubernetes.governor import Governor
    from fairhold.engines.kubernetes.measures import Measures
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.outbox import Order
    from fairhold.ports import Clock
    from fairhold.runtime.live.submitting import Limits

PLAN = """\
fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 4}}
consumers: {Trading: {consumers: {Risk: {}, FX: {}}}, Research: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 2}
"""
NOW = 1_767_600_000_000_000


class FakeHub:
    """An agent of the own machine that runs what it is told and ends it when the test says so.

    governor, measures : of a cluster, authority : of agents, where a test sets them
    """

    governor: Governor
    measures: Measures
    authority: Authority | None = None

    def __init__(self) -> None:
        self.started: dict[int, Start] = {}
        self.stops: list[Stop] = []
        self.wake: Callable[[], None] = lambda: None
        self._events: list[Event] = [MachineReported("", "boot", 0)]
        self._changed = threading.Condition()

    def execute(self, instructions: Iterable[Order]) -> None:
        with self._changed:
            for order in instructions:
                if isinstance(order, Start):
                    self.started[order.attempt] = order
                    self._events.append(TaskRunning(order.attempt))
                elif isinstance(order, Stop):
                    self.stops.append(order)
                    self._events.append(_ended(order.attempt, order.reason))
            self._changed.notify_all()
        self.wake()

    def events(self) -> list[Event]:
        with self._changed:
            events, self._events = self._events, []
        return events

    def status(self) -> tuple[MachineStatus, ...]:
        return (MachineStatus("", is_connected=True, since=NOW, host="own", version="0", slots=4),)

    def wait_started(self, attempts: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.started) >= attempts, 5), self.started

    def revoke(self, host: str) -> int:
        assert self.authority is not None
        return self.authority.revoke(host)

    def end(self, attempt: int, reason: str = "finished", code: int = 0) -> None:
        with self._changed:
            self._events.append(_ended(attempt, reason, code))
        self.wake()


def _ended(attempt: int, reason: str, code: int = -1) -> TaskEnded:
    return TaskEnded(attempt, OUTCOMES[reason], Exit(reason, code))


class Client:
    """Requests to an application in a loop of its own, without a server; from any thread."""

    def __init__(self, app: FastAPI, head: dict[str, str]) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.headers = dict(head)

    def open(self) -> None:
        self._thread.start()
        self._do(self._open())

    async def _open(self) -> None:
        self._lifespan = self._app.router.lifespan_context(self._app)
        await self._lifespan.__aenter__()
        transport = httpx.ASGITransport(self._app)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost:7878", timeout=30)

    def close(self) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        await self._lifespan.__aexit__(None, None, None)
        await self._client.aclose()
        await self._loop.shutdown_default_executor()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def request(self, method: str, path: str, *, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        head = self.headers | (headers or {})
        return cast("httpx.Response", self._do(self._client.request(method, path, headers=head, **more)))

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        return self.request("DELETE", path, **more)


class Bank:
    """A service of the plan `PLAN` for one test, and a client of it that has the token."""

    def __init__(
        self,
        place: Path,
        *,
        limits: RequestLimits | None = None,
        core: Limits | None = None,
        plan: str = PLAN,
        clock: Clock | None = None,
        stopping: Any = None,
        viewer_token: Path | None = None,
        oidc_secret: Path | None = None,
        is_observing: bool = False,
        has_pods: bool = False,
    ) -> None:
        self.place = place
        self.store = open_store(place, cluster="bank", node="n", now=NOW)
        self.hub = FakeHub()
        self.core = Core(self.store, Rising(self.store.last_at, clock), limits=core, cycle_min_gap=1_000)
        self.core.open(plan, "plan.yaml", "ann")
        self.desk = Desk(self.core, self.hub)
        self.hub.wake = self.desk.wake
        more: Any = {"viewer_token": viewer_token, "oidc_secret": oidc_secret, "is_observing": is_observing}
        more["has_pods"] = has_pods
        self.settings = ServiceSettings(place, limits=limits or RequestLimits(), beat=0.2, **more)
        self.app = make_app(self.desk, self.settings, stopping=stopping)
        self.token = (place / "token").read_text().strip()
        self.head = {"Authorization": f"Bearer {self.token}"}
        self.client = Client(self.app, self.head)

    def __enter__(self) -> Self:
        self.desk.start()
        self.desk.wake()
        self.client.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.desk.stop()
        self.store.close()

    def get(self, path: str, status: int = 200, **more: Any) -> Any:
        return self._ask("GET", path, status, **more)

    def post(self, path: str, body: object = None, status: int = 200, **more: Any) -> Any:
        return self._ask("POST", path, status, json=body, **more)

    def _ask(self, method: str, path: str, status: int, **more: Any) -> Any:
        answer = self.client.request(method, f"/v1{path}", **more)
        assert answer.status_code == status, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer

    def submit(self, status: int = 201, **terms: Any) -> Any:
        return self.post("/jobs", {"consumer": "/Research", "argv": ["true"]} | terms, status)

    def until(self, path: str, key: str, value: object) -> Any:
        """The document of an address as soon as it has a value."""
        end = time.monotonic() + 5
        while (found := self.get(path))[key] != value:
            assert time.monotonic() < end, found
            time.sleep(0.005)
        return found
