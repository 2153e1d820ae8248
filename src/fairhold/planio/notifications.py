"""The part `notifications` of an access document → `Notifications`."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from fairhold.access.notifications import (
    ADDRESS,
    BUDGET_USED,
    HOST_SILENT,
    PLAIN,
    SECURITY,
    STARTTLS,
    THRESHOLDS,
    MailServer,
    Notifications,
    Threshold,
    Webhooks,
)
from fairhold.access.permissions import ROOT
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

    Members = Callable[[Report, Value, Place, set[str], str], tuple[str, ...]]


class Naming(NamedTuple):
    """What the rest of the document lets be named.

    known      : names of `users`, `groups` and `service_accounts`
    members    : reads a list of names that have to be known
    check_path : of a consumer
    """

    known: Mapping[str, set[str]]
    members: Members
    check_path: Callable[[str, Place], None]


_PLACE: Place = ("notifications",)
_MAIL_KEYS = ("server", "security", "user", "sender", "addresses")
_PERSONS = ("users", "groups", "service_accounts")
_MOST_PERCENT = 1_000


def read_notifications(report: Report, value: Value, naming: Naming) -> Notifications:
    """What a document says of notifications; what is at fault of it is reported, and left out."""
    node = report.mapping(value, _PLACE, what="a mapping with `mail`, `webhooks` and `thresholds`")
    report.keys(node, ("mail", "webhooks", "thresholds"), _PLACE, {})
    mail, addresses = _mail(report, node["mail"], naming.known) if "mail" in node else (None, {})
    webhooks = _webhooks(report, node["webhooks"]) if "webhooks" in node else Webhooks()
    rows = report.sequence(node.get("thresholds", []), (*_PLACE, "thresholds"), what="thresholds")
    thresholds = tuple(_threshold(report, each, (*_PLACE, "thresholds", at), naming) for at, each in enumerate(rows))
    return Notifications(mail, addresses, webhooks, thresholds)


def _mail(report: Report, value: Value, known: Mapping[str, set[str]]) -> tuple[MailServer | None, dict[str, str]]:
    place = (*_PLACE, "mail")
    node = report.mapping(value, place, what="a mapping with `server` and `sender`")
    report.keys(node, _MAIL_KEYS, place, {})
    report.missing(node, ("server", "sender"), place, "a mail server")
    security = report.word(node.get("security", STARTTLS), (*place, "security"), tuple(SECURITY)) or STARTTLS
    server = report.text(node.get("server", ""), (*place, "server"), what="`HOST` or `HOST:PORT`")
    host, port = _host_and_port(server, SECURITY[security])
    if "server" in node and not host:
        what = f"`{shown(server)}` is not the address of a mail server"
        report.fault("name", what, "write `HOST` or `HOST:PORT`", (*place, "server"))
    user = report.text(node.get("user", ""), (*place, "user"), what="a string")
    if user and security == PLAIN:
        mend = "write `security: starttls` or `tls`, or leave `user` out"
        report.fault("tls-needed", "without TLS the password could be read on the way", mend, (*place, "security"))
    sender = _address(report, node["sender"], (*place, "sender")) if "sender" in node else ""
    addresses = {}
    people = known["users"] | known["service_accounts"]
    for name, each in report.mapping(
        node.get("addresses"), (*place, "addresses"), what="a mapping of addresses"
    ).items():
        if name not in people:
            mend = report.suggest(name, people, "add it to the document, or leave it out")
            what = f"the document has no user or service account `{shown(name)}`"
            report.fault("unknown-user", what, mend, (*place, "addresses", name))
        addresses[name] = _address(report, each, (*place, "addresses", name))
    return (MailServer(host, port, security, user, sender) if host and sender else None), addresses


def _host_and_port(text: str, otherwise: int) -> tuple[str, int]:
    """Empty where it is none."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "", parts.port or otherwise
    except ValueError:
        return "", 0
    is_plain = text.isascii() and text.isprintable() and " " not in text and parts.netloc == text and "@" not in text
    return (host, port) if is_plain else ("", 0)


def _address(report: Report, value: Value, place: Place) -> str:
    text = report.text(value, place, what="a mail address")
    if isinstance(value, str) and not ADDRESS.fullmatch(text):
        report.fault("name", f"`{shown(text)}` is not a mail address", "write it as `ada@example.com`", place)
    return text


def _webhooks(report: Report, value: Value) -> Webhooks:
    place = (*_PLACE, "webhooks")
    node = report.mapping(value, place, what="a mapping with `hosts`")
    report.keys(node, ("hosts", "networks"), place, {})
    report.missing(node, ("hosts",), place, "what is said of webhooks")
    hosts = _texts(report, node.get("hosts", []), (*place, "hosts"), what="addresses of hosts")
    networks = _texts(report, node.get("networks", []), (*place, "networks"), what="networks")
    for at, each in enumerate(hosts):
        if each is not None and not _is_origin(each):
            mend = "write `https://HOST` or `https://*.DOMAIN`, with `:PORT` where it is another"
            report.fault("name", f"`{shown(each)}` is not the address of a host", mend, (*place, "hosts", at))
    for at, each in enumerate(networks):
        if each is not None and not _is_network(each):
            mend = "write it as `10.1.0.0/16`"
            report.fault("name", f"`{shown(each)}` is not a network", mend, (*place, "networks", at))
    return Webhooks(tuple(each.lower() for each in hosts if each), tuple(each for each in networks if each))


def _texts(report: Report, value: Value, place: Place, *, what: str) -> list[str | None]:
    """A list of texts; None for what is none."""
    items = report.sequence(value, place, what=what)
    read = [report.text(each, (*place, at), what="a string") for at, each in enumerate(items)]
    return [text if isinstance(item, str) else None for text, item in zip(read, items, strict=True)]


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_one = parts.scheme in {"https", "http"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    name = (parts.hostname or "").removeprefix("*.")
    is_plain = text.isascii() and text.isprintable() and " " not in text and "@" not in parts.netloc
    return is_one and is_plain and "." in f".{name}" and "*" not in name and f"{parts.scheme}://{parts.netloc}" == text


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def _threshold(report: Report, value: Value, place: Place, naming: Naming) -> Threshold:
    node = report.mapping(value, place, what="a mapping with `when`")
    report.missing(node, ("when",), place, "a threshold")
    when = report.word(node["when"], (*place, "when"), THRESHOLDS) if "when" in node else ""
    measure = "percent" if when == BUDGET_USED else "for"
    keys = ("when", measure, *(() if when == HOST_SILENT else ("at",)), *_PERSONS)
    report.keys(node, keys, place, {})
    report.missing(node, (measure,), place, "a threshold")
    span = report.duration(node["for"], (*place, "for")) if measure == "for" and "for" in node else 0
    percent = 0
    if measure == "percent" and "percent" in node:
        percent = report.whole(node["percent"], (*place, "percent"), least=1, most=_MOST_PERCENT)
    at = report.text(node.get("at", ROOT), (*place, "at"), what="the path of a consumer")
    naming.check_path(at, (*place, "at"))
    named = {key: naming.members(report, node.get(key, []), (*place, key), naming.known[key], key) for key in _PERSONS}
    if not any(named.values()):
        report.fault("missing-key", "a threshold says who is told", f"add {', '.join(_PERSONS)}", place)
    return Threshold(when, at, span, percent, **named)
