"""Everything that can be asked of the service, without a connection: see `exchange`. Answers are documents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from fairhold.client.exchange import (
    LONG_PATIENCE,
    PATIENCE,
    Document,
    Pause,
    Response,
    Steps,
    Value,
    ask,
    exchange,
    request,
)
from fairhold.client.terms import check_key, check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OVER = ("done", "failed", "cancelled")
"""States of a job that does nothing more."""
_POLL = 30.0
"""Seconds that the service is asked to wait before it answers that nothing has changed."""
_LOOK = 3.0
"""The same where somebody looks at the job meanwhile."""
_PAGE = 1_000
_CHUNK = 1 << 20
_FILES = 500


class Piece(NamedTuple):
    """Some of the output of an attempt.

    attempt  : its number from 1, 0 = the task was not started
    next     : offset of what comes after it
    is_ended : the attempt is over and this is the end of its output
    """

    data: bytes
    attempt: int
    next: int
    is_ended: bool


def submit(terms: Document, key: str) -> Steps[Document]:
    """A new job, or the one that this key has made before; safe when the connection breaks at any moment."""
    check_key(key)
    return (yield from ask(request("POST", "jobs", body=terms, headers={"Idempotency-Key": key}, is_safe=True)))


def check_job(terms: Document, key: str) -> Steps[Document]:
    """Whether a job would be accepted now; nothing is submitted."""
    check_key(key)
    head = {"Idempotency-Key": key}
    return (yield from ask(request("POST", "jobs", "check", body=terms, headers=head, is_safe=True)))


def job(name: str, *, is_expected: bool = False) -> Steps[Document]:
    """One job; is_expected: also when a task that waits is expected to start."""
    return (yield from ask(request("GET", "jobs", name, query={"expected": 1 if is_expected else None})))


def wait(name: str, timeout: float | None = None, *, look: Callable[[Document], None] | None = None) -> Steps[Document]:
    """A job when it is over, or as it is after `timeout` seconds; a service that restarts meanwhile is waited for.

    look : is given the job every few seconds while it is not over
    """
    longest = _POLL if look is None else _LOOK
    end = None if timeout is None else time.monotonic() + timeout
    is_known = False
    while True:
        left = longest if end is None else max(0.0, min(longest, end - time.monotonic()))
        began = time.monotonic()
        asked = request("GET", "jobs", name, wait=round(left, 3))
        found = yield from ask(asked, patience=LONG_PATIENCE, is_known=is_known)
        is_known = True
        if found["state"] in OVER or (end is not None and time.monotonic() >= end):
            return found
        if look is not None:
            look(found)
        if time.monotonic() - began < left / 2:  # it answers early when it is about to stop
            yield Pause(min(0.2, left))


def jobs(query: Mapping[str, Value], most: int = 0) -> Steps[Document]:
    """Jobs that a query finds, the documents of all pages as one; `next` is there where there are more than `most`.

    most : 0 = all
    """
    return (yield from _pages(("jobs",), "jobs", query, most))


def tasks(name: str, most: int = 0) -> Steps[Document]:
    """Tasks of a job with their attempts; see `jobs`."""
    return (yield from _pages(("jobs", name, "tasks"), "tasks", {}, most))


def _pages(path: tuple[str, ...], key: str, query: Mapping[str, Value], most: int) -> Steps[Document]:
    rows: list[Document] = []
    first: Document = {}
    cursor: Value = None
    while True:
        limit = min(_PAGE, most - len(rows)) if most else _PAGE
        page = yield from ask(request("GET", *path, query={**query, "limit": limit, "cursor": cursor}))
        first = first or page
        rows += page[key]
        cursor = page.get("next")
        if cursor is None or (most and len(rows) >= most):
            return {**first, key: rows, "next": cursor}


def output(
    name: str, task: int, attempt: int | None = None, offset: int = 0, *, wait: float = 0, is_known: bool = False
) -> Steps[Piece]:
    """The next piece of what an attempt wrote; the latest attempt where none is named."""
    asked = request(
        "GET",
        *("jobs", name, "tasks", str(task), "output"),
        query={"attempt": attempt or None, "offset": offset, "limit": _CHUNK},
        wait=wait,
    )
    patience = LONG_PATIENCE if is_known else PATIENCE
    return _piece((yield from exchange(asked, patience=patience, is_known=is_known)), offset)


def _piece(response: Response, offset: int) -> Piece:
    head = response.headers
    after = int(head.get("fairhold-next", offset + len(response.body)))
    return Piece(response.body, int(head.get("fairhold-attempt", 0)), after, head.get("fairhold-ended") == "1")


def whole_output(name: str, task: int, attempt: int | None = None, offset: int = 0) -> Steps[bytes]:
    """All that an attempt has written until now, from an offset on."""
    parts: list[bytes] = []
    while True:
        piece = yield from output(name, task, attempt, offset)
        attempt = attempt or piece.attempt or None
        parts.append(piece.data)
        if not piece.data or piece.is_ended:
            return b"".join(parts)
        offset = piece.next


def files(name: str, task: int, attempt: int | None = None, path: str = "") -> Steps[Document]:
    """What a task has left in its job directory, or in a folder of it; all pages as one."""
    found: Document | None = None
    after: Value = None
    while True:
        query = {"attempt": attempt or None, "path": path or None, "after": after, "limit": _FILES}
        page = yield from ask(request("GET", "jobs", name, "tasks", str(task), "files", query=query))
        found = page if found is None else {**found, "files": found["files"] + page["files"]}
        after = page["next"]
        if after is None:
            return {**found, "next": None}


def file(name: str, path: str, task: int, attempt: int | None = None, offset: int = 0) -> Steps[Piece]:
    """The next piece of a file in the job directory of a task."""
    query = {"path": path, "attempt": attempt or None, "offset": offset, "limit": _CHUNK}
    asked = request("GET", "jobs", name, "tasks", str(task), "file", query=query)
    return _piece((yield from exchange(asked)), offset)


def whole_file(name: str, path: str, task: int, attempt: int | None = None) -> Steps[bytes]:
    """All of it, as it is now."""
    parts: list[bytes] = []
    offset = 0
    while True:
        piece = yield from file(name, path, task, attempt, offset)
        parts.append(piece.data)
        if not piece.data or piece.is_ended:
            return b"".join(parts)
        offset = piece.next


def act(name: str, verb: str, body: Document | None = None) -> Steps[Document]:
    """`cancel`, `hold`, `release` or `requeue` a job."""
    return (yield from ask(request("POST", "jobs", name, verb, body=body or {})))


def change(name: str, changes: Document) -> Steps[Document]:
    """Give a job another `priority`, `consumer` or `labels`."""
    return (yield from ask(request("PATCH", "jobs", name, body=changes, is_safe=True)))


def explanation(name: str) -> Steps[Document]:
    """Why a job waits, or what was reclaimed from it."""
    return (yield from ask(request("GET", "jobs", name, "explanation")))


def forecast(name: str, draws: int | None = None, seed: int | None = None, ahead: int | None = None) -> Steps[Document]:
    """When a waiting job will start; ahead: seconds."""
    query = {"draws": draws, "seed": seed, "ahead": ahead}
    return (yield from ask(request("GET", "jobs", name, "forecast", query=query)))


def consumers() -> Steps[Document]:
    """All resource groups with their consumers as they are now."""
    return (yield from ask(request("GET", "consumers")))


def plan(version: int | None = None) -> Steps[Document]:
    """The plan in force, or a version of it."""
    path = ("plan",) if version is None else ("plan", "versions", str(version))
    return (yield from ask(request("GET", *path)))


def plan_versions() -> Steps[Document]:
    """All versions of the plan, without their texts."""
    rows: list[Document] = []
    while True:
        query = {"before": rows[-1]["version"] if rows else None, "limit": _PAGE}
        page = (yield from ask(request("GET", "plan", "versions", query=query)))["versions"]
        rows += page
        if len(page) < _PAGE:
            return {"versions": rows}


def check_plan(text: str) -> Steps[Document]:
    """Faults, warnings and balances of a plan."""
    check_text(text)
    return (yield from ask(request("POST", "plan", "check", body={"text": text}, is_safe=True)))


def diff_plan(
    text: str,
    was: Mapping[str, str] | None = None,
    ahead: str | int | None = None,
    checkpoint: str | int | None = None,
) -> Steps[Document]:
    """What a plan would change now, at the coming windows and over time.

    was   : new path → old path of consumers that it calls otherwise
    ahead : how far to look, as text or whole seconds; None = as the service does it
    checkpoint : time between two states that tasks save, likewise; None = a stop loses all that a task has done
    """
    check_text(text)
    body: Document = {"text": text} | ({"was": dict(was)} if was else {})
    body |= {} if ahead is None else {"next": ahead}
    body |= {} if checkpoint is None else {"checkpoint": checkpoint}
    return (yield from ask(request("POST", "plan", "diff", body=body, is_safe=True)))


def apply_plan(
    body: Document, seen: int | None = None, *, is_dry: bool = False, over_time: bool = False
) -> Steps[Document]:
    """Put a plan in force.

    body : `text`, and `comment`, `was`, `for`, `next`, `checkpoint`
    seen : version that the change was made from; None = the one in force now
    over_time : whether the answer says what becomes of the work over time; that of a dry run always does
    """
    if seen is None:
        seen = (yield from plan())["version"]
    head = {"If-Match": f'"{seen}"'}
    query = {"dry_run": 1 if is_dry else None, "over_time": 1 if over_time and not is_dry else None}
    return (yield from ask(request("PUT", "plan", query=query, body=body, headers=head, is_safe=is_dry)))


def revert_plan(
    to: int | None = None,
    comment: str = "",
    was: Mapping[str, str] | None = None,
    seen: int | None = None,
    *,
    is_dry: bool = False,
) -> Steps[Document]:
    """Put an earlier plan in force again: the one before, or a version; is_dry: only say what would happen.

    was  : new path → old path of consumers that the earlier plan calls otherwise than the one in force
    seen : as in `apply_plan`
    """
    if seen is None:
        seen = (yield from plan())["version"]
    given: Document = {"to": to, "comment": comment or None, "was": dict(was) if was else None}
    body = {name: value for name, value in given.items() if value is not None}
    head, query = {"If-Match": f'"{seen}"'}, {"dry_run": 1 if is_dry else None}
    return (yield from ask(request("POST", "plan", "revert", query=query, body=body, headers=head, is_safe=is_dry)))


def hosts() -> Steps[Document]:
    """All hosts."""
    return (yield from ask(request("GET", "hosts")))


def pods(namespace: str = "", state: str = "", limit: int | None = None) -> Steps[Document]:
    """Pods of a governed cluster."""
    query = {"namespace": namespace or None, "state": state or None, "limit": limit}
    return (yield from ask(request("GET", "pods", query=query)))


def pod(namespace: str, name: str) -> Steps[Document]:
    """One pod of a governed cluster."""
    return (yield from ask(request("GET", "pods", namespace, name)))


def observed(limit: int | None = None) -> Steps[Document]:
    """What would be done to the pods of a cluster now."""
    return (yield from ask(request("GET", "pods", "observed", query={"limit": limit})))


def close_host(host: str, body: Document) -> Steps[Document]:
    """Close a host: it starts nothing more; `reason`, and `drain`, `at`, `by`, `until`."""
    return (yield from ask(request("POST", "hosts", host, "close", body=body)))


def open_host(host: str) -> Steps[Document]:
    """Open a closed host."""
    return (yield from ask(request("POST", "hosts", host, "open", body={}, is_safe=True)))


def enrol_host(host: str) -> Steps[Document]:
    """A code with which a host can enrol once."""
    return (yield from ask(request("POST", "hosts", host, "enrol", body={})))


def revoke_host(host: str) -> Steps[Document]:
    """Let the certificates of a host count no more."""
    return (yield from ask(request("POST", "hosts", host, "revoke", body={}, is_safe=True)))


def pause_group(group: str, verb: str, body: Document) -> Steps[Document]:
    """`pause` or `resume` the `grants` and `reclaims` of a resource group."""
    return (yield from ask(request("POST", "groups", group, verb, body=body, is_safe=True)))


def listing(path: str, query: Mapping[str, Value]) -> Steps[Document]:
    """`allocations`, `cycles`, `events` or `usage`, as a query finds them."""
    return (yield from ask(request("GET", path, query=query)))


def snapshot(until: str | None = None) -> Steps[Document]:
    """The state at an entry of the log, as the service keeps it; until: taken then or earlier."""
    return (yield from ask(request("GET", "events", "snapshot", query={"until": until})))


def cycle(number: int) -> Steps[Document]:
    """One cycle with what it decided."""
    return (yield from ask(request("GET", "cycles", str(number))))


def health(patience: float = PATIENCE) -> Steps[Document]:
    """How the service is; with no patience a connection that breaks is not tried again."""
    return ask(request("GET", "health"), patience=patience)


def status() -> Steps[Document]:
    """The service in a few numbers."""
    return (yield from ask(request("GET", "status")))


def state() -> Steps[Document]:
    """The live state as a state file has it."""
    return (yield from ask(request("GET", "state")))


def metrics() -> Steps[str]:
    """Numbers for Prometheus."""
    return (yield from exchange(request("GET", "metrics"))).body.decode()


def stop(how: str) -> Steps[Document]:
    """Let the service end: `leave`, `drain` or `kill`; or hand over: `failover`."""
    return (yield from ask(request("POST", "stop", body={"how": how})))


def another_leader(term: int) -> Steps[Document]:
    """The health of the service that leads by a later term."""
    while (found := (yield from ask(request("GET", "health"), patience=LONG_PATIENCE, is_known=True)))["term"] <= term:
        yield Pause(0.1)
    return found
