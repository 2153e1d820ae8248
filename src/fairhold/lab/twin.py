"""Whether a record that is played as it was gives the log that was written down then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.orchestrator import changes as said
from fairhold.sim.log import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.pooling import VectorCycle


class Twin:
    """Compares line by line.

    count : lines that were the same
    """

    def __init__(self, decided: Sequence[str], end: int) -> None:
        self._decided, self._end = decided, end
        self.count = 0
        self._other: tuple[str, str] | None = None

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Compare what was decided again."""
        for change in changes:
            if self._other is not None or isinstance(change, said.CycleRan) or now >= self._end:
                continue
            line = line_of(now, change)
            expected = self._decided[self.count] if self.count < len(self._decided) else ""
            if line == expected:
                self.count += 1
            else:
                self._other = expected, line

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing: it follows from what is decided."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing, likewise."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Nothing, likewise."""

    def document(self, *, is_whole: bool) -> dict[str, Any]:
        """What came of it; is_whole: the record was played to its end."""
        other = self._other
        if other is None and is_whole and self.count < len(self._decided):
            other = self._decided[self.count], ""
        found: dict[str, Any] = {"lines": self.count, "is_same": other is None}
        if other is not None:
            found |= {"recorded": other[0].rstrip("\n"), "played": other[1].rstrip("\n")}
        return found
