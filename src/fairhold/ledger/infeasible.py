"""Why a gang can never start."""

from __future__ import annotations

from typing import NamedTuple


class Never(NamedTuple):
    """Why a gang can never start on the hosts that are up, were they empty (R-GANG-2).

    because : what is too small for it: `hosts` that match (`down`: enough if those that are down were up),
              `user limit`, `share limit`, or `reach`, what it may use at one level
    units   : units that it misses of its minimum; room: how many of them have room there
    """

    because: str
    units: int
    room: int
