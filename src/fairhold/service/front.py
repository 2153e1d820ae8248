"""Before the gate: the files of the web console, which anybody may have, and its sessions.

A session is a cookie. A request with it is handed on to the gate with the token that the session was begun with, so the
gate alone says what a token may do, and what it is worth now. The cookie counts only beside the header
`Fairhold-Console`, which a page of somebody else cannot send along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response

from fairhold.errors import Fault
from fairhold.service.problems import problem
from fairhold.service.sessions import SPAN, Signed
from fairhold.service.sign_in.door import BASE as SIGN_IN
from fairhold.service.sign_in.door import cookie_of, set_session
from fairhold.service.small_bodies import small_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairhold.service.sessions import Sessions
    from fairhold.service.sign_in.door import SignInDoor
    from fairhold.service.sign_in.renewing import Renewing
    from fairhold.service.static_files import StaticFiles

BASE = "/console"
HEADER = "fairhold-console"
_CHECKED = "/v1/health"
"""Address that any token may ask; the gate's answer says whether a token is one."""


class Front:
    """The outermost application.

    sessions  : of browsers
    files     : of the console
    door      : for those who sign in at a provider
    renewing  : of their sessions
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        sessions: Sessions,
        files: StaticFiles,
        door: SignInDoor,
        renewing: Renewing,
    ) -> None:
        self._app = app
        self._sessions, self._renewing = sessions, renewing
        self._files, self._door = files, door
        self._cookie = door.cookie
        self._is_secure = door.is_secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not (path in {"/", BASE} or path.startswith(f"{BASE}/")):
            await self._app(await self._with_token(scope), receive, send)
            return
        if path in {"/", BASE}:
            answer: Response = RedirectResponse(f"{BASE}/", 307)
        elif path == f"{BASE}/session":
            answer = await self._session(scope, receive)
        elif path == f"{BASE}/code":
            answer = await self._code(scope)
        elif path == SIGN_IN or path.startswith(f"{SIGN_IN}/"):
            answer = await self._door.answer(scope, receive)
        else:
            answer = self._file(scope, path.removeprefix(f"{BASE}/"))
        await answer(scope, receive, send)

    # Files

    def _file(self, scope: Scope, path: str) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return _no_method("GET, HEAD")
        found = self._files.find(path)
        if found is None:
            fault = Fault("no-such-page", "the console has no such file", "load the page again")
            return problem(404, [fault], {"Cache-Control": "no-store"})
        body, headers = found.body, found.headers
        if found.packed and "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            body, headers = found.packed, headers | {"Content-Encoding": "gzip"}
        answer = Response(body, headers=headers)
        if scope["method"] == "HEAD":
            answer.body = b""
        return answer

    # Sessions

    async def _with_token(self, scope: Scope) -> Scope:
        """The request of a session with the token that it stands for; any other as it is.

        `lasts` in its state says whether the session goes on, for an answer that has no end.
        """
        if scope["type"] != "http":
            return scope
        headers = Headers(scope=scope)
        if HEADER not in headers or "authorization" in headers:
            return scope
        secret = cookie_of(headers, self._cookie)
        credential = await self._renewing.credential(secret)
        if credential is None:
            return scope
        scope.setdefault("state", {})["lasts"] = lambda: self._sessions.signed(secret) is not None
        return {**scope, "headers": [*scope["headers"], (b"authorization", credential.encode("latin-1"))]}

    async def _session(self, scope: Scope, receive: Receive) -> Response:
        """POST: begin one, with a `token` or a one-time `code`; DELETE: end it."""
        secret = cookie_of(Headers(scope=scope), self._cookie)
        if scope["method"] == "DELETE":
            self._renewing.forget(self._sessions.end(secret))
            answer = Response(status_code=204, headers={"Cache-Control": "no-store"})
            answer.delete_cookie(self._cookie, path="/", httponly=True, samesite="strict", secure=self._is_secure)
            return answer
        if scope["method"] != "POST":
            return _no_method("POST, DELETE")
        wanted = await small_body(scope, receive)
        if wanted is None or set(wanted) not in ({"token"}, {"code"}):
            fault = Fault("bad-request", "no `token` and no `code` is in the request", 'send JSON: {"token": "…"}')
            return problem(400, [fault])
        credential = f"Bearer {wanted.get('token', '')}"
        if "code" in wanted:
            credential = self._sessions.redeem(wanted["code"]) or ""
            if not credential:
                fault = Fault("wrong-code", "the code was used before, or is older than a minute", _AGAIN)
                return problem(401, [fault])
        refusal = await self._refusal(scope, credential)
        if refusal is not None:
            return refusal
        self._sessions.end(secret)
        answer = JSONResponse({"seconds": SPAN}, 201, {"Cache-Control": "no-store"})
        set_session(answer, self._cookie, self._sessions.begin(Signed(credential)), is_secure=self._is_secure)
        return answer

    async def _code(self, scope: Scope) -> Response:
        """A one-time code for whoever asks with a token."""
        if scope["method"] != "POST":
            return _no_method("POST")
        credential = Headers(scope=scope).get("authorization", "")
        if not credential:
            fault = Fault("no-token", "the request has no token", "send `Authorization: Bearer TOKEN`")
            return problem(401, [fault], {"WWW-Authenticate": "Bearer"})
        refusal = await self._refusal(scope, credential)
        if refusal is not None:
            return refusal
        return JSONResponse({"code": self._sessions.code(credential)}, 201, {"Cache-Control": "no-store"})

    async def _refusal(self, scope: Scope, credential: str) -> Response | None:
        """What the gate objects to a credential; None = nothing."""
        told: list[Message] = []

        async def hear() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def keep(message: Message) -> None:
            told.append(message)

        left_out = {b"authorization", b"content-length", b"content-type", b"transfer-encoding"}
        headers = [each for each in scope["headers"] if each[0] not in left_out]
        if credential:
            headers.append((b"authorization", credential.encode("utf-8", "replace")))
        about = {"method": "GET", "path": _CHECKED, "raw_path": _CHECKED.encode(), "query_string": b""}
        await self._app({**scope, **about, "headers": headers, "state": dict(scope.get("state", {}))}, hear, keep)
        if told[0]["status"] < 400:
            return None
        answer = Response(b"".join(each.get("body", b"") for each in told[1:]), told[0]["status"])
        answer.raw_headers = list(told[0]["headers"])
        return answer


_AGAIN = "run `fairhold console` again, or give your token"


def _no_method(allowed: str) -> Response:
    fault = Fault("no-such-method", "the address does not know this method", f"use {allowed}")
    return problem(405, [fault], {"Allow": allowed})
