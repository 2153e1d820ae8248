"""Sessions of the provider's people: their tokens are short, and others are got while the session lasts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.service.auth import Refused
from fairhold.service.sign_in.asking import ProviderError
from fairhold.service.sign_in.door import signed_by

if TYPE_CHECKING:
    from fairhold.runtime.live.people import People
    from fairhold.service.auth import Guard
    from fairhold.service.sessions import Sessions, Signed
    from fairhold.service.sign_in.granting import Granting

_PAUSE = 10.0
"""Seconds after which a provider that was away is asked again."""


class Renewing:
    """Gets another token for a session, once for all its requests."""

    def __init__(self, people: People, guard: Guard, granting: Granting, sessions: Sessions) -> None:
        self._people, self._guard, self._granting, self._sessions = people, guard, granting, sessions
        self._at_hand: dict[str, asyncio.Task[None]] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    async def credential(self, secret: str) -> str | None:
        """What a session asks with now; None: there is no such session, or none any more."""
        signed = self._sessions.signed(secret)
        if signed is not None and signed.refresh and self._sessions.clock() >= signed.due:
            task = self._at_hand.get(secret)
            if task is None:
                task = self._at_hand[secret] = asyncio.create_task(self._renew(secret, signed))
                task.add_done_callback(lambda _: self._at_hand.pop(secret, None))
            await asyncio.shield(task)  # whoever hangs up leaves the others their answer
            signed = self._sessions.signed(secret)
        return signed.credential if signed is not None else None

    async def _renew(self, secret: str, signed: Signed) -> None:
        now = self._sessions.clock()
        provider = self._people.access.provider
        if provider is None:  # the gate says what the token is worth
            return
        try:
            tokens = await self._granting.by_refresh(provider, signed.refresh)
        except ProviderError:
            self._sessions.change(secret, signed._replace(due=now + _PAUSE))
            return
        except InputError:
            self._sessions.end(secret)
            return
        found = await self._guard.by_provider(tokens.token)
        if isinstance(found, Refused):  # the gate will say so, whatever it is
            self._sessions.change(secret, signed._replace(credential=f"Bearer {tokens.token}", refresh=""))
            return
        self._sessions.change(secret, signed_by(tokens, self._guard.seconds_left(found), now))

    def forget(self, signed: Signed | None) -> None:
        """Let the provider forget the sign-in of a session that ended; nobody waits for it."""
        provider = self._people.access.provider
        if signed is None or not signed.refresh or provider is None:
            return

        async def revoke() -> None:
            try:
                await self._granting.revoke(provider, signed.refresh)
            except ProviderError:
                return

        task = asyncio.create_task(revoke())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
