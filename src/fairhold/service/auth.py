"""Authentication: a token, of this service or of the provider, or the peer of a Unix socket; the allowed origins."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import socket
import struct
import time
from functools import partial
from hmac import compare_digest
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.permissions import ROOT, Permission
from fairhold.access.provider import useless
from fairhold.access.rights import Rights, unlimited
from fairhold.access.tokens import is_of_people, parse_token
from fairhold.engines.private import drafted, read_private
from fairhold.errors import Fault, InputError
from fairhold.service.sign_in.checking import Checking, is_of_provider
from fairhold.service.sign_in.keys import Directory
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fairhold.access.provider import Provider
    from fairhold.ports.people import TokenRecord
    from fairhold.runtime.live.people import People
    from fairhold.service.settings import ServiceSettings

TOKEN = "token"  # noqa: S105 - the name of its file
_CREDENTIALS = struct.Struct("3i")
_ROOT = 0
_HERE = "fairhold"
"""What the service is called over its Unix socket, whatever port it listens on."""
_LONGEST_TOKEN = 4096
_CALLED, _MOST_CALLED = 60.0, 10_000
"""Seconds for which the name of a user of this machine is kept, and how many names are."""
_STATUS = {"provider-down": 503, "name-taken": 403}
_LONGEST_SUBJECT = 64
"""Characters of a name at the provider that are put on the record."""
_HARD_TO_GUESS = re.compile(rb"[!-~]{20,}")


class Refused(NamedTuple):
    """Why somebody may not ask; user: who he says he is, where that is certain."""

    status: int
    fault: Fault
    headers: Mapping[str, str]
    user: str = ""


class Caller(NamedTuple):
    """Who asks.

    user   : name
    via    : by what he is known: `token file`, `token 7`, `uid 1000` or `sso.example.com, subject 4f1c`
    rights : what he may do
    token  : number of his own token, 0 = he has shown none
    expires : instant at which the token that he has shown ends, 0 = never
    groups : of the access document, in which the provider says he is
    provider : that says who he is, None = none does
    is_built_in : whether the service knows him without the access document, so that no limit of that holds for him
    account : as who knows him calls his account on hosts, empty = as he is called here
    address : where mail reaches him, as the provider says it, empty = it does not
    """

    user: str
    via: str
    rights: Rights
    token: int = 0
    expires: int = 0
    groups: tuple[str, ...] = ()
    provider: Provider | None = None
    is_built_in: bool = False
    account: str = ""
    address: str = ""


VIEWER = Caller("viewer", "viewers' token", Rights("viewer", {Permission.VIEW: (ROOT,)}), is_built_in=True)
"""Whoever has the viewers' token: he sees all and changes nothing."""


class Peer(NamedTuple):
    """The other end of a connection.

    uid : number of its user where the connection is a Unix socket, None = it is not
    """

    uid: int | None


class Guard:
    """Checks requests: the name that they call, the page that they come from, who they are.

    token  : the single one of this service, for its administrator
    people : those that the access document knows, and their tokens
    checking : of tokens of the provider
    now    : the time of day
    port   : that it listens on, 0 = any port is believed
    used   : number of a token → instant of its last use, since somebody has taken it
    """

    def __init__(
        self,
        token: str,
        settings: ServiceSettings,
        people: People,
        now: Callable[[], int] = lambda: time.time_ns() // 1000,
        checking: Checking | None = None,
    ) -> None:
        self._token, self._viewers = token.encode(), settings.viewer_token
        self._people, self._now = people, now
        self._checking = checking or Checking(Directory(time.monotonic))
        self._names = settings.own_names()
        self._scheme = "https" if settings.is_secure else "http"
        self._own = os.getuid()
        self._administrator = _built_in(user_name(self._own), "token file")
        self._here: dict[int, Caller] = {uid: _built_in(user_name(uid), f"uid {uid}") for uid in (self._own, _ROOT)}
        self.port = settings.port
        self.used: dict[int, int] = {}
        self._called: dict[int, tuple[str, float]] = {}

    def check(self, headers: Mapping[bytes, bytes], peer: Peer) -> Caller | Refused:
        """Who asks, or why it is refused."""
        return self.foreign(headers, peer) or self._known(headers.get(b"authorization", b""), peer)

    async def prepare(self, header: bytes) -> None:
        """Get what is needed to check a request with a token of the provider; header: its `Authorization`."""
        text, provider = _bearer(header), self._people.access.provider
        if text is not None and provider is not None and is_of_provider(text):
            await self._checking.prepare(provider, text)

    async def by_provider(self, text: str, nonce: str | None = None) -> Caller | Refused:
        """Who shows a token of the provider, or why it is refused; nonce: that it has to bear."""
        await self.prepare(b"Bearer " + text.encode())
        found, provider = self._by_provider(text), self._people.access.provider
        if nonce is None or provider is None or isinstance(found, Refused):
            return found
        claims = self._checking.claims(provider, text)
        said = claims.get("nonce") if isinstance(claims, dict) else None
        if isinstance(said, str) and compare_digest(said.encode(), nonce.encode()):
            return found
        fault = useless("it was not made for this sign-in (`nonce`)")
        return Refused(401, fault, {}, found.user)

    def seconds_left(self, caller: Caller) -> float:
        """For how long the token is good that somebody has shown."""
        return max(0.0, (caller.expires - self._now()) / SECOND)

    def foreign(self, headers: Mapping[bytes, bytes], peer: Peer) -> Refused | None:
        """Why a request is not meant for this service."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not (self._is_own(host) or (host == _HERE and peer.uid is not None)):
            what = "the `Host` of the request is not a name of this service"
            mend = "use the address that the service printed, or add the name with --name"
            return Refused(403, Fault("foreign-host", what, mend), {})
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"{self._scheme}://{host}":
            what = "the request comes from a page of another origin"
            mend = "send it without a browser, or from this service's pages"
            return Refused(403, Fault("foreign-origin", what, mend), {})
        return None

    def _known(self, header: bytes, peer: Peer) -> Caller | Refused:
        text = _bearer(header)
        if text is not None and (found := self._by_token(text)) is not None:
            return found
        if text is None and peer.uid is not None and (caller := self._by_uid(peer.uid)) is not None:
            return caller
        if text is None:
            return _unproven("no-token", "the request has no token", "send `Authorization: Bearer TOKEN`")
        return _unproven("wrong-token", "the token is not this service's", "read it from the file `token` again")

    def _by_token(self, text: str) -> Caller | Refused | None:
        """Who has a token; None where it is of no kind that is known."""
        if compare_digest(text.encode(), self._token):
            return self._administrator
        if self._is_of_viewers(text.encode()):
            return VIEWER
        if is_of_people(text):
            return self._by_own_token(text)
        return self._by_provider(text) if is_of_provider(text) else None

    def _is_own(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            return host in self._names
        return name in self._names and (not self.port or port == str(self.port))

    def _by_uid(self, uid: int) -> Caller | None:
        if uid in self._here:
            return self._here[uid]
        name = self._name_of(uid)
        return Caller(name, f"uid {uid}", self._people.rights(name)) if self._people.knows(name) else None

    def _name_of(self, uid: int) -> str:
        """The name of a user, asked of the system once in a while: that may take it to a directory service."""
        moment = time.monotonic()
        name, until = self._called.get(uid, ("", 0.0))
        if moment >= until:
            name = user_name(uid)
            self._called = {**self._called, uid: (name, moment + _CALLED)} if len(self._called) < _MOST_CALLED else {}
        return name

    def _by_own_token(self, text: str) -> Caller | Refused:
        token, people = parse_token(text), self._people
        if token is not None and token.cluster != people.mark:
            what = "the token is of another cluster"
            return _unproven("foreign-token", what, "use a token of this one: `fairhold token create` makes it")
        kept = people.token(token.number) if token is not None else None
        if token is None or kept is None or not token.is_of(kept.digest):
            mend = "look whether all of it was copied, or have a new one made"
            return _unproven("wrong-token", "the token is not one of this service's", mend)
        now = self._now()
        if refused := _ended(kept, now):
            return refused
        if not people.knows(kept.user):
            what = f"the access document does not know `{kept.user}`, whose token this is"
            mend = "have an administrator add the user: `fairhold access apply`"
            return Refused(403, Fault("unknown-user", what, mend), {}, kept.user)
        self.used[kept.number] = now
        return Caller(kept.user, f"token {kept.number}", people.rights(kept.user), kept.number, kept.expires)

    def _by_provider(self, text: str) -> Caller | Refused:
        people = self._people
        provider = people.access.provider
        if provider is None:
            what = "the token is of a sign-in provider, and the access document names none"
            return _unproven("wrong-token", what, "use a token of this service: `fairhold token create` makes it")
        found = self._checking.person(people.access, provider, text, self._now())
        if isinstance(found, Fault):
            status = _STATUS.get(found.code, 401)
            return Refused(status, found, {"WWW-Authenticate": "Bearer"} if status == 401 else {})
        name, groups = found.name, found.groups
        if not people.knows(name) and (fault := self._unlisted(name, provider, is_in_group=bool(groups))):
            return Refused(403, fault, {}, name)
        via = f"{provider.host}, subject {found.subject[:_LONGEST_SUBJECT]}"
        caller = Caller(name, via, people.rights(name, groups), expires=found.expires, groups=groups, provider=provider)
        return caller._replace(account=found.account, address=found.address)

    def _unlisted(self, name: str, provider: Provider, *, is_in_group: bool) -> Fault | None:
        """Why somebody may not ask whom the access document does not list; None = he may, by his groups."""
        if name in {each.user for each in self._here.values()}:
            what = f"`{name}` of {provider.title} has the name of who runs this service"
            return Fault("name-taken", what, "have an administrator list this user, or set `oidc.prefix`")
        if is_in_group:
            return None
        what = f"the access document knows neither `{name}` of {provider.title} nor a group that he is said to be in"
        mend = f"have an administrator add the user or a group of `{provider.groups_claim}`: `fairhold access apply`"
        return Fault("unknown-user", what, mend)

    def _is_of_viewers(self, given: bytes) -> bool:
        """Whether this is the viewers' token; its file is read anew, as others may write another into it."""
        if self._viewers is None:
            return False
        try:
            with self._viewers.open("rb") as file:
                token = file.read(_LONGEST_TOKEN).strip()
        except OSError:
            return False
        return bool(_HARD_TO_GUESS.fullmatch(token)) and compare_digest(given, token)


def _bearer(header: bytes) -> str | None:
    """The token of a header `Authorization`; None where it has none."""
    scheme, _, given = header.partition(b" ")
    return given.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def _built_in(user: str, via: str) -> Caller:
    return Caller(user, via, unlimited(user), is_built_in=True)


def _ended(token: TokenRecord, now: int) -> Refused | None:
    """Why a token does not count any more."""
    mend = "make another with `fairhold token create`, or ask an administrator for one"
    if token.revoked:
        return _unproven("revoked-token", f"token {token.number} was revoked", mend, token.user)
    if token.expires and now >= token.expires:
        what = f"token {token.number} ended at {format_instant(token.expires)}"
        return _unproven("expired-token", what, mend, token.user)
    return None


def _unproven(code: str, what: str, mend: str, user: str = "") -> Refused:
    return Refused(401, Fault(code, what, mend), {"WWW-Authenticate": "Bearer"}, user)


def user_name(uid: int) -> str:
    """Name of a user; the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def peer_of(connection: socket.socket | None) -> Peer:
    """Who is at the other end of a connection."""
    if connection is None or connection.family != socket.AF_UNIX:
        return Peer(None)
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return Peer(_CREDENTIALS.unpack(raw)[1])


def the_token(directory: Path) -> str:
    """The service's token, made once; a file that only its owner may read. One that anybody could guess is replaced.

    Raises InputError where others may read it, it is somebody else's or a link; OSError.
    """
    path = directory / TOKEN
    token = _read_token(path) if os.path.lexists(path) else b""
    if not _HARD_TO_GUESS.fullmatch(token):
        token = secrets.token_urlsafe(32).encode()
        with drafted(path, token + b"\n") as draft:
            draft.replace(path)
    return token.decode()


def _read_token(path: Path) -> bytes:
    mend = (
        f"others may know it: remove it, and a new one is made at the next start. Or run: chmod 600 {quote(str(path))}"
    )
    return read_private(path, _LONGEST_TOKEN, partial(_unusable, path), mend_mode=mend).strip()


def _unusable(path: Path, why: str, mend: str) -> InputError:
    return InputError([Fault("service-token", f"the service's token {why}", mend, file=str(path))])
