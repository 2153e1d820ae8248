"""The application: every router over one desk, behind the gate."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI

from fairhold import __version__
from fairhold.service import problems
from fairhold.service.allowing import authorise
from fairhold.service.auth import Guard, the_token
from fairhold.service.context import AT_ONCE, Service, now
from fairhold.service.doorkeeper import Doorkeeper
from fairhold.service.front import Front
from fairhold.service.gate import Gate
from fairhold.service.listening import url_of
from fairhold.service.metrics import Requests
from fairhold.service.models.answers import Problem
from fairhold.service.news import News
from fairhold.service.queries import refuse_unknown
from fairhold.service.routers import (
    access,
    audit,
    consumers,
    cycles,
    docs,
    events,
    explore,
    health,
    hosts,
    jobs,
    notifications,
    output,
    plan,
    pods,
    status,
    tokens,
    usage,
)
from fairhold.service.sessions import Sessions
from fairhold.service.sign_in.checking import Checking
from fairhold.service.sign_in.door import SignInDoor
from fairhold.service.sign_in.granting import Granting
from fairhold.service.sign_in.keys import Directory
from fairhold.service.sign_in.renewing import Renewing
from fairhold.service.static_files import StaticFiles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fairhold.runtime.live.desk import Desk
    from fairhold.service.leading import Leading
    from fairhold.service.settings import ServiceSettings
    from fairhold.service.stopping import Stopping

PREFIX = "/v1"
SUBJECTS = (
    *(jobs, output, plan, consumers, hosts, pods, cycles, events, usage, explore, health, status),
    *(tokens, notifications, access, audit, docs),
)
"""Modules with a router each: all addresses but that of the OpenAPI document itself."""
_ABOUT = "Shares a cluster by a plan. Every request needs a token, on loopback too."


def make_app(
    desk: Desk,
    settings: ServiceSettings,
    *,
    stopping: Stopping | None = None,
    port: int | None = None,
    leading: Leading | None = None,
) -> FastAPI:
    """The application over a desk that runs.

    stopping : takes the order to stop
    port     : that is listened on, None = as the settings say
    leading  : says who leads the store, None = no other can
    """
    news, requests = News(desk), Requests()
    port = settings.port if port is None else port
    directory = Directory(time.monotonic)
    guard = Guard(the_token(settings.directory), settings, desk.core.people, checking=Checking(directory))
    guard.port = port
    keeper = Doorkeeper(desk, guard)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        news.open()
        yield
        news.close()
        keeper.close()

    app = FastAPI(
        title="Fairhold",
        version=__version__,
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={"4XX": {"model": Problem}, "5XX": {"model": Problem}},
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    app.state.service = Service(
        *(desk, settings, news, requests, stopping, now(), time.monotonic()),
        *(asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(1), url_of(settings, port), keeper),
        leading=leading,
    )
    app.include_router(whole())
    problems.register(app)
    app.add_middleware(
        Gate, guard=guard, settings=settings, requests=requests, keeper=keeper, leads=desk.leads, leading=leading
    )
    _add_front(app, Granting(directory, settings.oidc_secret), guard, keeper, is_secure=settings.is_secure)
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        return app.openapi_schema or _finished(plain())

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to change the document
    return app


@cache
def whole() -> APIRouter:
    """All addresses below the prefix; half of the work of making an application, which one that stands by has done."""
    whole = APIRouter(prefix=PREFIX, dependencies=[Depends(authorise), Depends(refuse_unknown)])
    for subject in SUBJECTS:
        whole.include_router(subject.router)
    return whole


def _add_front(app: FastAPI, granting: Granting, guard: Guard, keeper: Doorkeeper, *, is_secure: bool) -> None:
    """Put the console's files and sessions, and who wants to sign in, before the gate."""
    service: Service = app.state.service
    sessions = Sessions(time.monotonic)
    asks: Any = {"people": service.desk.core.people, "guard": guard, "granting": granting, "sessions": sessions}
    door = SignInDoor(**asks, keeper=keeper, cookie=f"fairhold-{guard.port}", is_secure=is_secure)
    app.add_middleware(Front, sessions=sessions, files=StaticFiles(), door=door, renewing=Renewing(**asks))


def _finished(document: dict[str, Any]) -> dict[str, Any]:
    """The document as this service answers: problems of our own, and a token on every request."""
    for path in document["paths"].values():
        for operation in path.values():
            answers = operation["responses"]
            answers.pop("422", None)
            for kind in ("4XX", "5XX"):
                answers[kind] = {
                    "description": "It could not be done; `code` and `faults` say why.",
                    "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
    components = document["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    return document
