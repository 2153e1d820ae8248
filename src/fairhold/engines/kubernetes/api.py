"""A small client of the API of Kubernetes: lists, watches, and single requests (ADR 0038)."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx

from fairhold.engines.leader import clock
from fairhold.errors import FairholdError, Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.engines.kubernetes.access import Access

PAGE = 500
"""Objects of one answer of a list."""
WATCHED = 50
"""Seconds after which the API server ends a watch, so that another begins: of kinds that do not change it says nothing
else, bookmarks neither."""
_SILENCE = 65.0
"""Seconds without a word of a watch after which it is taken for broken."""
_TIMEOUT, _WATCHING = httpx.Timeout(15.0, connect=5.0), httpx.Timeout(15.0, connect=5.0, read=_SILENCE)
_ALWAYS = {"User-Agent": "fairhold", "Accept": "application/json", "Accept-Encoding": "gzip"}


class ApiError(FairholdError):
    """A request was refused, or not answered.

    status : of the answer, 0 = there was none; reason : one word of the API server, as `NotFound`
    """

    code = "kubernetes-api"

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(f"{message} [{self.code}]")


def in_words(url: str, error: ApiError, rights: str, absent: Fault | None = None) -> InputError:
    """What an error means to people.

    rights : how they get a right that is missing; absent: what it means that something is not there
    """
    if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return InputError([Fault("kubernetes-rights", f"{url} refuses: {error}", rights)])
    if error.status == HTTPStatus.NOT_FOUND and absent is not None:
        return InputError([absent])
    mend = "look whether the address is right and the API server runs: `kubectl get --raw /readyz`"
    return InputError([Fault("kubernetes-access", f"{url} cannot be used: {error}", mend)])


class Change(NamedTuple):
    """What a watch tells of an object: ADDED, MODIFIED, DELETED or BOOKMARK."""

    kind: str
    document: Mapping[str, Any]


class Api:
    """A client; all may be called by any thread."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._watched: dict[object, tuple[socket.socket, str]] = {}
        """Watches that have begun: a connection may be given to the next watch before the one before has left here."""
        self._lock = threading.Lock()
        logging.getLogger("httpcore").setLevel(logging.WARNING)  # a line for each request tells nothing
        limits = httpx.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=30.0)
        # A client of httpx, with its redirects, cookies and hooks, takes as long for a request as all the rest of it.
        verify, proxy = access.verify, access.proxy or None
        self._transport: httpx.BaseTransport = httpx.HTTPTransport(verify, limits=limits, proxy=proxy, trust_env=False)
        self._base = httpx.URL(access.url)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        media: str = "application/json",
        within: float = 0.0,
        **query: str,
    ) -> dict[str, Any]:
        """Make one request; returns the document of the answer. Raises ApiError.

        within : seconds after which it is given up, what its credentials take among them; 0 = as usual
        """
        content = (b"", "") if body is None else (json.dumps(body, separators=(",", ":")).encode(), media)
        with self._is_asked("does not answer"):
            with self._sent(method, path, query, within, content) as answer:
                answer.read()
            if answer.status_code >= httpx.codes.BAD_REQUEST:
                raise _refusal(answer)
            found = answer.json()
            if not isinstance(found, dict):
                raise ApiError(0, "Malformed", f"what {self.access.url} says of {path} is no object")
            return found

    def clock(self) -> float:
        """What time it is at the API server, in seconds since the epoch, by its whole seconds. Raises ApiError."""
        with self._is_asked("does not answer"), self._sent("GET", "/version", {}, 0) as answer:
            answer.read()
            said = answer.headers.get("Date")
        try:
            return parsedate_to_datetime(said or "").timestamp() + 0.5
        except ValueError:  # a proxy may leave it out
            return time.time()

    def list(self, path: str, **query: str) -> tuple[list[dict[str, Any]], str]:
        """All objects of a kind, and the version from which a watch goes on. Raises ApiError."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while True:
            more = page.get("metadata", {}).get("continue")
            paging = {"limit": str(PAGE)} | ({"continue": more} if more else {})
            page = self.request("GET", path, None, "", 0.0, **query, **paging)
            found += page.get("items") or ()
            if not page["metadata"].get("continue"):
                return found, page["metadata"]["resourceVersion"]

    def find(self, group: str, plural: str) -> str:
        """Where the list of a kind is, in the version that the API server prefers; empty = it has none.

        Raises ApiError.
        """
        try:
            said = self.request("GET", f"/apis/{group}")
            versions = dict.fromkeys([said["preferredVersion"]["groupVersion"]])
            versions |= dict.fromkeys(each["groupVersion"] for each in said["versions"])
            for version in versions:
                resources = self.request("GET", f"/apis/{version}").get("resources") or ()
                if any(each["name"] == plural for each in resources):
                    return f"/apis/{version}/{plural}"
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
        return ""

    def watch(self, path: str, version: str, **query: str) -> Iterator[Change | None]:
        """What changes from a version on; first None when the watch has begun. It ends after `WATCHED`.

        Raises ApiError: of status 410 the version is too old, and a list is to be made.
        """
        query |= {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(WATCHED)}
        query["resourceVersion"] = version
        with (
            self._is_asked(f"has broken the watch of {path}"),
            self._sent("GET", path, query, -1) as answer,
        ):
            if answer.status_code >= httpx.codes.BAD_REQUEST:
                answer.read()
                raise _refusal(answer)
            with self._is_watched(answer.extensions["network_stream"].get_extra_info("socket"), path):
                yield None
                for line in answer.iter_lines():
                    if line:
                        yield _change(json.loads(line))

    @contextmanager
    def _sent(
        self, method: str, path: str, query: Mapping[str, str], within: float, content: tuple[bytes, str] = (b"", "")
    ) -> Iterator[httpx.Response]:
        """The answer to a request, whose body is not read yet.

        within : as of `request`, below 0 = a watch; content: with its media type, empty = none
        """
        began, headers = clock(), _ALWAYS | self._headers() | ({"Content-Type": content[1]} if content[1] else {})
        timeout = _steps(within - (clock() - began)) if within > 0 else _WATCHING if within else _TIMEOUT
        where = f"{quote(path)}?{urlencode(query)}" if query else quote(path)
        url = self._base.copy_with(raw_path=self._base.raw_path.rstrip(b"/") + where.encode())
        extensions = {"timeout": timeout.as_dict()}
        request = httpx.Request(method, url, headers=headers, content=content[0], extensions=extensions)
        answer = self._transport.handle_request(request)
        try:
            yield answer
        finally:
            answer.close()

    @contextmanager
    def _is_asked(self, failing: str) -> Iterator[None]:
        """Whatever keeps an answer away, credentials that cannot be had among it, is an ApiError of status 0."""
        try:
            yield
        except (httpx.HTTPError, OSError, ValueError, InputError) as error:
            raise ApiError(0, "Unreachable", f"{self.access.url} {failing}: {error}") from error

    @contextmanager
    def _is_watched(self, connection: socket.socket, path: str) -> Iterator[None]:
        watch = object()
        with self._lock:
            self._watched[watch] = connection, path
        try:
            yield
        finally:
            with self._lock:
                del self._watched[watch]

    def end_watches(self, path: str) -> None:
        """Break the watches of a path that have begun, whose threads are told so."""
        with self._lock:
            for connection, watched in self._watched.values():
                if watched == path:
                    with suppress(OSError):  # the way of TLS would wait for the reader
                        socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def close(self) -> None:
        """End all connections; no thread uses them any more, or it would read what is another connection by then."""
        self._transport.close()

    def _headers(self) -> dict[str, str]:
        token = self.access.token()
        return {"Authorization": f"Bearer {token}"} if token else {}


def _steps(seconds: float) -> httpx.Timeout:
    """Time for each step of a request, so that all take no longer: to connect, to agree on TLS, to send, to hear."""
    if seconds <= 0:
        raise TimeoutError("its credentials took all the time there was")
    return httpx.Timeout(seconds / 8, read=seconds / 2)


def _change(said: Mapping[str, Any]) -> Change:
    if said["type"] == "ERROR":
        status = said["object"]
        raise ApiError(
            int(status.get("code") or HTTPStatus.GONE), status.get("reason") or "", status.get("message") or ""
        )
    return Change(said["type"], said["object"])


def _refusal(answer: httpx.Response) -> ApiError:
    try:
        status = answer.json()
        return ApiError(answer.status_code, status.get("reason") or "", status.get("message") or answer.text[:400])
    except ValueError:
        return ApiError(answer.status_code, "", answer.text[:400] or f"status {answer.status_code}")
