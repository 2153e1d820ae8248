"""Errors as answers: `application/problem+json` (RFC 9457) with our codes and faults."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from fairhold.errors import Fault, InputError, place_text
from fairhold.planio.codes import CODES
from fairhold.ports import StoreError, StoreFull, StoreGone, StoreWaits
from fairhold.runtime.live.submitting import raised
from fairhold.service.wording import fault_of, http_fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI
    from starlette.requests import Request

MEDIA_TYPE = "application/problem+json"
TYPES = "urn:fairhold:error:"
STATUS = {
    "json-syntax": 400,
    "bad-request": 400,
    "no-token": 401,
    "wrong-token": 401,
    "foreign-token": 401,
    "expired-token": 401,
    "revoked-token": 401,
    "early-token": 401,
    "sign-in-over": 401,
    "sign-in-denied": 401,
    "name-taken": 403,
    "no-provider": 404,
    "provider-down": 503,
    "two-tokens": 400,
    "token-in-query": 400,
    "unknown-user": 422,
    "not-allowed": 403,
    "access-changed": 412,
    "other-cluster": 422,
    "wrong-code": 401,
    "foreign-host": 403,
    "foreign-origin": 403,
    "no-such-page": 404,
    "no-file": 404,
    "no-cluster": 404,
    "no-output": 404,
    "unknown-attempt": 404,
    "unknown-plan": 404,
    "unknown-task": 404,
    "no-such-method": 405,
    "too-slow": 408,
    "only-observing": 409,
    "only-pods": 409,
    "duplicate-job": 409,
    "job-over": 409,
    "key-reused": 409,
    "job-runs": 409,
    "consumer-in-use": 409,
    "host-away": 409,
    "no-agent-tls": 409,
    "unreached": 409,
    "events-gone": 410,
    "plan-changed": 412,
    "too-large": 413,
    "record-too-long": 413,
    "if-match-missing": 428,
    "too-many": 429,
    "stopping": 503,
    "standby": 503,
    "no-standby": 409,
    "failed": 503,
    "no-answer": 503,
    "forecast-too-long": 503,
    "forecast-failed": 500,
    "simulation-too-long": 503,
    "simulation-failed": 500,
    "store-busy": 503,
    "store-closed": 503,
    "store-failed": 503,
    "store-damaged": 500,
    "store-full": 507,
    "store-gone": 503,
    "store-lost": 503,
    "store-followed": 503,
    "store-behind": 503,
}
"""Status of what has one of its own; the rest of the faults of an input is 422."""
_LATER = {429, 503, 507}
"""Where it may help to ask again after a second."""
_NO_NAMES = ("unknown-word", "unknown-key")
_MOST_FAULTS = 100
_LOG = logging.getLogger("fairhold.service")


LEADER = "Fairhold-Leader"
"""Header of an answer that nothing was done, for this service does not lead: the address of the one that does."""


def refused(code: str, what: str, mend: str = "") -> InputError:
    """One fault of a request."""
    return InputError([Fault(code, what, mend)])


def head_too_large(limit: int) -> Fault:
    """That a request has more in its address and its headers than is taken."""
    return Fault(
        "too-large", f"the limit `head` is {limit} bytes", f"send less in headers and address, or {raised('head')}"
    )


def unknown_job(job: str) -> InputError:
    """That there is no job of this name, or none any more."""
    return refused("unknown-job", f"there is no job `{job}`", "`fairhold jobs --all` shows what there is")


def fault_document(fault: Fault) -> dict[str, Any]:
    """A fault as it stands in answers."""
    return {
        "code": fault.code,
        "what": fault.what,
        "mend": fault.mend,
        "file": fault.file,
        "line": fault.line,
        "place": place_text(fault.place),
    }


def problem(status: int, faults: Sequence[Fault], headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that cannot be carried out; named by the first fault."""
    # ASCII: a request may hold what is not Unicode text, and the answer says where
    text = json.dumps(problem_document(status, faults))
    again = {"Retry-After": "1"} if status in _LATER else {}
    return Response(text, status, {**again, **(headers or {})}, media_type=MEDIA_TYPE)


def problem_document(status: int, faults: Sequence[Fault]) -> dict[str, Any]:
    """What such an answer says."""
    first = faults[0]
    title = CODES.get(first.code) or first.code.replace("-", " ")
    return {
        "type": TYPES + first.code,
        "title": title[0].upper() + title[1:],
        "status": status,
        "detail": f"{first.what}; {first.mend}" if first.mend else first.what,
        "code": first.code,
        "faults": [fault_document(fault) for fault in faults[:_MOST_FAULTS]],
    }


def status_of(code: str, *, is_addressed: bool) -> int:
    """Status of a fault; what is not there is 404 where the address named it, and else a fault of what was sent."""
    if code in STATUS:
        return STATUS[code]
    return 404 if is_addressed and code.startswith("unknown-") and code not in _NO_NAMES else 422


def register(app: FastAPI) -> None:
    """Let an application answer every error with a problem."""
    app.add_exception_handler(InputError, _input_error)
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _input_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, InputError)
    code, is_addressed = error.faults[0].code, request.method == "GET" or bool(request.path_params)
    is_left = code == "stopping" and request.app.state.service.settings.stands_by  # another leads in a moment
    return problem(status_of(code, is_addressed=is_addressed), error.faults, {LEADER: ""} if is_left else None)


_WAITS: dict[type[StoreWaits], tuple[str, str]] = {
    StoreFull: ("the disk is full", "free some space, then send it again"),
    StoreGone: ("the database of the store is gone", "send it again when it is back"),
}


async def _store_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    if isinstance(error, StoreWaits):
        short, mend = _WAITS[type(error)]
        what = f"{short}: the request was not accepted"
        if error.is_kept:
            what = f"{short}: the request was accepted but is not durable yet"
            mend += "; a submit with the same `Idempotency-Key` is the same job"
    else:
        _LOG.error("the store failed: %s", error)
        what, mend = "the store failed; the service's log says why", "send it again when the service is back"
        if error.code == "store-damaged":
            mend = "tell the operator: `fairhold store check` says what is damaged"
    return problem(STATUS.get(error.code, 500), [Fault(error.code, what, mend)])


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    content_type = request.headers.get("content-type", "")
    faults = [fault_of(each, content_type) for each in error.errors()[:_MOST_FAULTS]]
    return problem(400 if faults[0].code == "json-syntax" else 422, faults)


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail or HTTPStatus(error.status_code).phrase
    return problem(error.status_code, [http_fault(error.status_code, detail)], error.headers)
