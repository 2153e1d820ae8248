"""Answers about people, as the OpenAPI document promises them."""

from typing import Any

from pydantic import Field

from fairhold.service.models.answers import Answer, Fault, Instant


class Held(Answer):
    """A role that somebody holds; not `live`: the plan in force has no such consumer."""

    role: str
    at: str
    live: bool


class Me(Answer):
    """Who asks, as the service knows him."""

    user: str
    via: str = Field(
        description="`token file`, `token 7`, `uid 1000`, or the sign-in provider: `sso.example.com, subject 4f1c`."
    )
    expires: Instant | None = Field(description="When that ends.")
    administrator: bool = Field(description="The one that every service has.")
    groups: list[str]
    roles: list[Held]
    permissions: dict[str, list[str]] = Field(description="Permission → consumers for which it is held.")
    others: str = Field(description="What is seen of other consumers: `hidden`, `sums` or `all`.")
    limits: dict[str, int] = Field(description="`requests`, `submits`, `waiting_in_leaf`; 0 = any number.")


class Token(Answer):
    """What is kept of a token."""

    token: int
    user: str
    name: str
    state: str = Field(description="`good`, `expired` or `revoked`.")
    created: Instant
    expires: Instant | None
    used: Instant | None = Field(description="Its last use; up to a minute late.")
    revoked: Instant | None
    creator: str


class NewToken(Token):
    """A token that was just made."""

    text: str = Field(description="The token itself, told this once.")


class Tokens(Answer):
    """Tokens by number."""

    tokens: list[Token]


class AccessHead(Answer):
    """A version of the access document without its text."""

    version: int
    at: Instant
    author: str
    comment: str


class Access(AccessHead):
    """A version of the access document. Of the one in force, `warnings` says what it gives nobody."""

    text: str
    warnings: list[Fault]


class AccessVersions(Answer):
    """Versions of the access document, the latest first."""

    versions: list[AccessHead]


class AccessChange(Answer):
    """Something that another access document says otherwise; null = it does not say it."""

    place: str
    old: Any
    new: Any


class AccessApplied(Answer):
    """What became of an access document, or of a dry run."""

    version: int
    warnings: list[Fault]
    changes: list[AccessChange]


class Record(Answer):
    """What somebody did, or was refused."""

    seq: int
    at: Instant
    user: str = Field(description="Empty: it is not known who.")
    via: str
    origin: str = Field(description="Address, or `unix socket, uid 1000`.")
    action: str = Field(description="Name of the operation, as this document has it; empty: of a refusal at the door.")
    target: str
    outcome: str = Field(description="`done`, or the code of the fault.")
    detail: dict[str, Any]
    before: str = Field(description="Hash of the record before.")
    hash: str


class Records(Answer):
    """Records in order; `next`: number after which the next page begins."""

    records: list[Record]
    next: int


class AuditCheck(Answer):
    """Whether the chain of the records is whole.

    first, last : numbers of the records that are kept; hash: of the last good one
    """

    good: bool
    records: int
    first: int
    last: int
    hash: str
    broken: str | None = Field(description="Where and how the chain breaks.")


class HostCode(Answer):
    """With what a host can enrol."""

    host: str
    code: str


class HostRevoked(Answer):
    """Since when the certificates of a host count no more."""

    host: str
    revoked: str


class Offers(Answer):
    """Which ways there are to be told."""

    mail: bool
    webhooks: list[str] = Field(description="Where a webhook may lead.")


class Notifications(Answer):
    """How somebody is reached, and what he is told of all his jobs."""

    user: str
    events: list[str] = Field(description="`start`, `reclaim`, `withdrawn`, `end`.")
    mail: str | None = Field(description="Where mail reaches him; null: nowhere, or he wants none.")
    wants_mail: bool
    webhook: str | None
    channels: list[str] = Field(description="`mail`, `webhook`: the ways that reach him.")
    offers: Offers


class NewNotifications(Notifications):
    """The same after a change."""

    secret: str | None = Field(description="With which messages to the webhook are signed; told when it is made.")


class Watch(Answer):
    """Of what of a job somebody is told."""

    job: str
    events: list[str]
