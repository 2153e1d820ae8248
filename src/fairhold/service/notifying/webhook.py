"""Sends a message by HTTP: signed as Standard Webhooks says, only where that is allowed, and led nowhere else."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import socket
import ssl
from base64 import b64decode, b64encode
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from fairhold.access.webhooks import allowed_addresses, url_fault
from fairhold.service.notifying.trying import NotSentError

if TYPE_CHECKING:
    from fairhold.access.notifications import Webhooks
    from fairhold.runtime.live.outbox import Delivery

LONGEST = 10.0
"""Seconds for one try, from the look-up of the name to the head of the answer."""
_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """A secret with which messages to one receiver are signed."""
    return _PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, name: str, seconds: int, body: bytes) -> str:
    """What proves that a message with this id, of this second, is ours."""
    signed = f"{name}.{seconds}.".encode() + body
    key = b64decode(secret.removeprefix(_PREFIX))
    return "v1," + b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def body_of(delivery: Delivery, cluster: str) -> bytes:
    """A message as JSON. The same message has the same id at each try, and never tells more than before."""
    document: dict[str, Any] = {
        "id": delivery.id,
        "cluster": cluster,
        "user": delivery.user,
        "events": delivery.facts,
        "more": delivery.more,
    }
    return json.dumps(document, separators=(",", ":")).encode()


async def send(allowed: Webhooks, url: str, secret: str, name: str, seconds: int, body: bytes) -> None:  # noqa: PLR0917
    """Send a message, to one of the addresses of the host that are allowed. Raises NotSentError."""
    if why := url_fault(allowed, url):
        raise NotSentError(f"the address of the webhook {why}", is_final=True)
    head = {
        "Content-Type": "application/json",
        "User-Agent": "fairhold",
        "webhook-id": name,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature(secret, name, seconds, body),
    }
    try:
        async with asyncio.timeout(LONGEST):
            status = await _post(url, await _address(allowed, url), head, body)
    except TimeoutError:
        raise NotSentError(f"it does not answer within {LONGEST:g} seconds") from None
    except (httpx.HTTPError, OSError, ValueError) as error:  # its words may hold the address, which may be a secret
        raise NotSentError(f"it cannot be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise NotSentError(f"it answers with {status}", is_final=status == httpx.codes.GONE)


async def _address(allowed: Webhooks, url: str) -> str:
    """An address of the host; the one that was looked at is the one that is connected to."""
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
    addresses = allowed_addresses(allowed, dict.fromkeys(str(each[4][0]) for each in found))
    if not addresses:
        raise NotSentError("its addresses are not public, and no allowed network has them")
    return addresses[0]


async def _post(url: str, address: str, head: dict[str, str], body: bytes) -> int:
    """The status of the answer; its body is not read."""
    given = httpx.URL(url)
    there = given.copy_with(host=address)
    named = head | {"Host": given.netloc.decode()}
    async with (
        httpx.AsyncClient(verify=_trusted(), follow_redirects=False, trust_env=False, timeout=LONGEST) as http,
        http.stream("POST", there, content=body, headers=named, extensions={"sni_hostname": given.host}) as answer,
    ):
        return answer.status_code


@cache
def _trusted() -> ssl.SSLContext:
    """Who may sign the receiver's certificate: whom the system trusts, or the file in SSL_CERT_FILE."""
    return ssl.create_default_context()
