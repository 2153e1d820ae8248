"""How people are told of what happens, as an access document says it: mail, webhooks, thresholds."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses that routers translate to IPv4 (RFC 6052)."""
_PORTS = {"https": 443, "http": 80}


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


class Notifications(NamedTuple):
    """The part `notifications` of an access document; addresses: name of a person → where mail reaches him."""

    mail: MailServer | None = None
    addresses: Mapping[str, str] = {}
    webhooks: Webhooks = Webhooks()
    thresholds: tuple[Threshold, ...] = ()


def url_fault(webhooks: Webhooks, url: str) -> str:
    """Why a webhook may not lead to an address, as the end of a sentence; empty where it may, by its name."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return "is not an address"
    host = parts.hostname or ""
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= LONGEST_URL
    if not is_plain or not host or parts.scheme not in _PORTS or parts.fragment or "@" in parts.netloc:
        return "is not a plain address, `https://HOST/PATH` without a user and `#`"
    if any(_matches(each, parts.scheme, host, port) for each in webhooks.hosts):
        return ""
    return "is not at a host that an administrator has allowed for webhooks"


def _matches(allowed: str, scheme: str, host: str, port: int) -> bool:
    parts = urlsplit(allowed)
    name = parts.hostname or ""
    is_host = host.endswith(name[1:]) if name.startswith("*.") else host == name
    return scheme == parts.scheme and is_host and port == (parts.port or _PORTS[parts.scheme])


def allowed_addresses(webhooks: Webhooks, addresses: Iterable[str]) -> list[str]:
    """Those of some IP addresses of a host that a webhook may reach: public ones, and those of allowed networks."""
    networks = [ipaddress.ip_network(each) for each in webhooks.networks]
    found = []
    for text in addresses:
        address = _inner(ipaddress.ip_address(text.partition("%")[0]))
        is_public = address.is_global and not address.is_multicast
        if is_public or any(address in each for each in networks):
            found.append(text)
    return found


def _inner(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
