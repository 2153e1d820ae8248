"""How a service leads its store, as the answers tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ports.leading import LeaderNote


class Leading(NamedTuple):
    """That this service leads.

    note      : what was seen last of who leads; any thread may ask
    other     : the same where it is another, None = it is not
    hand_over : decides nothing more and lets another lead at once; waits for the desk
    """

    note: Callable[[], LeaderNote]
    other: Callable[[], LeaderNote | None]
    hand_over: Callable[[], None]
