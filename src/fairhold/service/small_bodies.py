"""Bodies of requests before the gate: a small object of texts."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

LONGEST = 64 * 1024
"""Bytes; a token with many groups is long."""
PATIENCE = 10.0
"""Seconds in which all of it has to arrive."""


async def small_body(scope: Scope, receive: Receive) -> dict[str, str] | None:
    """The body of a request; None where it is none, is too long, or does not arrive."""
    request, body = Request(scope, receive), b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > LONGEST:
                    return None
        found = json.loads(body)
    except (ClientDisconnect, TimeoutError, ValueError, RecursionError):
        return None
    is_one = isinstance(found, dict) and all(isinstance(value, str) and value.isascii() for value in found.values())
    return found if is_one else None
