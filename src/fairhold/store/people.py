"""What is read of people: access documents, tokens, and the records of what was done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from fairhold.access.chain import START, Record
from fairhold.ports.people import AccessVersion, RecordFilter, TokenRecord
from fairhold.store.tables import table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fairhold.store.connections import Connection

CHAIN = "records_removed"
"""Word of a store: number and hash of the last record that was cleared out."""


class PeopleTables(ABC):
    """`ports.people.PeopleStore`; see there."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees what was durable at one instant."""

    def access(self, version: int = 0) -> AccessVersion | None:
        """A version of the access document, 0 = the latest."""
        found = self.accesses(version + 1 if version else 0, 1)
        return found[0] if found and version in {0, found[0].version} else None

    def accesses(self, before: int = 0, limit: int = 100) -> list[AccessVersion]:
        """Versions of the access document, the latest first."""
        accesses = table("accesses")
        query = accesses.select("WHERE version < ? ORDER BY version DESC LIMIT ?")
        with self._reading() as connection:
            rows = connection.execute(query, (before or 2**62, limit))
            return [AccessVersion(*row) for row in accesses.read(rows)]

    def tokens(self) -> list[TokenRecord]:
        """All tokens by number."""
        tokens = table("tokens")
        with self._reading() as connection:
            return [TokenRecord(*row) for row in tokens.read(connection.execute(tokens.select("ORDER BY number")))]

    def records(self, after: int, wanted: RecordFilter, limit: int = 100) -> list[Record]:
        """Records with numbers above `after`, in order."""
        where, values = _where(wanted)
        query = table("records").select(f"WHERE seq > ?{where} ORDER BY seq LIMIT ?")
        with self._reading() as connection:
            return [Record(*row) for row in connection.execute(query, (after, *values, limit))]

    def last_records(self, wanted: RecordFilter, limit: int = 100) -> list[Record]:
        """The last records, in order."""
        where, values = _where(wanted)
        query = table("records").select(f"WHERE seq > 0{where} ORDER BY seq DESC LIMIT ?")
        with self._reading() as connection:
            return [Record(*row) for row in connection.execute(query, (*values, limit))][::-1]

    def notifications(self, kind: str) -> dict[str, str]:
        """Name → text of all notifications of a kind, by name."""
        notifications = table("notifications")
        with self._reading() as connection:
            rows = connection.execute(notifications.select("WHERE kind = ? ORDER BY name"), (kind,))
            return {name: body for _, name, body in notifications.read(rows)}

    def chain_begin(self) -> tuple[int, str]:
        """Number and hash of the record before the first that is still kept."""
        with self._reading() as connection:
            return chain_begin(connection)


def chain_begin(connection: Connection) -> tuple[int, str]:
    """Number and hash of the record before the first that is still kept."""
    found = connection.execute("SELECT value FROM meta WHERE name = ?", (CHAIN,)).fetchone()
    seq, _, mark = (found[0] if found else f"0:{START}").partition(":")
    return int(seq), mark


def _where(wanted: RecordFilter) -> tuple[str, list[Any]]:
    """Conditions of a query, each with `AND` before it, and their values."""
    signs = {"since": "at >=", "until": "at <", "before": "seq <"}
    named = {name: value for name, value in wanted._asdict().items() if value}
    conditions = [signs.get(name) or f'"{name}" =' for name in named]
    return "".join(f" AND {condition} ?" for condition in conditions), [*named.values()]
