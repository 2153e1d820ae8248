"""A bank whose people can be told of what happens, with a courier that runs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.service.context import now
from fairhold.service.notifying.courier import Courier
from tests.service.people import Staff, access_text
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.notifying.receivers import Mailbox, Receiver

ALLOWED = "  webhooks: {hosts: ['https://*.example.com', '%s'], networks: [127.0.0.0/8]}\n"
MAIL = (
    "  mail: {server: '127.0.0.1:%d', security: %s, user: '%s', sender: fairhold@bank.example,"
    " addresses: {ben: ben@bank.example, ada: ada@bank.example}}\n"
)


def told_text(
    hook: Receiver | None = None,
    mailbox: Mailbox | None = None,
    more: str = "",
    *,
    security: str = "none",
    user: str = "",
    others: str = "hidden",
) -> str:
    """The access document of the bank with its part on notifications."""
    text = access_text(others) + "notifications:\n"
    if hook is not None:
        text += ALLOWED % hook.url.partition("/hook")[0]
    if mailbox is not None:
        text += MAIL % (mailbox.port, security, user)
    return text + more


def courier(bank: Bank, password: Path | None = None) -> Courier:
    return Courier(bank.desk, password, now)


@contextmanager
def telling(place: Path, text: str, password: Path | None = None, plan: str = PLAN) -> Iterator[Staff]:
    """A bank with its people and a courier."""
    with Bank(place / "state", plan=plan) as bank:
        staff = Staff(bank, text)
        with courier(bank, password):
            yield staff


def hooked(staff: Staff, user: str, receiver: Receiver, *events: str) -> str:
    """Let somebody be told at a receiver; the secret."""
    body: dict[str, Any] = {"webhook": receiver.url, "events": [*events]}
    return str(staff.ask(user, "PATCH", "/me/notifications", json=body)["secret"])
