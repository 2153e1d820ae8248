"""A token of the provider → who that is. In the loop's thread."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry
from joserfc.jwt import decode

from fairhold.access.provider import Person, person_of, useless
from fairhold.service.sign_in.asking import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.access.document import Access
    from fairhold.access.provider import Provider
    from fairhold.errors import Fault
    from fairhold.service.sign_in.keys import Directory, Key

Claims = dict[str, Any]
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Those with a public and a private key; `none` and those with a shared secret are none of them."""
LONGEST = 32 * 1024
"""Characters of a token."""
_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
"""Kinds of tokens that say who somebody is; a logout token, among others, does not."""
_MOST_HEADER = 4_096
_MOST_KEPT = 10_000


class _Head(NamedTuple):
    kid: str
    algorithm: str


class Checking:
    """Checks tokens, each signature once as long as the keys are the same."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        self._registry.max_header_length = _MOST_HEADER
        self._registry.max_payload_length = LONGEST
        self._good: dict[bytes, Claims] = {}
        self._good_under: object = None

    async def prepare(self, provider: Provider, text: str) -> None:
        """Get the key that a token needs, where that may help."""
        head = _head(text)
        if head is not None:
            await self._directory.prepare(provider, head.kid)

    def person(self, access: Access, provider: Provider, text: str, now: int) -> Person | Fault:
        """Who shows a token, or why it does not count."""
        claims = self.claims(provider, text)
        return person_of(provider, access, claims, now) if isinstance(claims, dict) else claims

    def claims(self, provider: Provider, text: str) -> Claims | Fault:
        """What a token says, whose signature is good; whether it counts now is not looked at."""
        under = (provider, self._directory.version)
        if self._good_under != under:
            self._good, self._good_under = {}, under
        digest = sha256(text.encode()).digest()
        try:
            keys = self._directory.keys(provider)
        except ProviderError as error:
            return error.fault
        claims = self._good.get(digest) or self._read(keys, text)
        if isinstance(claims, dict):
            if len(self._good) >= _MOST_KEPT:
                self._good = {}
            self._good[digest] = claims
        return claims

    def _read(self, keys: Mapping[str, Key], text: str) -> Claims | Fault:
        head = _head(text)
        if head is None:
            return useless("it is none that says who somebody is, or signed in a way that proves nothing")
        key = keys.get(head.kid) if head.kid or len(keys) > 1 else next(iter(keys.values()))
        if key is None:
            failing = self._directory.failing
            return failing.fault if failing else useless("the provider has no such key")
        if key.alg is not None and key.alg != head.algorithm:
            return useless("it is signed in another way than its key is for")
        try:
            return decode(text, key, registry=self._registry).claims
        except (JoseError, ValueError, TypeError, RecursionError):
            return useless("its signature is wrong")


def is_of_provider(text: str) -> bool:
    """Whether a text means to be a token of a provider: three parts with dots between."""
    return text.count(".") == 2


def _head(text: str) -> _Head | None:
    """What a token says of its key; None where it is no token, or one that never counts."""
    part = text.partition(".")[0]
    if not is_of_provider(text) or len(text) > LONGEST or len(part) > _MOST_HEADER:
        return None
    try:
        head = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or str(head.get("typ", "")).lower() not in _TYPES:
        return None
    kid, algorithm = head.get("kid", ""), head.get("alg")
    is_one = isinstance(kid, str) and isinstance(algorithm, str) and algorithm in ALGORITHMS
    return _Head(kid, algorithm) if is_one and isinstance(algorithm, str) else None
