"""One request and its answer, tried again where that is safe. Nothing here opens a connection.

A step function is a generator: it yields a `Request`, and is sent the `Response`, or is thrown ServiceMissing (nothing
was sent) or ConnectionLost; it yields a `Pause`, and is sent nothing when that is over. Its result is what it returns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from fairhold.client.errors import ConnectionLost, NobodyLeads, Refused, ServiceError, ServiceMissing, error_of
from fairhold.errors import Fault

Document = dict[str, Any]
Value = str | int | float | bool | None


class Request(NamedTuple):
    """What is asked.

    path    : with query, from `/v1` on
    headers : in addition to those of every request
    wait    : seconds that the service may take its time, as it was asked to
    is_safe : asked twice is as good as once
    """

    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]
    wait: float
    is_safe: bool


class Response(NamedTuple):
    """What was answered; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Pause(NamedTuple):
    """Wait before the next request."""

    seconds: float


Returned = TypeVar("Returned")
Steps = Generator[Request | Pause, Response | None, Returned]

Carry = Callable[[Request | Pause], Response | None]

PATIENCE = 10.0
"""Seconds of pauses after which a connection that breaks again and again is given up."""
LONG_PATIENCE = 300.0
"""The same for one who waits for work that goes on without the service."""
_FIRST, _LONGEST = 0.05, 1.0


def carry_through(steps: Steps[Returned], carry_out: Carry) -> Returned:
    """What steps return, each carried out by a function that blocks; raises Refused, ServiceError and its kinds."""
    try:
        step = next(steps)
        while True:
            try:
                answer = carry_out(step)
            except ServiceError as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        returned: Returned = end.value
        return returned


def request(
    method: str,
    *path: str,
    query: Mapping[str, Value] | None = None,
    body: Document | None = None,
    headers: Mapping[str, str] | None = None,
    wait: float = 0,
    is_safe: bool = False,
) -> Request:
    """A request of the contract; of the query, what is None is left out.

    path : parts below `/v1`, as they are called

    Raises Refused for a name that nothing can have: as a part of a path it would be another address.
    """
    if len(path) > 1 and path[0] in _NAMED and (path[1] in {"", ".", ".."} or "/" in path[1]):
        raise _unknown(path[0], path[1])
    asked = {name: _shown(value) for name, value in (query or {}).items() if value is not None}
    if wait:
        asked["wait"] = f"{wait:g}"
    text = "/v1/" + "/".join(quote(part, safe="") for part in path) + (f"?{urlencode(asked)}" if asked else "")
    sent = None if body is None else json.dumps(body).encode()
    head = {"Content-Type": "application/json"} if sent is not None else {}
    return Request(method, text, sent, head | dict(headers or {}), wait, is_safe or method == "GET")


_NAMED = {
    "jobs": ("unknown-job", "there is no job", "`fairhold jobs --all` shows what there is"),
    "hosts": ("unknown-host", "there is no host", "`fairhold hosts` shows what there is"),
    "pods": ("unknown-pod", "there is no namespace", "`fairhold kubernetes pods` shows the pods that are governed"),
    "groups": ("unknown-resource-group", "no policy shares the resource group", "`fairhold top` shows what there is"),
}
"""What follows the first part of a path, and what the service says where it is not there."""
_NOT_FOUND = 404


def _unknown(kind: str, name: str) -> Refused:
    code, what, mend = _NAMED[kind]
    return Refused([Fault(code, f"{what} `{name}`", mend)], _NOT_FOUND)


def _shown(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def exchange(asked: Request, *, patience: float = PATIENCE, is_known: bool = False) -> Steps[Response]:
    """Ask, and ask again where the connection broke and that is safe; returns a good answer.

    is_known : the service was there a moment ago: one that is not there now is waited for as well

    Raises Refused, ServiceError and its kinds.
    """
    spent, pause, was_cut = 0.0, _FIRST, False
    while True:
        try:
            response = yield asked
            assert response is not None
            if response.status < 400:
                return response
            if not (response.status == 503 and (is_known or was_cut) and asked.is_safe):
                raise error_of(response)
            if spent >= patience:
                raise _not_back() if was_cut else error_of(response)
        except NobodyLeads:
            if spent >= patience:
                raise
        except ServiceMissing:
            if not asked.is_safe or not (was_cut or is_known) or spent >= patience:
                if was_cut:
                    raise _not_back() from None
                raise
        except ConnectionLost:
            if not asked.is_safe or spent >= patience:
                raise
            was_cut = True
        yield Pause(pause)
        spent += pause
        pause = min(2 * pause, _LONGEST)


def _not_back() -> ConnectionLost:
    return ConnectionLost("the connection broke, and the service did not come back")


def ask(asked: Request, *, patience: float = PATIENCE, is_known: bool = False) -> Steps[Document]:
    """As `exchange`; returns the document of the answer."""
    response = yield from exchange(asked, patience=patience, is_known=is_known)
    return document_of(response)


def document_of(response: Response) -> Document:
    """The document of a good answer."""
    try:
        document = json.loads(response.body or b"{}")
    except ValueError:
        document = None
    if not isinstance(document, dict) or (response.body and not document):
        raise error_of(response)
    return document
