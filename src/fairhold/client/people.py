"""All that can be asked about people, without a connection: see `exchange`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.client.exchange import Document, Steps, Value, ask, request
from fairhold.client.terms import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PAGE = 1_000


def me() -> Steps[Document]:
    """Who asks, and what he may do."""
    return (yield from ask(request("GET", "me")))


def tokens(user: str | None = None) -> Steps[Document]:
    """Tokens of the caller, or of all whom he may see; of one user where that is named."""
    return (yield from ask(request("GET", "tokens", query={"user": user or None})))


def create_token(user: str | None = None, name: str = "", expires: str | int | None = None) -> Steps[Document]:
    """A new token; its `text` is told this once. expires: text or whole seconds, 0 = never, None = 90 days."""
    given: dict[str, Any] = {"user": user, "name": name or None, "expires": expires}
    body = {key: value for key, value in given.items() if value is not None}
    return (yield from ask(request("POST", "tokens", body=body)))


def revoke_token(token: int) -> Steps[Document]:
    """Let a token count no more."""
    return (yield from ask(request("POST", "tokens", str(token), "revoke", body={}, is_safe=True)))


def notifications(job: str | None = None) -> Steps[Document]:
    """How the caller is reached, and what he is told of all his jobs; or what he is told of one."""
    return (yield from ask(request("GET", *(("me",) if job is None else ("jobs", job)), "notifications")))


def change_notifications(
    mail: bool | None,  # noqa: FBT001 - None = as it is
    webhook: str | None,
    events: Sequence[str] | None,
    *,
    new_secret: bool = False,
) -> Steps[Document]:
    """Change how the caller is reached, and what he is told of all his jobs; None = as it is.

    The secret of a new webhook is told this once, so what may make one is not asked twice.
    """
    given = {"mail": mail, "webhook": webhook, "events": None if events is None else [*events]}
    body = {name: value for name, value in given.items() if value is not None} | {"new_secret": new_secret}
    return (yield from ask(request("PATCH", "me", "notifications", body=body, is_safe=not (new_secret or webhook))))


def notify(job: str, events: Sequence[str]) -> Steps[Document]:
    """Let the caller be told of a job."""
    body = {"events": [*events]}
    return (yield from ask(request("PUT", "jobs", job, "notifications", body=body, is_safe=True)))


def test_notifications() -> Steps[Document]:
    """Send the caller a message, by all ways that reach him."""
    return (yield from ask(request("POST", "me", "notifications", "test", body={})))


def access(version: int | None = None) -> Steps[Document]:
    """The access document in force, or a version of it."""
    path = ("access",) if version is None else ("access", "versions", str(version))
    return (yield from ask(request("GET", *path)))


def access_versions() -> Steps[Document]:
    """All versions of the access document, without their texts."""
    rows: list[Document] = []
    while True:
        query = {"before": rows[-1]["version"] if rows else None, "limit": _PAGE}
        page = (yield from ask(request("GET", "access", "versions", query=query)))["versions"]
        rows += page
        if len(page) < _PAGE:
            return {"versions": rows}


def apply_access(text: str, comment: str = "", seen: int | None = None, *, is_dry: bool = False) -> Steps[Document]:
    """Put an access document in force. seen: version that it was made from; None = the one in force now."""
    check_text(text)
    if seen is None:
        versions = yield from ask(request("GET", "access", "versions", query={"limit": 1}))
        seen = versions["versions"][0]["version"] if versions["versions"] else 0
    head, query = {"If-Match": f'"{seen}"'}, {"dry_run": 1 if is_dry else None}
    body = {"text": text, "comment": comment}
    return (yield from ask(request("PUT", "access", query=query, body=body, headers=head, is_safe=is_dry)))


def audit(query: Mapping[str, Value], wait: float = 0) -> Steps[Document]:
    """Records of what was done, as a query finds them; with `after`, wait: seconds to wait for more."""
    return (yield from ask(request("GET", "audit", query=query, wait=wait)))


def check_audit(seen: str = "") -> Steps[Document]:
    """Whether the chain of the records is whole; seen: `NUMBER:HASH` of an earlier check."""
    return (yield from ask(request("GET", "audit", "check", query={"seen": seen or None})))
