"""The addresses below `/console/sign-in`: for browsers, which come back with a code, and for `fairhold login`.

Nobody is known here yet. So each address of a client may ask only so often, and the provider is asked by few at once.
"""

from __future__ import annotations

import asyncio
from hmac import compare_digest
from html import escape
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from fairhold.errors import Fault, InputError
from fairhold.runtime.live.auditing import Deed
from fairhold.service.auth import Peer, Refused
from fairhold.service.doorkeeper import origin_of
from fairhold.service.problems import STATUS, problem
from fairhold.service.rates import Rates
from fairhold.service.sessions import SPAN, Secrets, Signed
from fairhold.service.sign_in.asking import ProviderError
from fairhold.service.sign_in.granting import NotYetError
from fairhold.service.small_bodies import small_body
from fairhold.service.static_files import GUARDED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope

    from fairhold.access.provider import Provider
    from fairhold.runtime.live.people import People
    from fairhold.service.auth import Caller, Guard
    from fairhold.service.doorkeeper import Doorkeeper
    from fairhold.service.sessions import Sessions
    from fairhold.service.sign_in.granting import Granting, Tokens

    Work = Callable[[Scope, str], Awaitable[Response]]

BASE = "/console/sign-in"
_ACTION = "sign_in"
HOME = "/console/"
NO_STORE = {"Cache-Control": "no-store"}
EARLY = 30.0
"""Seconds before the end of a token at which another one is got."""
_PENDING = 600
"""Seconds in which a browser has to come back."""
_RATE = 10
"""Requests a second of one address."""
_AT_ONCE = 8
"""Requests for which the provider is asked at a time."""
_LONGEST_WAY = 2_000
_NO_PROVIDER = Fault(
    "no-provider", "the access document names no sign-in provider", "use a token: `fairhold token create` makes one"
)


class _Pending(NamedTuple):
    """A sign-in of a browser that has gone to the provider.

    provider : at that time
    browser  : secret in its cookie
    nonce    : that the token has to bear; verifier: that the code was asked for with
    back     : address that it comes back to; onward: page that it goes to then
    """

    provider: Provider
    browser: str
    nonce: str
    verifier: str
    back: str
    onward: str


class SignInDoor:
    """Answers who wants to sign in.

    cookie    : name of that of a session
    is_secure : whether TLS is spoken
    """

    def __init__(
        self,
        *,
        people: People,
        guard: Guard,
        granting: Granting,
        sessions: Sessions,
        keeper: Doorkeeper,
        cookie: str,
        is_secure: bool,
    ) -> None:
        self._people, self._guard, self._granting, self._sessions = people, guard, granting, sessions
        self._keeper, self.is_secure = keeper, is_secure
        self.cookie, self._browser = cookie, f"{cookie}-sign-in"
        self._pending: Secrets[_Pending] = Secrets(sessions.clock, _PENDING)
        self._rates, self._turn = Rates(), asyncio.Semaphore(_AT_ONCE)

    async def answer(self, scope: Scope, receive: Receive) -> Response:
        """Answer one request."""
        scope.setdefault("state", {})
        path: str = scope["path"].removeprefix(BASE)
        method, field, work = self._ways().get(path, ("", "", self._offer))
        if refusal := self._refusal(scope, method):
            return refusal
        try:
            given = await _text(scope, receive, field) if field else ""
            if work == self._offer:
                return await self._offer()
            async with self._turn:
                return await work(scope, given)
        except RefusedError as error:
            return _told(path, error.refused.fault, error.refused.status)
        except InputError as error:
            return _told(path, error.faults[0])
        except ProviderError as error:
            return _told(path, error.fault)

    def _refusal(self, scope: Scope, method: str) -> Response | None:
        """The answer to a request that is not looked at; None = it is."""
        refused = self._guard.foreign(dict(scope["headers"]), scope["state"].get("peer", Peer(None)))
        if refused is not None:
            return problem(refused.status, [refused.fault])
        if not method:
            return problem(404, [Fault("no-such-page", "there is nothing at this address", "sign in at `/console/`")])
        if scope["method"] != method:
            fault = Fault("no-such-method", "the address does not know this method", f"use {method}")
            return problem(405, [fault], {"Allow": method})
        if not self._rates.take(origin_of(scope), _RATE, self._sessions.clock()):
            what = f"more than {_RATE} requests a second to sign in came from this address"
            return problem(429, [Fault("too-many", what, "try again in a second")])
        return None

    def _ways(self) -> dict[str, tuple[str, str, Work]]:
        """Path → method, what the body has to have, and who answers."""
        return {
            "": ("GET", "", self._offer),
            "/begin": ("GET", "", self._begin),
            "/end": ("GET", "", self._end),
            "/device": ("POST", "", self._device),
            "/token": ("POST", "device_code", self._token),
            "/refresh": ("POST", "refresh", self._refresh),
            "/revoke": ("POST", "refresh", self._revoke),
        }

    def _provider(self) -> Provider:
        provider = self._people.access.provider
        if provider is None:
            raise InputError([_NO_PROVIDER])
        return provider

    # Browsers

    async def _offer(self, *_: object) -> Response:
        """Whether there is a provider, and what it is called."""
        provider = self._people.access.provider
        return JSONResponse({"provider": provider.title if provider else None}, headers=NO_STORE)

    async def _begin(self, scope: Scope, _: str) -> Response:
        """To the provider."""
        provider, host = self._provider(), Headers(scope=scope).get("host", "")
        onward = parse_qs(scope["query_string"].decode("latin-1")).get("to", [HOME])[0]
        back = f"{'https' if self.is_secure else 'http'}://{host}{BASE}/end"
        browser, nonce, verifier = (token_urlsafe(32) for _ in range(3))
        pending = _Pending(provider, browser, nonce, verifier, back, _own(onward))
        state = self._pending.keep(pending)
        where = await self._granting.begin(provider, back, state, pending.nonce, pending.verifier)
        answer = RedirectResponse(where, 303, NO_STORE)
        answer.set_cookie(
            self._browser,
            pending.browser,
            max_age=_PENDING,
            path=BASE,
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )
        return answer

    async def _end(self, scope: Scope, _: str) -> Response:
        """Back from the provider: a session, if all of it is ours."""
        query = {name: values[0] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        pending = self._pending.take(query.get("state", ""))
        shown = cookie_of(Headers(scope=scope), self._browser)
        if pending is None or not compare_digest(shown.encode(), pending.browser.encode()):
            self._note(scope, "sign-in-over")
            raise _over("this sign-in was not begun in this browser, was used before, or took too long")
        if query.get("iss", pending.provider.issuer) != pending.provider.issuer:
            self._note(scope, "sign-in-over")
            raise _over("another provider has answered")
        if "code" not in query:
            self._note(scope, "sign-in-denied")
            what = f"the provider let nobody in: {query.get('error', 'it gave no code')[:100]}"
            raise InputError([Fault("sign-in-denied", what, "sign in again")])
        tokens = await self._granting.by_code(pending.provider, query["code"], pending.back, pending.verifier)
        caller = await self._let_in(scope, tokens, pending.nonce)
        self._sessions.end(cookie_of(Headers(scope=scope), self.cookie))
        secret = self._sessions.begin(signed_by(tokens, self._guard.seconds_left(caller), self._sessions.clock()))
        answer = RedirectResponse(pending.onward, 303, NO_STORE)
        answer.delete_cookie(self._browser, path=BASE, secure=self.is_secure, httponly=True, samesite="lax")
        set_session(answer, self.cookie, secret, is_secure=self.is_secure)
        return answer

    async def _let_in(self, scope: Scope, tokens: Tokens, nonce: str | None = None) -> Caller:
        """Who signed in, which is put on the record. Raises RefusedError where he may not come in."""
        found = await self._guard.by_provider(tokens.token, nonce)
        if isinstance(found, Refused):
            self._note(scope, found.fault.code, found.user)
            raise RefusedError(found)
        self._keeper.signed_in(Deed(found.user, found.via, origin_of(scope), _ACTION))
        return found

    def _note(self, scope: Scope, outcome: str, user: str = "") -> None:
        self._keeper.refused(Deed(user, "", origin_of(scope), _ACTION), outcome)

    # Programs

    async def _device(self, *_: object) -> Response:
        """A code to show to somebody, who lets the program in on the provider's page."""
        provider = self._provider()
        told = await self._granting.begin_device(provider)
        return JSONResponse(told | {"provider": provider.title}, 201, NO_STORE)

    async def _token(self, scope: Scope, device: str) -> Response:
        """Tokens for a program that was let in; 202: not yet."""
        provider = self._provider()
        try:
            tokens = await self._granting.by_device(provider, device)
        except NotYetError as waiting:
            return JSONResponse({"slow_down": waiting.is_too_fast}, 202, NO_STORE)
        return self._given(tokens, await self._let_in(scope, tokens))

    async def _refresh(self, _: Scope, refresh: str) -> Response:
        """Other tokens for a refresh token."""
        tokens = await self._granting.by_refresh(self._provider(), refresh)
        found = await self._guard.by_provider(tokens.token)
        if isinstance(found, Refused):
            raise RefusedError(found)
        return self._given(tokens, found)

    def _given(self, tokens: Tokens, caller: Caller) -> Response:
        seconds = int(self._guard.seconds_left(caller))
        told = {"token": tokens.token, "refresh": tokens.refresh, "seconds": seconds, "user": caller.user}
        return JSONResponse(told, 200, NO_STORE)

    async def _revoke(self, _: Scope, refresh: str) -> Response:
        """Let a refresh token count no more."""
        await self._granting.revoke(self._provider(), refresh)
        return Response(status_code=204, headers=NO_STORE)


class RefusedError(Exception):
    """Somebody is known to the provider, and may not come in."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.fault.what)
        self.refused = refused


def signed_by(tokens: Tokens, left: float, now: float) -> Signed:
    """What a session asks with from now on. left: seconds for which the token is good; now: of the session's clock."""
    return Signed(f"Bearer {tokens.token}", tokens.refresh, now + max(left - EARLY, left / 2))


def set_session(answer: Response, name: str, secret: str, *, is_secure: bool) -> None:
    """Give a browser the cookie of a session."""
    answer.set_cookie(name, secret, max_age=SPAN, path="/", secure=is_secure, httponly=True, samesite="strict")


def cookie_of(headers: Headers, name: str) -> str:
    """What a cookie of a request says; empty where it has none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _own(onward: str) -> str:
    """A page of the console, whatever somebody else put into the address."""
    is_own = onward.startswith(HOME) and len(onward) <= _LONGEST_WAY and onward.isascii() and onward.isprintable()
    return onward if is_own and "\\" not in onward and "//" not in onward.partition("?")[0] else HOME


def _over(why: str) -> InputError:
    return InputError([Fault("sign-in-over", why, "sign in again")])


async def _text(scope: Scope, receive: Receive, name: str) -> str:
    body = await small_body(scope, receive)
    if body is None or set(body) != {name}:
        raise InputError([Fault("bad-request", f"no `{name}` is in the request", f'send JSON: {{"{name}": "…"}}')])
    return body[name]


def _told(path: str, fault: Fault, status: int = 0) -> Response:
    """What went wrong: to people as a page, to programs as a problem."""
    status = status or STATUS.get(fault.code, 422)
    if path not in {"/begin", "/end"}:
        return problem(status, [fault], NO_STORE)
    text = escape("; ".join(filter(None, (fault.what, fault.mend))))
    return HTMLResponse(_PAGE.format(text=text, code=escape(fault.code), home=HOME), status, GUARDED | NO_STORE)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fairhold: not signed in</title></head>
<body><main><h1>Not signed in</h1>
<p role="alert">{text} <code>{code}</code></p>
<p><a href="{home}">Back to the sign-in page</a></p></main></body></html>
"""
