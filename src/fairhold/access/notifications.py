"""How people are told of what happens, as an access document says it: mail, webhooks, thresholds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

START, RECLAIM, WITHDRAWN, END = "start", "reclaim", "withdrawn", "end"
EVENTS = (START, RECLAIM, WITHDRAWN, END)
"""What one can be told of a job: its first task starts, units are to be given back, or need not be, it has ended."""
HOST_SILENT, BUDGET_USED, STARVING = "host_silent", "budget_used", "starving"
THRESHOLDS = (HOST_SILENT, BUDGET_USED, STARVING)
STARTTLS, TLS, PLAIN = "starttls", "tls", "none"
SECURITY = {STARTTLS: 587, TLS: 465, PLAIN: 25}
"""How the mail server is spoken to → its port where none is named."""
ADDRESS = re.compile(r"[^\s@<>,;:\"\\\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
LONGEST_URL = 2_000


class MailServer(NamedTuple):
    """Where mail is handed in.

    security : `starttls`, `tls` or `none`; user: empty = it asks for none
    sender   : address that mail comes from
    """

    host: str
    port: int
    security: str
    user: str
    sender: str


class Webhooks(NamedTuple):
    """Where webhooks may lead.

    hosts    : `https://HOST` or `http://HOST`, with `:PORT`; a host may begin with `*.`
    networks : of addresses that are not public, and allowed all the same
    """

    hosts: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()


class Threshold(NamedTuple):
    """Something of which people are told when it is so.

    when    : `host_silent` and `starving` for `span` microseconds, `budget_used` to `percent`
    at      : path of the consumer that it is about, with all below it
    """

    when: str
    at: str
    span: int
    percent: int
    users: tuple[str, ...]
    groups: tuple[str, ...]
    service_accounts: tuple[str, ...]

    @property
    def key(self) -> str:
        """What tells it apart from others, whoever is told."""
        return f"{self.when} {self.at} {self.span} {self.percent}"

    def joined(self, other: Threshold) -> Threshold:
        """The same, told to the people of one with the same key as well."""
        users, groups = self.users + other.users, self.groups + other.groups
        accounts = self.service_accounts + other.service_accounts
        return self._replace(users=users, groups=groups, service_accounts=accounts)


class Notifications(NamedTuple):
    """The part `notifications` of an access document; addresses: name of a person → where mail reaches him."""

    mail: MailServer | None = None
    addresses: Mapping[str, str] = {}
    webhooks: Webhooks = Webhooks()
    thresholds: tuple[Threshold, ...] = ()
