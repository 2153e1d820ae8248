"""Requests to a provider: none takes long, none brings much, none is led elsewhere."""

from __future__ import annotations

import asyncio
import json
import ssl
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from fairhold.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 5.0
"""Seconds for one answer, from the connection to its last byte."""
LARGEST = 512 * 1024
"""Bytes of one answer."""
_HEAD = {"Accept": "application/json", "Accept-Encoding": "identity"}


class ProviderError(Exception):
    """The provider is away, slow, or says what cannot be right."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.fault = Fault("provider-down", f"the sign-in provider {why}", "try again later; a token of your own works")


class Told(NamedTuple):
    """What the provider answered: a document in JSON, also where it refuses."""

    status: int
    document: dict[str, Any]


async def ask(
    url: str,
    form: Mapping[str, str] | None = None,
    account: tuple[str, str] | None = None,
    *,
    is_document: bool = True,
) -> Told:
    """Get a document, or send a form and get one. Raises ProviderError.

    account     : name and secret of the client
    is_document : whether an answer without one is wrong
    """
    method = "GET" if form is None else "POST"
    try:
        async with (
            asyncio.timeout(LONGEST),
            httpx.AsyncClient(verify=_trusted() if url.startswith("https:") else False, follow_redirects=False) as http,
            http.stream(
                method, url, data=form, headers=_HEAD, auth=account or httpx.USE_CLIENT_DEFAULT, timeout=LONGEST
            ) as answer,
        ):
            body = await _body(answer)
    except TimeoutError:
        raise ProviderError(f"does not answer within {LONGEST:g} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise ProviderError(f"cannot be reached: {str(error) or type(error).__name__}") from None
    if answer.is_redirect:
        raise ProviderError(f"leads elsewhere from {url}, which is not followed")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) and not is_document:
        document = {}
    if not isinstance(document, dict):
        raise ProviderError(f"answers {url} with {answer.status_code} and no document")
    return Told(answer.status_code, document)


async def _body(answer: httpx.Response) -> bytes:
    if "content-encoding" in answer.headers:  # what is packed can be larger than it looks
        raise ProviderError("packs an answer though it was asked not to")
    body = b""
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > LARGEST:
            raise ProviderError(f"sends more than {LARGEST} bytes in one answer")
    return body


@cache
def _trusted() -> ssl.SSLContext:
    """Who may sign the provider's certificate: whom the system trusts, or the file in SSL_CERT_FILE."""
    return ssl.create_default_context()
