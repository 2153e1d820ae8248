"""Takes messages from the outbox, sends them, and says what became of them: in a thread of its own.

Neither the desk nor a request ever waits for a receiver.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from fairhold.errors import FairholdError
from fairhold.runtime.live.outbox import MAIL
from fairhold.service.notifying import mail, webhook
from fairhold.service.notifying.trying import NotSentError
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk
    from fairhold.runtime.live.outbox import Delivery

LOOK = 0.25
"""Seconds between two looks at what is due."""
_SENDERS = 8
"""Mails that are handed in at a time, and as many names that are looked up: neither waits for the other."""
_LONGEST = 120.0
"""Seconds after which a try is given up, whatever it does."""
_PATIENCE = 1.0
"""Seconds that a try at hand is given when the service stops."""
_LOG = logging.getLogger("fairhold")


class Courier:
    """Sends what the outbox of a desk has, within a `with`; what was not sent then is sent by the next start.

    password_file : with the password for the mail server
    now           : the instant
    """

    def __init__(self, desk: Desk, password_file: Path | None, now: Callable[[], int]) -> None:
        self._desk, self._password_file, self._now = desk, password_file, now
        self._closed = Event()
        self._mailers = ThreadPoolExecutor(_SENDERS, "mailer")
        self._thread = Thread(target=lambda: asyncio.run(self._run()), name="courier", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join(_PATIENCE)

    async def _run(self) -> None:
        executor = ThreadPoolExecutor(_SENDERS, "look-up")
        asyncio.get_running_loop().set_default_executor(executor)
        trips: set[asyncio.Task[None]] = set()
        while not self._closed.is_set():
            for delivery in await self._taken():
                trips.add(trip := asyncio.create_task(self._deliver(delivery)))
                trip.add_done_callback(trips.discard)
            await asyncio.sleep(LOOK)
        for trip in trips:
            trip.cancel()
        for each in (executor, self._mailers):
            each.shutdown(wait=False, cancel_futures=True)

    async def _taken(self) -> list[Delivery]:
        """What is to be sent, when it is durable that it is; nothing where nothing can be written at present."""

        def take(core: Core) -> list[Delivery]:
            now, known = self._now(), core.notifications
            return known.outbox.take(now, lambda user, fact: known.may_know(user, fact, now))

        try:
            if not self._desk.core.notifications.outbox.is_due(self._now()):
                return []
            return await asyncio.wrap_future(self._desk.write(take))
        except FairholdError:
            return []
        except Exception:  # noqa: BLE001 - the thread goes on: a later look may find what can be sent
            _LOG.exception("messages cannot be taken from the outbox")
            return []

    async def _deliver(self, delivery: Delivery) -> None:
        """Try once, and say what became of it."""
        try:
            async with asyncio.timeout(_LONGEST):
                await self._send(delivery)
        except NotSentError as error:
            await self._done(delivery, str(error), is_final=error.is_final)
        except TimeoutError:
            await self._done(delivery, "it takes too long")
        except Exception as error:  # noqa: BLE001 - one message must not keep the others, and its words stay away
            await self._done(delivery, f"it failed ({type(error).__name__})")
        else:
            await self._done(delivery)

    async def _send(self, delivery: Delivery) -> None:
        core, now = self._desk.core, self._now()
        known = core.notifications.subscription(delivery.user)
        told, cluster = core.people.access.notifications, core.plan.cluster
        if delivery.channel == MAIL:
            address = core.notifications.address(known, now)
            if not address or told.mail is None:
                raise NotSentError("there is no address any more", is_final=True)
            made = mail.mail_of(told.mail, address, delivery, cluster)
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._mailers, mail.send, told.mail, self._password_file, made)
            return
        if not known.webhook:
            raise NotSentError("there is no webhook any more", is_final=True)
        body = webhook.body_of(delivery, cluster)
        await webhook.send(told.webhooks, known.webhook, known.secret, delivery.id, now // SECOND, body)

    async def _done(self, delivery: Delivery, why: str = "", *, is_final: bool = False) -> None:
        """Say what became of a message; where that cannot be written, it is sent once more."""

        def done(core: Core) -> bool:
            outbox = core.notifications.outbox
            return outbox.done(delivery, self._now(), is_sent=not why, is_final=is_final)

        try:
            is_over = await asyncio.wrap_future(self._desk.write(done))
        except FairholdError:
            return
        except Exception:  # noqa: BLE001 - the thread goes on: the message is taken again, as of one not heard of
            _LOG.exception("what became of a message cannot be written down")
            return
        if why:
            then = "it is given up" if is_over else "it is tried again"
            _LOG.warning("a message to `%s` by %s is not sent, %s: %s", delivery.user, delivery.channel, then, why)
