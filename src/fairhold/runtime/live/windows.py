"""What the log says of windows beside the switches: the entries in force when a plan was applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.orchestrator.cluster import Cluster


def windows_of(cluster: Cluster) -> dict[str, list[int]]:
    """Resource group → positions of the entries in force, of the groups that have windows.

    They are written down because the time zones of another day, or another machine, may say something else.
    """
    return {
        group: list(books.rows.force)
        for group, books in cluster.books.items()
        if books.rows.source.calendar is not None and books.vectors is None
    }
