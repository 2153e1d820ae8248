"""What a provider says of itself: its addresses, and the keys with which it signs. In the loop's thread."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, RSAKey

from fairhold.service.settings import is_loopback
from fairhold.service.sign_in.asking import ProviderError, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fairhold.access.provider import Provider

Key = RSAKey | ECKey
FRESH, LIFE = 3_600.0, 24 * 3_600.0
"""Seconds after which keys are asked for again, and after which they count no more where that fails."""
PAUSE = 10.0
"""Seconds between two attempts to get keys, whatever keys are asked for."""
_MOST_KEYS = 100
_LEAST_BITS = 2048
_ADDRESSES = ("authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "revocation_endpoint")
_LOG = logging.getLogger("fairhold.sign_in")


class Known(NamedTuple):
    """What is known of a provider.

    addresses : name as in its document → address; those that it has
    basic     : whether it takes the secret of a client in the header
    keys      : id → key
    at        : seconds of the clock at which it was told
    """

    issuer: str
    addresses: Mapping[str, str]
    basic: bool
    keys: Mapping[str, Key]
    at: float


class Directory:
    """The provider's addresses and keys, asked for when they are needed, and at most so often.

    clock   : seconds, never set back
    version : counts the changes of keys
    failing : why the last attempt failed, None = it did not
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: Known | None = None
        self._tried: tuple[str, float] = ("", 0.0)
        self.failing: ProviderError | None = None
        self._lock = asyncio.Lock()
        self._renewing: asyncio.Task[None] | None = None
        self.version = 0

    def keys(self, provider: Provider) -> Mapping[str, Key]:
        """The keys that count; ProviderError where none are known, or not any more."""
        known = self._of(provider)
        if known is None:
            raise self.failing or ProviderError("was not asked yet")
        return known.keys

    async def addresses(self, provider: Provider) -> Known:
        """Where to ask the provider for what; raises ProviderError."""
        if self._of(provider) is None:
            await self._get(provider, "")
        known = self._of(provider)
        if known is None:
            raise self.failing or ProviderError("was not asked yet")
        return known

    async def prepare(self, provider: Provider, kid: str) -> None:
        """Get keys where none are known, or not this one; whether that worked is seen afterwards."""
        known = self._of(provider)
        if known is None or not _has(known, kid):
            await self._get(provider, kid)
        elif self._clock() - known.at >= FRESH and self._may_try(provider) and self._renewing is None:
            self._renewing = asyncio.create_task(self._get(provider, None))
            self._renewing.add_done_callback(self._renewed)

    def _renewed(self, _task: asyncio.Task[None]) -> None:
        self._renewing = None

    def _of(self, provider: Provider) -> Known | None:
        known = self._known
        is_good = known is not None and known.issuer == provider.issuer and self._clock() - known.at < LIFE
        return known if is_good else None

    def _may_try(self, provider: Provider) -> bool:
        issuer, at = self._tried
        return issuer != provider.issuer or self._clock() - at >= PAUSE

    async def _get(self, provider: Provider, kid: str | None) -> None:
        """Ask the provider, once for all who wait; kid: key that is missing, empty = any, None = to renew all."""
        async with self._lock:
            known = self._of(provider)
            if (kid is not None and known is not None and _has(known, kid)) or not self._may_try(provider):
                return
            self._tried = (provider.issuer, self._clock())
            try:
                found = await self._ask(provider)
            except ProviderError as error:
                self.failing = error
                _LOG.warning("%s", error.fault.what)
                return
            if known is None or known.issuer != found.issuer or _said(known) != _said(found):
                self.version += 1
            self._known, self.failing = found, None

    async def _ask(self, provider: Provider) -> Known:
        issuer = provider.issuer
        where = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        status, said = await ask(where)
        if status != 200:
            raise ProviderError(f"answers {where} with {status}")
        if said.get("issuer") != issuer:
            raise ProviderError(f"calls itself {str(said.get('issuer'))[:200]!r}, and the access document {issuer!r}")
        addresses = {name: _address(issuer, name, said[name]) for name in _ADDRESSES if name in said}
        where = _address(issuer, "jwks_uri", said.get("jwks_uri"))
        status, keys = await ask(where)
        if status != 200:
            raise ProviderError(f"answers {where} with {status}")
        methods = said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = isinstance(methods, list) and "client_secret_basic" in methods
        found = dict(_keys(keys))
        if not found:
            raise ProviderError("names no key of a kind that counts here")
        return Known(issuer, addresses, basic, found, self._clock())


def _said(known: Known) -> dict[str, Any]:
    """Keys as they can be compared."""
    return {name: key.as_dict(private=False) for name, key in known.keys.items()}


def _has(known: Known, kid: str) -> bool:
    return kid in known.keys or not kid


def _address(issuer: str, name: str, value: object) -> str:
    """An address of the provider's document, as safe as the provider's own."""
    try:
        parts = urlsplit(value) if isinstance(value, str) and value.isprintable() else urlsplit("")
        is_here = parts.scheme == "http" and is_loopback(parts.hostname or "") and issuer.startswith("http:")
        is_good = bool(parts.hostname) and not parts.username and (parts.scheme == "https" or is_here)
    except ValueError:
        is_good = False
    if not is_good:
        raise ProviderError(f"says {str(value)[:200]!r} for `{name}`, which is no address with `https`")
    return str(value)


def _keys(document: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    """The public keys of a document that may sign; one that cannot be read is as none."""
    listed = document.get("keys")
    for each in (listed if isinstance(listed, list) else [])[:_MOST_KEYS]:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig" or each.get("kty") not in {"RSA", "EC"}:
            continue
        kid = each.get("kid", "")
        try:
            if not isinstance(kid, str) or _bits(each) < _LEAST_BITS:
                continue
            key = JWKRegistry.import_key({name: value for name, value in each.items() if name != "d"})
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if isinstance(key, Key):
            yield kid, key


def _bits(key: Mapping[str, Any]) -> int:
    """How long a key of RSA is; those of curves are long enough."""
    return len(key["n"]) * 6 if key["kty"] == "RSA" else _LEAST_BITS
