"""All records of what was done, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ports.people import RecordFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.access.chain import Record
    from fairhold.ports.people import PeopleStore

PAGE = 1_000


def all_records(store: PeopleStore, after: int = 0) -> Iterator[Record]:
    """Records with numbers above `after`, in order."""
    while page := store.records(after, RecordFilter(), PAGE):
        yield from page
        after = page[-1].seq
