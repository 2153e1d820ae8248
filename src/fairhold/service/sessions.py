"""Sessions of browsers: a random cookie stands for a token that was shown once, so that no page has to keep it."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

SPAN = 12 * 3600
"""Seconds after which a session ends."""
CODE_SPAN = 60
"""Seconds in which a one-time code has to be used."""
MOST = 10_000
"""Secrets of one kind at once; the earliest ones end for later ones."""
What = TypeVar("What")


class Signed(NamedTuple):
    """What a session asks with.

    credential : of the header `Authorization`
    refresh    : for which the provider gives another one, empty = it does not
    due        : seconds of the clock from which on another one is to be got
    """

    credential: str
    refresh: str = ""
    due: float = 0.0


class Secrets(Generic[What]):
    """Random texts that stand for something for a while; only their hashes are kept, in memory.

    clock : seconds, never set back
    span  : seconds for which one is good
    """

    def __init__(self, clock: Callable[[], float], span: float) -> None:
        self._clock, self._span = clock, span
        self._kept: dict[bytes, tuple[What, float]] = {}

    def keep(self, what: What) -> str:
        """The secret that stands for something from now on."""
        now = self._clock()
        for old in [key for key, (_, until) in self._kept.items() if until <= now]:
            del self._kept[old]
        while len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]
        secret = secrets.token_urlsafe(32)
        self._kept[_digest(secret)] = (what, now + self._span)
        return secret

    def find(self, secret: str) -> What | None:
        """What a secret stands for; None = nothing, or not any more."""
        what, until = self._kept.get(_digest(secret), (None, 0.0))
        return what if self._clock() < until else None

    def change(self, secret: str, what: What) -> None:
        """Let a secret stand for something else, as long as before; where it stands for nothing, it does so still."""
        key = _digest(secret)
        if key in self._kept:
            self._kept[key] = (what, self._kept[key][1])

    def take(self, secret: str) -> What | None:
        """What a secret stands for, which it does not do any more then."""
        what = self.find(secret)
        self._kept.pop(_digest(secret), None)
        return what


class Sessions:
    """Sessions and one-time codes: a restart of the service ends them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._sessions: Secrets[Signed] = Secrets(clock, SPAN)
        self._codes: Secrets[str] = Secrets(clock, CODE_SPAN)

    def begin(self, signed: Signed) -> str:
        """Begin a session; its secret."""
        return self._sessions.keep(signed)

    def end(self, secret: str) -> Signed | None:
        """End a session; what it asked with, where there was one."""
        return self._sessions.take(secret)

    def signed(self, secret: str) -> Signed | None:
        """What a session asks with; None: there is no such session, or none any more."""
        return self._sessions.find(secret)

    def change(self, secret: str, signed: Signed) -> None:
        """Let a session ask with something else, as long as before."""
        self._sessions.change(secret, signed)

    def code(self, credential: str) -> str:
        """A code for which a session can be begun once, soon."""
        return self._codes.keep(credential)

    def redeem(self, code: str) -> str | None:
        """The credential of a code, which is used up then; None: it was used, or is too old."""
        return self._codes.take(code)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
