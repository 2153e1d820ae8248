"""How a service stops: it leaves its tasks running, waits for them, or stops them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING

from fairhold.errors import count
from fairhold.ports import StoreWaits
from fairhold.runtime.live.desk import Freeing

if TYPE_CHECKING:
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk

LEAVE, DRAIN, KILL, FAILOVER = "leave", "drain", "kill", "failover"
PATIENCE = 20.0
_LOOK = 0.1
_LOG = logging.getLogger("fairhold.service")


class Stopping:
    """Waits for the order to stop and prepares the end.

    patience : seconds for what is stopped to end
    how : leave, drain, kill or failover as it was asked for last; None = the service goes on
    """

    def __init__(self, desk: Desk, patience: float = PATIENCE) -> None:
        self.how: str | None = None
        self._desk, self._patience = desk, patience
        self._asked = asyncio.Event()

    async def ask(self, how: str) -> None:
        """Stop in this way; returns when it is begun. Raises what the desk raises."""
        if how in {DRAIN, KILL}:
            try:
                await asyncio.wrap_future(self._desk.write(Freeing(lambda core: core.wind_down(stop=how == KILL))))
            except StoreWaits as error:  # what is not written down waits again at the next start, as it does here
                if not error.is_kept:
                    raise
        self.leave_now(how)

    def leave_now(self, how: str = LEAVE) -> None:
        """Stop in this way without preparation; called in the loop."""
        self.how = how
        self._asked.set()

    async def wait(self) -> str:
        """Wait until the service may end; how it does. It may be told to leave while it waits for tasks.

        What is stopped is waited for so long as it can take, also where no host says that it has ended: a host that is
        silent, or has no room to write that down, tells it the next service.
        """
        await self._asked.wait()
        began = time.monotonic()
        while self.how in {DRAIN, KILL}:
            left = await asyncio.wrap_future(self._desk.read(_running))
            if not left:
                break
            if self.how == KILL and time.monotonic() > began + self._patience:
                told = count(sum(left.values()), "task")
                places = ", ".join(host or "this machine" for host in sorted(left))
                _LOG.warning("stopped %s, which may still run on %s: the next start checks", told, places)
                break
            await asyncio.sleep(_LOOK)
        if self._desk.trouble is not None and self.how in {DRAIN, KILL}:
            _LOG.warning("%s; unwritten data is lost: %s", self._desk.trouble.what, self._desk.unwritten)
        return self.how or LEAVE


def _running(core: Core) -> Counter[str]:
    """Attempts that may run, by the machine of each; not those whose start was never sent."""
    unsent = core.outbox.unsent()
    return Counter(each.machine for name, each in core.cluster.attempts.items() if name not in unsent)
