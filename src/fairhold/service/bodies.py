"""Reads bodies as JSON in which no key appears twice, since it would be unclear which one is meant."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute

from fairhold.errors import printable
from fairhold.service.limits import too_large
from fairhold.service.settings import KIB
from fairhold.service.wording import TWICE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi.responses import Response

_LONGEST = 100
_LONG = 64 * KIB
"""Bytes of a body from which on it is worth while to read it beside all others."""
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class ReadingRoute(APIRoute):
    """A route of an address that takes a body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer = super().get_route_handler()

        async def read(request: Request) -> Response:
            return await answer(_Request(request.scope, request.receive))

        return read


class _Request(Request):
    async def json(self) -> Any:  # noqa: ANN401 - any JSON
        if not hasattr(self, "_json"):
            body = await self.body()
            if len(body) <= _LONG:
                self._json = _read(body)
            else:
                most = self.app.state.service.settings.limits.values
                self._json = await asyncio.to_thread(_read_long, body, most)
        return self._json


def _read(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(body, object_pairs_hook=_mapping)


def _read_long(body: bytes, most: int) -> Any:  # noqa: ANN401 - any JSON
    """The same of a long body. HTTPException 413 where it has more values than a body may have.

    They are counted before any is made: each that is wrong would be told, and all others wait for that.
    """
    found = _TEXT.sub(b"", body).count(b",") + 1
    if found > most:
        raise HTTPException(413, too_large("values", most, found).faults[0].what)
    return _read(body)


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        # of the kind that FastAPI hands on with its words
        raise json.JSONDecodeError(f"the key `{printable(name[:_LONGEST])}` {TWICE}", "", 0)
    return found
