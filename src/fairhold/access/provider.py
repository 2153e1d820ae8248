"""People of an OpenID provider: what a token of it has to say, and who that is. No signatures here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from fairhold.access.document import NAME
from fairhold.access.notifications import ADDRESS
from fairhold.errors import Fault
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.access.document import Access

SKEW = 60 * SECOND
SCOPES = ("openid", "profile", "email")
MOST_GROUPS = 10_000
"""Groups that one token may name."""
_LONGEST_SUBJECT = 255
_LAST = 253_402_300_799
"""The last second of the year 9999."""
_AGAIN = "sign in again: `fairhold login`, or on the console's page"


class Provider(NamedTuple):
    """An OpenID provider whose people may ask.

    issuer       : its address, exactly as its tokens say it
    client_id    : what this service is called there
    name         : as people read it
    user_claim   : of a token, which says the name of the user
    groups_claim : which says his groups, a list of texts or one text
    account_claim : which says as what account his work runs on hosts, empty = none does
    group_names  : group as the provider calls it → group of the access document; others are called alike in both
    prefix       : before every name that the provider says, so that it is never that of somebody else
    audience     : for whom a token may be besides `client_id`
    clock_skew   : microseconds by which both clocks may differ
    scopes       : that are asked for
    """

    issuer: str
    client_id: str
    name: str = ""
    user_claim: str = "preferred_username"
    groups_claim: str = "groups"
    account_claim: str = ""
    group_names: Mapping[str, str] = {}
    prefix: str = ""
    audience: tuple[str, ...] = ()
    clock_skew: int = SKEW
    scopes: tuple[str, ...] = SCOPES

    @property
    def host(self) -> str:
        """The machine that it is on, for people and the record."""
        return urlsplit(self.issuer).netloc

    @property
    def title(self) -> str:
        """As people read it."""
        return self.name or self.host


class Person(NamedTuple):
    """Somebody whom a provider knows.

    groups  : of the access document
    subject : what the provider calls him, the same for ever
    expires : instant at which that is to be proved anew
    account : on hosts, empty = the provider does not say
    address : where mail reaches him, empty = the provider does not say, or has not verified it
    """

    name: str
    groups: tuple[str, ...]
    subject: str
    expires: int
    account: str = ""
    address: str = ""


def person_of(provider: Provider, access: Access, claims: Mapping[str, Any], now: int) -> Person | Fault:
    """Who somebody is by the claims of a token whose signature is good, or why it does not count now."""
    expires = _seconds(claims, "exp")
    if fault := _not_for_us(provider, claims) or _not_now(provider, claims, expires, now):
        return fault
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or not subject.isprintable():
        return useless("it has no `sub`")
    name = _name_of(provider, claims)
    if isinstance(name, Fault):
        return name
    if name in access.service_accounts:
        what = f"the provider calls somebody `{name}`, which is the name of a service account"
        return Fault("name-taken", what, "have an administrator set `oidc.prefix`, or rename the account")
    account, until = _account_of(provider, claims), (expires or 0) * SECOND + provider.clock_skew
    groups = _groups_of(provider, access, claims)
    return Person(name, groups, subject, until, account, _address_of(claims))


def _not_for_us(provider: Provider, claims: Mapping[str, Any]) -> Fault | None:
    if claims.get("iss") != provider.issuer:
        return useless("it is of another provider")
    given = claims.get("aud")
    meant = {given} if isinstance(given, str) else set(_texts(given))
    if meant & {*provider.audience}:
        return None
    if provider.client_id not in meant:
        return useless("it is meant for another service (`aud`)")
    if claims.get("azp", provider.client_id) != provider.client_id:
        return useless("it was made for another client (`azp`)")
    return None


def _not_now(provider: Provider, claims: Mapping[str, Any], expires: int | None, now: int) -> Fault | None:
    skew = provider.clock_skew
    if expires is None:
        return useless("it does not say when it ends (`exp`)")
    if now >= expires * SECOND + skew:
        return Fault("expired-token", f"the sign-in ended at {format_instant(expires * SECOND)}", _AGAIN)
    for claim in ("nbf", "iat"):
        begin = _seconds(claims, claim)
        if claim in claims and begin is None:
            return useless(f"`{claim}` is no time")
        if begin is not None and begin * SECOND > now + skew:
            what = f"the sign-in counts from {format_instant(begin * SECOND)} on, which is still to come here"
            return Fault(
                "early-token", what, "have the clocks of the service and the provider set, or raise `clock_skew`"
            )
    return None


def _name_of(provider: Provider, claims: Mapping[str, Any]) -> str | Fault:
    found = claims.get(provider.user_claim)
    if not isinstance(found, str) or not found:
        return useless(f"it has no name in `{provider.user_claim}`, which `oidc.user_claim` asks for")
    if provider.user_claim == "email" and claims.get("email_verified") is not True:
        return useless("the provider has not verified the address in `email`")
    name = provider.prefix + found
    if not NAME.fullmatch(name) or not name.isprintable():
        return useless(f"`{provider.user_claim}` is no name here: at most 64 characters without spaces, `/` and `:`")
    return name


def _account_of(provider: Provider, claims: Mapping[str, Any]) -> str:
    found = claims.get(provider.account_claim) if provider.account_claim else None
    return found if isinstance(found, str) and NAME.fullmatch(found) and found.isprintable() else ""


def _address_of(claims: Mapping[str, Any]) -> str:
    found = claims.get("email") if claims.get("email_verified") is True else None
    return found if isinstance(found, str) and ADDRESS.fullmatch(found) else ""


def _groups_of(provider: Provider, access: Access, claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Groups of the document; what else the provider knows says nothing here."""
    given = claims.get(provider.groups_claim)
    called = [given] if isinstance(given, str) else _texts(given)[:MOST_GROUPS]
    found = {provider.group_names.get(each, each) for each in called}
    return tuple(sorted(found & {*access.groups}))


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _seconds(claims: Mapping[str, Any], name: str) -> int | None:
    """A time of a token, whole seconds since 1970; None where it is none."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LAST:
        return None
    return int(value)


def useless(why: str) -> Fault:
    """That a token does not count at all."""
    return Fault("wrong-token", f"the provider's token does not count: {why}", _AGAIN)
