"""Requests and answers over httpx: what both clients share."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

import httpx

from fairhold.client.errors import ConnectionLost, ServiceError, ServiceMissing
from fairhold.client.exchange import Request, Response
from fairhold.client.finding import START

if TYPE_CHECKING:
    from fairhold.client.finding import Target

HERE = "http://fairhold"
"""How a service is called over its Unix socket."""
_CONNECT, _ANSWER = 10.0, 90.0
"""Seconds until somebody answers at all, and until a request is answered besides the time that it asks to wait."""


def settings(target: Target) -> dict[str, Any]:
    """What an httpx client is made with."""
    headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
    url = HERE if target.socket else target.url  # a port is another one when the service has restarted
    return {"base_url": url, "headers": headers, "follow_redirects": False, "trust_env": False}


def wire(target: Target) -> dict[str, Any]:
    """What its transport is made with."""
    if target.socket:
        return {"uds": target.socket}
    if target.url.startswith("https:"):
        return {"verify": ssl.create_default_context(cafile=target.certificates or None)}
    return {"verify": False}  # nothing to verify, and a context of TLS takes its time


def call(request: Request) -> dict[str, Any]:
    """A request as httpx wants it."""
    return {
        "method": request.method,
        "url": request.path,
        "content": request.body,
        "headers": dict(request.headers),
        "timeout": httpx.Timeout(_ANSWER + request.wait, connect=_CONNECT),
    }


def answered(response: httpx.Response) -> Response:
    """What httpx has read."""
    return Response(response.status_code, dict(response.headers), response.content)


def broken(error: httpx.HTTPError, name: str) -> ServiceError:
    """What a failure of httpx means."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return ServiceMissing(f"the service at {name} does not answer: {_why(error)}; {START}")
    return ConnectionLost(f"the connection to {name} broke: {_why(error)}")


def _why(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
