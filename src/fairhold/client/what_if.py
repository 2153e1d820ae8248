"""What both clients ask of other numbers, other plans and the time to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.client import looking
from fairhold.client.connections import AsyncConnections, Connections
from fairhold.client.typed import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.client.exchange import Document
    from fairhold.client.typed import Moment

    Span = str | int | None
    When = Moment | None


class WhatIfCalls(Connections):
    """Methods of the client."""

    def explorable(self) -> Document:
        """What can be changed to see what would be: entries of the plan, consumers, and their numbers now."""
        return self._run(looking.explorable())

    def explore(self, changes: Sequence[str], consumer: str = "") -> Document:
        """What other numbers would do now, as `/Trading:owned=8`; nothing is changed.

        consumer : path whose explanations are wanted
        """
        return self._run(looking.explore(list(changes), consumer))

    def draft_plan(self, changes: Sequence[str]) -> Document:
        """The text of the plan in force with changes as of `explore`, with its comments where that can be."""
        return self._run(looking.draft_plan(list(changes)))

    def simulate(self, text: str | None = None, *, since: When = None, until: When = None) -> Document:
        """What happened, and what would have happened under another plan; takes up to a minute.

        text : of the plan, None = the one in force
        since, until : a `datetime` with a time zone, or text; None = as far back as the log reaches, now
        """
        return self._run(looking.simulate(text, moment(since), moment(until)))

    def windows(self, ahead: Span = None, *, reclaims: bool = False) -> Document:
        """The coming switches of the plan; reclaims: also what each takes back."""
        return self._run(looking.windows(ahead, reclaims=reclaims))


class AsyncWhatIfCalls(AsyncConnections):
    """The same of the asynchronous client."""

    async def explorable(self) -> Document:
        """What can be changed to see what would be: entries of the plan, consumers, and their numbers now."""
        return await self._run(looking.explorable())

    async def explore(self, changes: Sequence[str], consumer: str = "") -> Document:
        """What other numbers would do now, as `/Trading:owned=8`; nothing is changed.

        consumer : path whose explanations are wanted
        """
        return await self._run(looking.explore(list(changes), consumer))

    async def draft_plan(self, changes: Sequence[str]) -> Document:
        """The text of the plan in force with changes as of `explore`, with its comments where that can be."""
        return await self._run(looking.draft_plan(list(changes)))

    async def simulate(self, text: str | None = None, *, since: When = None, until: When = None) -> Document:
        """What happened, and what would have happened under another plan; takes up to a minute.

        text : of the plan, None = the one in force
        since, until : a `datetime` with a time zone, or text; None = as far back as the log reaches, now
        """
        return await self._run(looking.simulate(text, moment(since), moment(until)))

    async def windows(self, ahead: Span = None, *, reclaims: bool = False) -> Document:
        """The coming switches of the plan; reclaims: also what each takes back."""
        return await self._run(looking.windows(ahead, reclaims=reclaims))
