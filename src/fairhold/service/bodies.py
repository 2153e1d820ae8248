"""Reads bodies as JSON in which no key appears twice, since it would be unclear which one is meant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.routing import APIRoute

from fairhold.errors import printable
from fairhold.service.wording import TWICE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi.responses import Response

_LONGEST = 100


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
            self._json = json.loads(await self.body(), object_pairs_hook=_mapping)
        return self._json


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(each for at, each in enumerate(names) if each in names[:at])
        # of the kind that FastAPI hands on with its words
        raise json.JSONDecodeError(f"the key `{printable(name[:_LONGEST])}` {TWICE}", "", 0)
    return found
