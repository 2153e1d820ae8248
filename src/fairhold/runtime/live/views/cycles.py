"""The cycles that ran."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.ports import CycleNote, Store

Document = dict[str, Any]
MOST_ROWS = 1_000


def cycles_page(store: Store, resource_group: str = "", before: int = 0, limit: int = 100) -> Document:
    """Cycles with numbers below `before` (0 = all), the latest first; callable in any thread."""
    notes = store.cycles(resource_group, before, min(max(limit, 1), MOST_ROWS))
    return {"cycles": [_row(note) for note in notes]}


def cycle_document(store: Store, number: int) -> Document | None:
    """A cycle with its quotas and moves, where they are kept; None where there is none (any more)."""
    found = store.cycle(number)
    if found is None:
        return None
    note, document = found
    return _row(note) | {"document": json.loads(document) if document else None}


def _row(note: CycleNote) -> Document:
    counts: Document = json.loads(note.counts)
    return {
        "number": note.number,
        "at": format_instant(note.at),
        "resource_group": note.resource_group,
        "cause": note.cause,
        "seconds": note.duration / SECOND,
    } | counts
