"""The part `oidc` of an access document → `Provider`."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fairhold.access.provider import SCOPES, SKEW, Provider
from fairhold.planio.report import shown
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

KEYS = Provider._fields
_MOST_SKEW = 600
_PLACE: Place = ("oidc",)
_TEXTS = ("issuer", "client_id", "name", "user_claim", "groups_claim", "account_claim", "prefix")


def read_provider(report: Report, value: Value, groups: AbstractSet[str]) -> Provider | None:
    """The provider of a document; groups: its own. None where it is at fault."""
    node = report.mapping(value, _PLACE, what="a mapping with `issuer` and `client_id`")
    report.keys(node, KEYS, _PLACE, {})
    report.missing(node, ("issuer", "client_id"), _PLACE, "a provider")
    texts = {key: report.text(node[key], (*_PLACE, key), what="a string") for key in _TEXTS if key in node}
    for key in ("issuer", "client_id", "user_claim", "groups_claim", "account_claim"):
        if key in texts and not texts[key]:
            report.fault("out-of-range", f"`{key}` is empty", "fill it in, or leave it out", (*_PLACE, key))
    _check_issuer(report, texts.get("issuer", ""))
    audience = _words(report, node.get("audience", []), (*_PLACE, "audience"))
    scopes = _words(report, node.get("scopes", [*SCOPES]), (*_PLACE, "scopes"))
    if "openid" not in scopes:
        mend = "add `openid`"
        report.fault(
            "out-of-range", "without the scope `openid` the provider says nobody's name", mend, (*_PLACE, "scopes")
        )
    skew = report.duration(node["clock_skew"], (*_PLACE, "clock_skew")) if "clock_skew" in node else SKEW
    if skew > _MOST_SKEW * SECOND:
        what = "clocks that differ by more than ten minutes are wrong"
        report.fault("out-of-range", what, "set them, and write at most `10m`", (*_PLACE, "clock_skew"))
    names = _group_names(report, node.get("group_names"), groups)
    if not {"issuer", "client_id"} <= texts.keys():
        return None
    return Provider(**texts, group_names=names, audience=audience, clock_skew=skew, scopes=scopes)


def _check_issuer(report: Report, issuer: str) -> None:
    if not issuer:
        return
    place = (*_PLACE, "issuer")
    try:
        parts = urlsplit(issuer)
        is_address = parts.scheme in {"https", "http"} and bool(parts.hostname) and (parts.port or 1) > 0
        is_plain = is_address and not (parts.query or parts.fragment or parts.username) and issuer.isprintable()
    except ValueError:
        is_plain = False
        parts = urlsplit("")
    if not is_plain:
        what = f"`{shown(issuer)}` is not the address of a provider"
        report.fault("name", what, "write it exactly as the provider does: `https://HOST/…`", place)
    elif parts.scheme == "http" and not _is_here(parts.hostname or ""):
        what = "over `http` anybody on the way could say who somebody is"
        report.fault("tls-needed", what, "write the provider's address with `https`", place)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _words(report: Report, value: Value, place: Place) -> tuple[str, ...]:
    items = report.sequence(value, place, what="strings")
    found = tuple(report.text(each, (*place, at), what="a string") for at, each in enumerate(items))
    for at, each in enumerate(found):
        if isinstance(items[at], str) and (not each or not each.isprintable() or " " in each):
            report.fault("name", f"`{shown(each)}` is empty or has a space", "write one word", (*place, at))
    return found


def _group_names(report: Report, value: Value, groups: AbstractSet[str]) -> dict[str, str]:
    found = {}
    place = (*_PLACE, "group_names")
    for called, name in report.mapping(value, place, what="a mapping of groups").items():
        found[called] = report.text(name, (*place, called), what="the name of a group")
        if isinstance(name, str) and name not in groups:
            mend = report.suggest(name, groups, "add it to `groups`; its list may be empty")
            report.fault("unknown-user", f"the document has no group `{shown(name)}`", mend, (*place, called))
    return found
