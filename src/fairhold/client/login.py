"""Sign-ins of this user at services: kept in a file that nobody else may read, and renewed before they end."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.client.errors import ServiceError, error_of
from fairhold.client.exchange import Pause, Request, document_of, exchange
from fairhold.client.finding import FILE_OF_SIGN_INS
from fairhold.engines.private import drafted, read_private
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from fairhold.client.exchange import Document, Response, Steps

ADDRESS = "/console/sign-in"
EARLY = 20.0
"""Seconds before the end of a token at which another one is got."""
_FORMAT = 1
_LONGEST = 4 * 1024 * 1024
_SLOWER = 5.0
_ENDED, _WAITING = 401, 202


class SignIn(NamedTuple):
    """What the service has given for one.

    user    : who signed in
    token   : that every request shows
    refresh : for which it gives another, empty = it does not
    expires : seconds since 1970, at which the token ends
    """

    user: str
    token: str
    refresh: str
    expires: float


class SignIns:
    """Those of this user, by address of the service; raises InputError where their file cannot be used."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_OF_SIGN_INS

    def find(self, service: str) -> SignIn | None:
        """The sign-in at a service."""
        found = self._read().get(service)
        try:
            return SignIn(**found) if found is not None else None
        except TypeError:
            raise self._unusable("says nothing of use", "remove it, and sign in again") from None

    def keep(self, service: str, sign_in: SignIn | None) -> None:
        """Keep a sign-in at a service, or forget it; to be called in `turn`."""
        known = self._read()
        known.pop(service, None)
        if sign_in is not None:
            known[service] = sign_in._asdict()
        text = json.dumps({"fairhold_sign_ins": _FORMAT, "services": known})
        with drafted(self._path, text.encode()) as draft:
            draft.replace(self._path)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have the file for oneself: what is renewed by two at once ends for both."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> dict[str, Any]:
        try:
            text = read_private(self._path, _LONGEST, self._unusable, mend_mode=f"run: chmod 600 {self._path}")
            return dict(json.loads(text)["services"])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unusable("cannot be read", "remove it, and sign in again") from error

    def _unusable(self, why: str, mend: str) -> InputError:
        return InputError([Fault("sign-ins", f"the file of your sign-ins {why}", mend, file=str(self._path))])


class Renewed:
    """The token of a sign-in as it is good now.

    ask : sends a request to the service without a token
    """

    def __init__(self, directory: Path, service: str, ask: Callable[[Request], Response]) -> None:
        self._kept, self._service, self._ask = SignIns(directory), service, ask
        self._now: SignIn | None = None

    def token(self) -> str:
        """The token, another one where it ends soon. Raises ServiceError where there is none any more."""
        if self._now is None or self._is_due(self._now):
            self._now = self._renewed()
        return self._now.token

    @staticmethod
    def _is_due(sign_in: SignIn) -> bool:
        return time.time() >= sign_in.expires - EARLY

    def _renewed(self) -> SignIn:
        known = self._kept.find(self._service)
        if known is not None and not self._is_due(known):
            return known
        with self._kept.turn():
            known = self._kept.find(self._service)
            if known is None:
                raise _over("you have signed out")
            if not self._is_due(known):  # by another process meanwhile
                return known
            if known.refresh:
                answer = self._ask(posted("/refresh", {"refresh": known.refresh}))
                if answer.status == 200:
                    known = sign_in_of(document_of(answer))
                    self._kept.keep(self._service, known)
                    return known
                if time.time() >= known.expires:
                    raise _over("it has ended at the provider") if answer.status == _ENDED else error_of(answer)
            elif time.time() >= known.expires:
                raise _over("it has ended")
            return known


def _over(why: str) -> ServiceError:
    mend = "sign in again: `fairhold login`; `fairhold logout` goes back to how it was before"
    return ServiceError([Fault("sign-in-over", f"your sign-in counts no more: {why}", mend)], _ENDED)


def posted(path: str, body: Mapping[str, str]) -> Request:
    """A request of those who sign in."""
    head = {"Content-Type": "application/json"}
    return Request("POST", ADDRESS + path, json.dumps(dict(body)).encode(), head, 0, is_safe=False)


def sign_in_of(found: Document) -> SignIn:
    """What the service has given."""
    return SignIn(found["user"], found["token"], found["refresh"], time.time() + found["seconds"])


def sign_in(show: Callable[[Document], None]) -> Steps[SignIn]:
    """Sign in by a code; show: shows people where to go, and the code. Raises Refused, ServiceError."""
    told = document_of((yield from exchange(posted("/device", {}))))
    show(told)
    pause = float(told["interval"])
    while True:
        yield Pause(pause)
        answer = yield from exchange(posted("/token", {"device_code": told["device_code"]}))
        found = document_of(answer)
        if answer.status != _WAITING:
            return sign_in_of(found)
        pause += _SLOWER if found["slow_down"] else 0


def sign_out(refresh: str) -> Steps[None]:
    """Let the provider forget a sign-in. Raises Refused, ServiceError."""
    yield from exchange(posted("/revoke", {"refresh": refresh}))
