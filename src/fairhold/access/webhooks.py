"""Where webhooks may lead: by name, and by the addresses that names stand for."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fairhold.access.notifications import LONGEST_URL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.access.notifications import Webhooks

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses that routers translate to IPv4 (RFC 6052)."""
_PORTS = {"https": 443, "http": 80}


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
