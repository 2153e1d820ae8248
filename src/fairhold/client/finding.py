"""Where the service is: a name that is given, the environment, or the one that this user runs here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from fairhold.client.errors import ServiceMissing
from fairhold.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE, TOKEN, STATE, CERTIFICATES = "FAIRHOLD_SERVICE", "FAIRHOLD_TOKEN", "FAIRHOLD_STATE", "FAIRHOLD_CA"
STORE = "FAIRHOLD_STORE"
"""Where the store of a service is that has none in its state directory."""
XDG = "XDG_STATE_HOME"
CURRENT = "current"
FILE = "service.json"
FILE_OF_SIGN_INS = "sign-ins.json"
HERE = "http://fairhold"
"""How a service is called over its Unix socket."""
START = "start one with `fairhold serve PLAN`, or name one with `--service` or FAIRHOLD_SERVICE"
_LONGEST = 120
"""Bytes below which the path of a socket stays on every system, and some."""


class Target(NamedTuple):
    """A service that requests can be sent to.

    url          : scheme, name and port, without a path
    socket       : path of its Unix socket, which is used in place of the URL's address; empty = none
    token        : empty = none is sent, which a Unix socket does without
    directory    : state directory, None = not known, as of a service elsewhere
    certificates : file of those that sign its certificate, empty = the system's
    host         : what the service is called in requests, empty = as the URL says
    sign_ins     : folder of a sign-in at this service, whose token counts; None = there is none
    others       : further services of the same store, of which one leads; they are asked in the same way
    """

    url: str
    socket: str = ""
    token: str = ""
    directory: Path | None = None
    certificates: str = ""
    host: str = ""
    sign_ins: Path | None = None
    others: tuple[Target, ...] = ()

    @property
    def each(self) -> list[Target]:
        """All services of the store, as they are asked."""
        return [
            self._replace(url=each.url, socket=each.socket, token=each.token or self.token, others=())
            for each in (self, *self.others)
        ]

    @property
    def name(self) -> str:
        """As people read it."""
        return f"unix:{self.socket}" if self.socket else self.url

    @property
    def key(self) -> str:
        """What a sign-in at it is kept under: the same by its socket and by its address, where that is known."""
        return self.name if self.url == HERE else self.url


def base_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Folder in which `current` says which service runs.

    FAIRHOLD_STATE, else `fairhold` in XDG_STATE_HOME where that is absolute, else in ~/.local/state. What stands in the
    last one stays in use until it is moved. Raises UsageError where there is no home either.
    """
    environ = os.environ if environ is None else environ
    if environ.get(STATE):
        return Path(environ[STATE])
    before = Path(os.path.expanduser("~")) / ".local/state/fairhold"  # noqa: PTH111 - `Path.home` raises without one
    wanted = environ.get(XDG, "")
    if os.path.isabs(wanted):  # noqa: PTH117 - a relative one is ignored, as its specification says
        after = Path(wanted) / "fairhold"
        return before if before.is_dir() and not after.is_dir() else after
    if not before.is_absolute():
        raise UsageError(f"this user has no home directory to keep state in; set {STATE}, or name it with --state")
    return before


def find(url: str | None = None, token: str | None = None, environ: Mapping[str, str] | None = None) -> Target:
    """The service to use; whether it answers is not checked. Raises ServiceMissing; UsageError for an invalid URL."""
    environ = os.environ if environ is None else environ
    named = url or environ.get(SERVICE, "")
    secret = token or environ.get(TOKEN, "")
    target = _named(named) if named else _current(base_directory(environ))
    if not secret and _has_signed_in(target, environ):
        return target._replace(token="", sign_ins=base_directory(environ), certificates=environ.get(CERTIFICATES, ""))
    if named and not secret:
        secret = _token_of_same(target, environ)
    elif not (secret.isascii() and secret.isprintable()):
        raise UsageError(f"{TOKEN} is not a token: it has characters that no token has")
    return target._replace(token=secret or target.token, certificates=environ.get(CERTIFICATES, ""))


def _has_signed_in(target: Target, environ: Mapping[str, str]) -> bool:
    """Whether this user has signed in at a service, and not out."""
    try:
        directory = base_directory(environ)
    except UsageError:
        return False
    if not (directory / FILE_OF_SIGN_INS).is_file():
        return False
    from fairhold.client.login import SignIns  # noqa: PLC0415 - most commands need none of it

    return SignIns(directory).find(target.key) is not None


def _named(text: str) -> Target:
    first, *others = map(_named_one, text.split(","))
    return first._replace(others=tuple(others))


def _named_one(text: str) -> Target:
    if text.startswith("unix:") and text != "unix:":
        path = Path(text.removeprefix("unix:")).expanduser().absolute()
        return Target(HERE, str(path), _text(path.with_name("token")), path.parent)
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_good = False
        parts = urlsplit("")
    if not is_good or parts.path not in {"", "/"} or parts.query or parts.username:
        raise UsageError(
            f"`{printable(text)}` is not a service address; write http://HOST:PORT, https://HOST:PORT or unix:PATH, "
            "or several of a shared store with commas in between"
        )
    return Target(f"{parts.scheme}://{parts.netloc}")


def _current(base: Path) -> Target:
    """The service that runs here, as it said when it started."""
    for path in (base / CURRENT, base / CURRENT / FILE, base / FILE):
        if path.is_file():
            break
    else:
        why = "it has stopped" if (base / CURRENT).is_symlink() else f"{base / CURRENT} is not there"
        raise ServiceMissing(f"no service runs here ({why}); {START}")
    try:
        document = json.loads(path.read_bytes())
        url, token_file = str(document["url"]), Path(document["token_file"])
        socket = str(document.get("socket") or "")
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f": {error.strerror}" if isinstance(error, OSError) else ""
        raise ServiceMissing(f"{path} does not say where the service is{why}; {START}") from None
    usable = socket if socket and len(os.fsencode(socket)) < _LONGEST and Path(socket).exists() else ""
    return Target(url.rstrip("/"), usable, _text(token_file), token_file.parent)


def _token_of_same(target: Target, environ: Mapping[str, str]) -> str:
    """The token of the service that runs here, where it is the one that was named: no other is to see it."""
    try:
        here = _current(base_directory(environ))
    except ServiceMissing:
        return ""
    return here.token if target.url == here.url and not target.socket else ""


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
