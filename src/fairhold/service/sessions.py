"""Sessions of browsers: a random cookie stands for a token that was shown once, so that no page has to keep it."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SPAN = 12 * 3600
"""Seconds after which a session ends."""
CODE_SPAN = 60
"""Seconds in which a one-time code has to be used."""
MOST = 10_000
"""Sessions, and codes, at once; the earliest ones end for later ones."""


class _Kept(NamedTuple):
    """What a secret stands for.

    credential : of the header `Authorization`
    until      : seconds of the clock
    """

    credential: str
    until: float


class Sessions:
    """Sessions and one-time codes, in memory: a restart of the service ends them.

    clock : seconds, never set back
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sessions: dict[bytes, _Kept] = {}
        self._codes: dict[bytes, _Kept] = {}

    def begin(self, credential: str) -> str:
        """Begin a session that asks with a credential; its secret."""
        return self._keep(self._sessions, credential, SPAN)

    def end(self, secret: str) -> None:
        """End a session, where there is one."""
        self._sessions.pop(_digest(secret), None)

    def credential(self, secret: str) -> str | None:
        """What a session asks with; None: there is no such session, or none any more."""
        kept = self._sessions.get(_digest(secret))
        return kept.credential if kept and self._clock() < kept.until else None

    def code(self, credential: str) -> str:
        """A code for which a session can be begun once, soon."""
        return self._keep(self._codes, credential, CODE_SPAN)

    def redeem(self, code: str) -> str | None:
        """The credential of a code, which is used up then; None: it was used, or is too old."""
        kept = self._codes.pop(_digest(code), None)
        return kept.credential if kept and self._clock() < kept.until else None

    def _keep(self, where: dict[bytes, _Kept], credential: str, span: float) -> str:
        now = self._clock()
        for old in [key for key, kept in where.items() if kept.until <= now]:
            del where[old]
        while len(where) >= MOST:
            del where[next(iter(where))]
        secret = secrets.token_urlsafe(32)
        where[_digest(secret)] = _Kept(credential, now + span)
        return secret


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
