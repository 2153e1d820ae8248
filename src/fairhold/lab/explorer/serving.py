"""The server of the page: on this machine alone, for who knows its address."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from fairhold.errors import Fault, InputError
from fairhold.lab.explorer.exploring import MOST
from fairhold.lab.explorer.fields import content_document, explored_document, fault_document
from fairhold.lab.explorer.page import POLICY, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairhold.lab.explorer.exploring import Explored, Explorer

    Words = Callable[[Explorer, str, Explored | None], str]
    """Why a consumer's numbers are what they are, in words; before any changes, or with some."""

LARGEST = 2**20
"""Bytes of a request."""


class Asked(BaseModel):
    """What the page asks for.

    changes  : all of them
    consumer : whose explanation is asked for
    """

    model_config = ConfigDict(extra="forbid")
    changes: list[str] = []
    consumer: str = ""


def application(explorer: Explorer, title: str, words: Words, token: str) -> FastAPI:
    """What answers the page; everything is below the token."""
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    router, turn = APIRouter(prefix=f"/{token}"), threading.Lock()

    @router.get("/")
    def show() -> HTMLResponse:
        return HTMLResponse(page(title), headers={"Content-Security-Policy": POLICY})

    @router.get("/content")
    def content() -> JSONResponse:
        return JSONResponse(content_document(explorer, title))

    @router.post("/explore")
    def explore(asked: Annotated[Asked, Body()]) -> JSONResponse:
        with turn:  # one after the other: each takes a whole core
            return JSONResponse(explored_document(explorer.explore(asked.changes)))

    @router.post("/why")
    def why(asked: Annotated[Asked, Body()]) -> JSONResponse:
        with turn:
            explored = explorer.explore(asked.changes)
            told = {
                "before": words(explorer, asked.consumer, None),
                "after": words(explorer, asked.consumer, explored),
            }
        return JSONResponse(told)

    @router.post("/plan")
    def plan(asked: Annotated[Asked, Body()]) -> JSONResponse:
        with turn:
            return JSONResponse(explorer.explore(asked.changes).plan_document)

    app.include_router(router)
    app.add_exception_handler(InputError, _at_fault)
    app.add_exception_handler(RequestValidationError, _not_read)
    app.add_exception_handler(HTTPException, _no_such)
    return app


class Gate:
    """The outermost application: lets through what calls this server by its own name, from its own page.

    names : `HOST:PORT`, as this server can be called
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        origin = headers.get(b"origin", f"http://{host}".encode("latin-1")).decode("latin-1").lower()
        length = headers.get(b"content-length", b"0")
        if host not in self._names:
            refusal = _answer(403, Fault("foreign-host", "the `Host` of the request is not a name of this server"))
        elif origin != f"http://{host}":
            refusal = _answer(403, Fault("foreign-origin", "the request comes from a page of another origin"))
        elif not length.isdigit() or len(length) > 15 or int(length) > LARGEST:
            refusal = _too_large()
        else:
            await self._app(scope, _counting(receive), _private(send))
            return
        await refusal(scope, receive, _private(send))


def _counting(receive: Receive) -> Receive:
    """Let no more through than a body may have, whatever its length is said to be."""
    received = 0

    async def receiving() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST:
            raise HTTPException(413)
        return message

    return receiving


def _private(send: Send) -> Send:
    """Let nobody keep an answer, or learn the address from it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer")]
            message["headers"] = [*message["headers"], *kept, (b"x-content-type-options", b"nosniff")]
        await send(message)

    return sending


def _answer(status: int, *faults: Fault) -> JSONResponse:
    return JSONResponse({"faults": [fault_document(fault) for fault in faults]}, status)


def _too_large() -> JSONResponse:
    return _answer(413, Fault("too-large", f"the request has more than {LARGEST:,} bytes", "make fewer changes"))


async def _at_fault(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, InputError)
    return _answer(422, *error.faults[:MOST])


async def _not_read(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    is_broken = first["type"] == "json_invalid"
    what = "the request is not JSON" if is_broken else f"the request cannot be read: {first['msg']}"
    mend = 'send `{"changes": ["/Trading:owned=8"], "consumer": "/Trading"}`'
    return _answer(400, Fault("json-syntax" if is_broken else "bad-request", what, mend))


async def _no_such(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 413:
        return _too_large()
    mend = "use the address that `fairhold explore` printed"
    return _answer(error.status_code, Fault("no-such-page", "there is no such page here", mend))
