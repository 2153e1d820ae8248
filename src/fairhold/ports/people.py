"""What a store keeps of people: access documents, tokens, and the record of what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.access.chain import Record

IDENTITY = "identity"
"""Word of a store: the mark of its cluster, which its tokens bear."""


class AccessVersion(NamedTuple):
    """An access document as it was applied; versions count from 1."""

    version: int
    at: int
    author: str
    comment: str
    text: str


class TokenRecord(NamedTuple):
    """What is kept of a token: never its secret.

    number  : of the token
    digest  : hash of the whole token
    expires : instant, 0 = never
    revoked : instant, 0 = it is not
    used    : instant of its last use, late by a minute at most, 0 = never
    creator : who made it
    """

    number: int
    user: str
    name: str
    digest: str
    created: int
    expires: int
    creator: str
    revoked: int = 0
    used: int = 0


class RecordFilter(NamedTuple):
    """Which records are wanted; what is empty, or 0, does not matter.

    since, until : instants, at or after, and before
    before       : number below which theirs are
    """

    user: str = ""
    action: str = ""
    target: str = ""
    outcome: str = ""
    since: int = 0
    until: int = 0
    before: int = 0


class PeopleBatch(Protocol):
    """What is to be written of people in one transaction."""

    def put_access(self, access: AccessVersion) -> None:
        """Keep a new version of the access document."""
        ...

    def put_token(self, token: TokenRecord) -> None:
        """Keep a token; replaces what was kept of the same number."""
        ...

    def use_tokens(self, used: Mapping[int, int]) -> None:
        """Keep when tokens were used last: number → instant."""
        ...

    def put_record(self, record: Record) -> None:
        """Keep a record of what was done; its number is one above the last."""
        ...

    def put_notification(self, kind: str, name: str, body: str) -> None:
        """Keep a JSON text about notifications in the place of the one of this kind and name; empty: it goes."""
        ...


class PeopleStore(Protocol):
    """What can be read of people."""

    def access(self, version: int = 0) -> AccessVersion | None:
        """A version of the access document, 0 = the latest."""
        ...

    def accesses(self, before: int = 0, limit: int = 100) -> list[AccessVersion]:
        """Versions below `before` (0 = all), the latest first."""
        ...

    def tokens(self) -> list[TokenRecord]:
        """All tokens by number."""
        ...

    def records(self, after: int, wanted: RecordFilter, limit: int = 100) -> list[Record]:
        """Records with numbers above `after`, in order."""
        ...

    def last_records(self, wanted: RecordFilter, limit: int = 100) -> list[Record]:
        """The last records, in order."""
        ...

    def notifications(self, kind: str) -> dict[str, str]:
        """Name → JSON text of all that is kept of a kind; see `runtime.live.notifications`."""
        ...

    def chain_begin(self) -> tuple[int, str]:
        """Number and hash of the record before the first that is still kept; what `chain.first_break` begins with."""
        ...
