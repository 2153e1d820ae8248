"""Machines that close and open at set times."""

from __future__ import annotations

from typing import NamedTuple


class Closing(NamedTuple):
    """A machine is to close at an instant (0 = it has), and to open at another (0 = when somebody opens it)."""

    close_at: int
    open_at: int
    reason: str
    drain: bool
