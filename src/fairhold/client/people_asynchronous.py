"""What both clients can ask about people: to be awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.client import people, steps
from fairhold.client.connections import AsyncConnections
from fairhold.client.typed import moment, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.client.exchange import Document, Value
    from fairhold.client.typed import JobOrName, Moment


class AsyncPeopleCalls(AsyncConnections):
    """Methods of the client."""

    async def me(self) -> Document:
        """Who asks, and what he may do."""
        return await self._run(people.me())

    async def tokens(self, user: str | None = None) -> list[Document]:
        """Tokens of the caller, or of all whom he may see; of one user where that is named."""
        found = await self._run(people.tokens(user))
        return list(found["tokens"])

    async def create_token(
        self, user: str | None = None, name: str = "", *, expires: str | int | None = None
    ) -> Document:
        """A new token; its `text` is told this once.

        user    : whose it is, None = the caller's
        expires : how long it is good, as text or whole seconds; 0 = for ever, None = 90 days
        """
        return await self._run(people.create_token(user, name, expires))

    async def revoke_token(self, token: int) -> Document:
        """Let a token count no more."""
        return await self._run(people.revoke_token(token))

    async def enrol_host(self, host: str) -> Document:
        """With which `code` the agent of a host can enrol, once and soon: `fairhold agent enrol`."""
        return await self._run(steps.enrol_host(host))

    async def revoke_host(self, host: str) -> Document:
        """Let the certificates of a host count no more, and end the connection of its agent."""
        return await self._run(steps.revoke_host(host))

    async def notifications(self, job: JobOrName | None = None) -> Document:
        """How the caller is reached, and what he is told of all his jobs; with a job: what he is told of that one."""
        return await self._run(people.notifications(None if job is None else name_of(job)))

    async def change_notifications(
        self,
        *,
        mail: bool | None = None,
        webhook: str | None = None,
        new_secret: bool = False,
        events: Sequence[str] | None = None,
    ) -> Document:
        """Change how the caller is reached, and what he is told of all his jobs; None = as it is.

        webhook : address, empty = none any more; the `secret` of a new one is told this once
        events  : of `start`, `reclaim`, `withdrawn`, `end`
        """
        return await self._run(people.change_notifications(mail, webhook, events, new_secret=new_secret))

    async def notify(self, job: JobOrName, events: Sequence[str]) -> Document:
        """Let the caller be told of a job that has not ended: of these events, and no others."""
        return await self._run(people.notify(name_of(job), events))

    async def test_notifications(self) -> Document:
        """Send the caller a message, by all ways that reach him."""
        return await self._run(people.test_notifications())

    async def access(self, version: int | None = None) -> Document:
        """The access document in force, or a version of it."""
        return await self._run(people.access(version))

    async def access_versions(self) -> list[Document]:
        """All versions of the access document, without their texts."""
        found = await self._run(people.access_versions())
        return list(found["versions"])

    async def apply_access(
        self, text: str, *, comment: str = "", seen: int | None = None, dry_run: bool = False
    ) -> Document:
        """Put an access document in force, whole or not at all.

        seen : version that the change was made from: refused where another is in force; None = the one in force
        """
        return await self._run(people.apply_access(text, comment, seen, is_dry=dry_run))

    async def audit(
        self,
        *,
        after: int | None = None,
        before: int | None = None,
        user: str | None = None,
        action: str | None = None,
        target: str | None = None,
        outcome: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        limit: int = 100,
        timeout: float = 0,  # noqa: ASYNC109 - it is the service that waits
    ) -> list[Document]:
        """Records of what was done and refused, in order: the last ones, `before` a number, or those behind `after`.

        timeout : with `after`, seconds to wait for more
        """
        named: dict[str, Value] = {"after": after, "before": before, "user": user, "action": action, "target": target}
        named |= {"outcome": outcome, "from": moment(start), "to": moment(end), "limit": limit}
        found = await self._run(people.audit(named, timeout))
        return list(found["records"])

    async def check_audit(self, seen: str = "") -> Document:
        """Whether the chain of the records is whole; seen: `NUMBER:HASH` of an earlier check."""
        return await self._run(people.check_audit(seen))
