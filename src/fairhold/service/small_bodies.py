"""Bodies of requests before the gate: a small object of texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

LONGEST = 64 * 1024
"""Bytes; a token with many groups is long."""


async def small_body(scope: Scope, receive: Receive) -> dict[str, str] | None:
    """The body of a request; None where it is none, or too long."""
    request, body = Request(scope, receive), b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST:
                return None
        found = json.loads(body)
    except (ClientDisconnect, ValueError, RecursionError):
        return None
    is_one = isinstance(found, dict) and all(isinstance(value, str) and value.isascii() for value in found.values())
    return found if is_one else None
