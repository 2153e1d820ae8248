"""Errors between a client and the service.

FairholdError
├── InputError
│   └── Refused            the service says what is wrong with a request (exit 1; 2: it names what is not there)
└── ServiceError           the service's side failed (exit 3)
    ├── ServiceMissing     there is none, or it does not answer; nothing was asked
    │   └── NobodyLeads    of several none leads at present
    └── ConnectionLost     the connection broke; what was asked may have happened
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.errors import FairholdError, Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.client.exchange import Response

_SERVICE_AT_FAULT = frozenset({401, 403, 429})
"""Nothing is wrong with what was asked: somebody else may ask it, or later."""
_NOT_ALLOWED = "not-allowed"
"""Code of a 403 for what somebody asks, and not for who he is."""
_SET_IT = "set FAIRHOLD_TOKEN to the content of the file `token` of the service's state directory"
_LOOK = "check that the address is that of a fairhold service"
_NO_NAMES = ("unknown-word", "unknown-key")
_LONGEST = 200


class ServiceError(FairholdError):
    """The service cannot do what was asked.

    faults : as it said them
    status : of HTTP, 0 = there was no answer
    """

    code = "service"
    exit_code = 3

    def __init__(self, faults: Sequence[Fault], status: int = 0) -> None:
        self.faults = tuple(faults)
        self.status = status
        if faults:
            self.code = faults[0].code
        super().__init__("\n".join(map(str, faults)))


class ServiceMissing(ServiceError):  # noqa: N818 - it says what has happened
    """There is no service, or it does not answer: nothing was done."""

    def __init__(self, what: str) -> None:
        super().__init__([Fault("no-service", what)])


class NobodyLeads(ServiceMissing):
    """Of several services none leads at present, as while one takes over: nothing was done."""


class ConnectionLost(ServiceError):  # noqa: N818 - it says what has happened
    """The connection broke after a request was sent, which may have been carried out."""

    def __init__(self, what: str, mend: str = "check whether it was done, before you send it again") -> None:
        super().__init__([Fault("connection-lost", what, mend)])


class Refused(InputError):  # noqa: N818 - it says what has happened
    """The service refused a request; nothing was done.

    code   : of the first fault
    status : of HTTP
    """

    def __init__(self, faults: Sequence[Fault], status: int) -> None:
        super().__init__(faults)
        self.status = status
        self.code = self.faults[0].code
        if all(fault.code.startswith("unknown-") and fault.code not in _NO_NAMES for fault in self.faults):
            self.exit_code = 2  # as other commands say of arguments that name what is not there


def strange(error: Exception) -> ServiceError:
    """The error for a good answer in which something is missing."""
    what = f"this is not an answer of a fairhold service: {type(error).__name__} at {error}"
    return ServiceError([Fault("not-a-service", what, _LOOK)])


def closed() -> UsageError:
    """The error for a request over a closed client."""
    return UsageError("this client is closed; connect again")


def error_of(response: Response) -> Refused | ServiceError:
    """The error for an answer."""
    faults = [replace(each, mend=_SET_IT) if each.code == "no-token" else each for each in _faults(response)]
    is_refused = faults[0].code == _NOT_ALLOWED or response.status not in _SERVICE_AT_FAULT
    if not (400 <= response.status < 500 and is_refused):
        return ServiceError(faults, response.status)
    return Refused(faults, response.status)


def _faults(response: Response) -> list[Fault]:
    """The faults of a problem document (RFC 9457), at least one."""
    try:
        document = json.loads(response.body)
    except ValueError:
        document = None
    if isinstance(document, dict):
        rows = document.get("faults")
        faults = [_fault(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        if faults:
            return faults
        code, detail = document.get("code"), document.get("detail") or document.get("title")
        if code or detail:
            return [Fault(str(code or "service"), str(detail or code))]
    said = response.body.decode(errors="replace").strip()[:_LONGEST]
    what = f"this is not an answer of a fairhold service: status {response.status}, {said or 'empty'}"
    return [Fault("not-a-service", what, _LOOK)]


def _fault(row: dict[str, Any]) -> Fault:
    line, place = row.get("line"), row.get("place")
    return Fault(
        str(row.get("code") or "service"),
        str(row.get("what") or "the service does not say why"),
        str(row.get("mend") or ""),
        (str(place),) if place else (),
        str(row.get("file") or ""),
        line if isinstance(line, int) else 0,
    )
