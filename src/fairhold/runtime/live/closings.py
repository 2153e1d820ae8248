"""What happens at set times: machines close and open, and a plan that was applied for a time goes."""

from __future__ import annotations

from typing import NamedTuple

MOST_RETURNS = 16
"""Plans for a time on top of one another."""
LATER = 60_000_000
"""Microseconds until it is tried again to bring a plan back whose leaves the jobs cannot go back to."""


class Closing(NamedTuple):
    """A machine is to close at an instant (0 = it has), and to open at another (0 = when somebody opens it).

    drain, by : as in `orchestrator.events.MachineClosed`
    """

    close_at: int
    open_at: int
    reason: str
    drain: bool
    by: int = 0


class Return(NamedTuple):
    """A plan comes back.

    at      : instant
    version : of the plan
    moved   : path in the plan that goes → path in the one that comes back
    """

    at: int
    version: int
    moved: dict[str, str]
