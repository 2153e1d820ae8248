"""How a service ends: it leaves its tasks alone, waits for them, or stops them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fairhold.ports import StoreFull
from fairhold.runtime.live.desk import Freeing

if TYPE_CHECKING:
    from fairhold.runtime.live.desk import Desk

LEAVE, DRAIN, KILL = "leave", "drain", "kill"
_LOOK = 0.1


class Stopping:
    """Waits for the order to stop and prepares the end.

    how : leave, drain or kill as it was asked for last; None = the service goes on
    """

    def __init__(self, desk: Desk) -> None:
        self.how: str | None = None
        self._desk = desk
        self._asked = asyncio.Event()

    async def ask(self, how: str) -> None:
        """Stop in this way; returns when it is begun. Raises what the desk raises."""
        if how != LEAVE:
            try:
                await asyncio.wrap_future(self._desk.write(Freeing(lambda core: core.wind_down(stop=how == KILL))))
            except StoreFull as error:  # what is not written down waits again at the next start, as it does here
                if not error.is_kept:
                    raise
        self.leave_now(how)

    def leave_now(self, how: str = LEAVE) -> None:
        """Stop in this way without preparation; called in the loop."""
        self.how = how
        self._asked.set()

    async def wait(self) -> str:
        """Wait until the service may end; how it does. It may be told to leave while it waits for tasks."""
        await self._asked.wait()
        while self.how != LEAVE:
            left = await asyncio.wrap_future(self._desk.read(lambda core: len(core.cluster.attempts)))
            if not left:
                break
            await asyncio.sleep(_LOOK)
        return self.how or LEAVE
