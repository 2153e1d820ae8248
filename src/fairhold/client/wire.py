"""Requests and answers over httpx: what both clients share."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

import httpx

from fairhold.client.errors import ConnectionLost, ServiceError, ServiceMissing
from fairhold.client.exchange import Request, Response
from fairhold.client.finding import HERE, START
from fairhold.client.login import Renewed
from fairhold.client.rotation import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from fairhold.client.finding import Target
    from fairhold.client.rotation import Tries

_CONNECT, _ANSWER = 10.0, 90.0
"""Seconds until somebody answers at all, and until a request is answered besides the time that it asks to wait."""


def settings(target: Target) -> dict[str, Any]:
    """What an httpx client is made with."""
    headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
    url = HERE if target.socket else target.url  # a port is another one when the service has restarted
    auth = SignedIn(target) if target.sign_ins else None
    return {"base_url": url, "headers": headers, "auth": auth, "follow_redirects": False, "trust_env": False}


class SignedIn(httpx.Auth):
    """Shows the token of a sign-in, as it is good when a request is sent."""

    def __init__(self, target: Target) -> None:
        assert target.sign_ins is not None
        self._plain = target._replace(sign_ins=None)
        self._renewed = Renewed(target.sign_ins, target.key, self._ask)

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the token into a request."""
        request.headers["Authorization"] = f"Bearer {self._renewed.token()}"
        yield request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """The same; to renew it, files are read and the service is asked in another thread."""
        request.headers["Authorization"] = f"Bearer {await asyncio.to_thread(self._renewed.token)}"
        yield request

    def _ask(self, request: Request) -> Response:
        try:
            with httpx.Client(**settings(self._plain), transport=httpx.HTTPTransport(**wire(self._plain))) as http:
                return answered(http.request(**call(request)))
        except httpx.HTTPError as error:
            raise broken(error, self._plain.name) from error


def wire(target: Target) -> dict[str, Any]:
    """What its transport is made with."""
    if target.socket:
        return {"uds": target.socket}
    if target.url.startswith("https:"):
        return {"verify": ssl.create_default_context(cafile=target.certificates or None)}
    return {"verify": False}  # nothing to verify, and a context of TLS takes its time


def call(request: Request, services: int = 1) -> dict[str, Any]:
    """A request as httpx wants it; services: how many there are of which one leads."""
    answer = _ANSWER if services == 1 else PATIENCE
    return {
        "method": request.method,
        "url": request.path,
        "content": request.body,
        "headers": dict(request.headers),
        "timeout": httpx.Timeout(answer + request.wait, connect=_CONNECT),
    }


def answered(response: httpx.Response) -> Response:
    """What httpx has read."""
    return Response(response.status_code, dict(response.headers), response.content)


def broken(error: httpx.HTTPError, name: str) -> ServiceError:
    """What a failure of httpx means."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return ServiceMissing(f"the service at {name} does not answer: {_why(error)}; {START}")
    return ConnectionLost(f"the connection to {name} broke: {_why(error)}")


def missing(error: httpx.HTTPError, tries: Tries) -> ServiceMissing:
    """That a service does not answer; raises what else a failure means, and asks another one the next time."""
    found = broken(error, tries.name)
    if isinstance(found, ServiceMissing):
        found.__cause__ = error
        return found
    tries.broke()
    raise found from error


def _why(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
