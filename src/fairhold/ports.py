"""What the machine without I/O needs from outside, as small protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.orchestrator.events import TaskEnded
    from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw


class Clock(Protocol):
    """The time."""

    def now(self) -> int:
        """Microseconds since the epoch; never goes back."""
        ...


class Engine(Protocol):
    """What runs the work."""

    def execute(self, instructions: Iterable[Start | Notify | Withdraw | Stop]) -> None:
        """Carry out instructions in order; what cannot be started is reported by `events` as failed."""
        ...

    def events(self, timeout: float) -> Sequence[TaskEnded]:
        """Attempts that ended since the last call; waits up to `timeout` seconds for the first."""
        ...

    def close(self) -> None:
        """Stop everything that was started and leave nothing behind; may be called twice."""
        ...
