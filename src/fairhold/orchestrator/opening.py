"""Opens the books of a live cluster: one for every resource group of slots, and one for all vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.open import open_books
from fairhold.ledger.vectors import POOLED, open_vectors
from fairhold.model.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan


def open_cluster_books(plan: Plan, now: int, force: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, Books]:
    """Empty books of everything that policies share; force as in `open_books`."""
    books = open_books(plan, State(now=now), force)
    vectors = open_vectors(plan)
    return books if vectors is None else books | {POOLED: vectors}
