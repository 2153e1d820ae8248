"""Keeps an eye on who comes: how often, with which token, and who is turned away. In the loop's thread."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from fairhold.runtime.live.auditing import Deed
from fairhold.service.auth import Peer
from fairhold.service.rates import Rates
from fairhold.service.refusals import PERIOD, Refusals

if TYPE_CHECKING:
    from starlette.types import Scope

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk
    from fairhold.service.auth import Caller, Guard
    from fairhold.service.refusals import Refusal

WRITE_USES = 60.0
"""Seconds after which it is written when tokens were used last."""
_REFUSED = frozenset({401, 403})


class Doorkeeper:
    """What the gate notes of callers, and writes down now and then."""

    def __init__(self, desk: Desk, guard: Guard) -> None:
        self._desk, self._guard = desk, guard
        self._rates, self._refusals = Rates(), Refusals()
        self._timer: asyncio.TimerHandle | None = None
        self._uses_written = time.monotonic()

    def lets_in(self, caller: Caller) -> bool:
        """Whether somebody has not asked too often; the built-in administrator never has."""
        now = time.monotonic()
        if caller.token and now - self._uses_written >= WRITE_USES:
            self._write_uses(now)
        return caller.is_built_in or self._rates.take(caller.user, caller.rights.limits.requests, now)

    def lets_submit(self, caller: Caller) -> bool:
        """The same for jobs."""
        rate = 0 if caller.is_built_in else caller.rights.limits.submits
        return self._rates.take(f"{caller.user}/submit", rate, time.monotonic())  # no name of a user has a `/`

    def answered(self, scope: Scope, status: int) -> None:
        """A request was answered: put it on the record where it was refused."""
        state = scope["state"]
        if status not in _REFUSED:
            return
        caller: Caller | None = state.get("caller")
        user, via = (caller.user, caller.via) if caller else (state.get("claimed", ""), "")
        route = scope.get("route")
        action = route.name if caller and route is not None else ""
        deed = Deed(user, via, origin_of(scope), action)
        self.refused(deed, state.get("refused") or ("not-allowed" if status == 403 else "no-token"))

    def signed_in(self, deed: Deed) -> None:
        """Somebody signed in: put it on the record; nobody waits for it."""
        self._desk.write(lambda core: core.audit.note(deed, core.now()))

    def refused(self, deed: Deed, outcome: str) -> None:
        """Somebody was refused: put it on the record, many of a kind as one."""
        self._write(self._refusals.add(deed, outcome, time.monotonic()))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PERIOD, self._write_sums)

    def close(self) -> None:
        """Write what is counted, as far as the desk still takes it."""
        if self._timer is not None:
            self._timer.cancel()
        self._write(self._refusals.take())
        self._write_uses(time.monotonic())

    def _write_sums(self) -> None:
        self._timer = None
        self._write(self._refusals.take())

    def _write(self, refusals: list[Refusal]) -> None:
        """Put refusals on the record; nobody waits for it."""
        if not refusals:
            return

        def write(core: Core) -> None:
            for each in refusals:
                deed = each.deed._replace(detail={"count": each.number} if each.number > 1 else {})
                core.audit.note(deed, core.now(), each.outcome)

        self._desk.write(write)

    def _write_uses(self, now: float) -> None:
        self._uses_written = now
        used, self._guard.used = self._guard.used, {}
        if used:
            self._desk.write(lambda core: core.people.used(used))


def origin_of(scope: Scope) -> str:
    """Where a request comes from: an address, or the Unix socket."""
    peer: Peer = scope["state"].get("peer", Peer(None))
    if peer.uid is not None:
        return f"unix socket, uid {peer.uid}"
    client = scope.get("client")
    return str(client[0]) if client else ""
