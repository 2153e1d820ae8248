"""Who is told of the changes of a cluster before they are applied: snapshots in progress and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.tasks import JobRecord


class Watch(Protocol):
    """One that is told."""

    def before(self, change: Change) -> None:
        """A change is about to be applied."""
        ...

    def copy(self, jobs: Iterable[JobRecord]) -> None:
        """Jobs are about to change."""
        ...

    def rename(self, jobs: Iterable[JobRecord]) -> None:
        """Consumers of jobs are about to have other paths."""
        ...


class Watches:
    """Weak references, in the order in which they came: who is kept by nobody else is told nothing any more."""

    def __init__(self) -> None:
        self._of: list[ref[Watch]] = []  # rather than a WeakSet: every change looks here

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Watch]:
        return iter([watch for each in self._of if (watch := each()) is not None])

    def add(self, watch: Watch) -> None:
        """Tell it of every change."""
        self._of.append(ref(watch, self._of.remove))

    def discard(self, watch: Watch) -> None:
        """Tell it nothing any more."""
        if (known := ref(watch)) in self._of:
            self._of.remove(known)
