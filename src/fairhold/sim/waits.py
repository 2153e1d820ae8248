"""How long the tasks of one consumer wait, including those that never start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator import changes as said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.pooling import VectorCycle


class Waits:
    """A watch.

    path : of the consumer, all below it included; begin: instant from which on submitted jobs count
    """

    def __init__(self, path: str, begin: int) -> None:
        self._path, self._below, self._begin = path, "/" if path == "/" else f"{path}/", begin
        self._submitted: dict[str, tuple[int, int]] = {}  # job → when, tasks that have not started
        self._waits: list[int] = []

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in."""
        for change in changes:
            if isinstance(change, said.Started):
                known = self._submitted.get(change.job)
                if known is not None and change.number == 1:
                    since, left = known
                    self._waits.append(now - since)
                    self._submitted[change.job] = since, left - 1
            elif isinstance(change, said.JobAdded):
                is_mine = change.consumer == self._path or change.consumer.startswith(self._below)
                if is_mine and now >= self._begin:
                    self._submitted[change.job] = now, change.tasks
            elif isinstance(change, said.JobEnded):
                self._submitted.pop(change.job, None)

    def all(self, end: int) -> list[int]:
        """Microseconds of every task; those that have not started have waited until the end at least."""
        rest = [end - since for since, left in self._submitted.values() for _ in range(left)]
        return [*self._waits, *rest]

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing: only waits are asked for."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing, likewise."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""
