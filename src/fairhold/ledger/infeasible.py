"""Why a gang can never start."""

from __future__ import annotations

from typing import NamedTuple


class Never(NamedTuple):
    """Why a gang can never start on the hosts that are up, were they empty (R-GANG-2).

    because : what is too little for it: `hosts` that will do (`down`: with those that are down there would be enough),
              `user limit`, `share limit`, or `reach`, what it may use at one level
    units   : that it misses of its minimum; room: for how many of them there is room there
    """

    because: str
    units: int
    room: int
