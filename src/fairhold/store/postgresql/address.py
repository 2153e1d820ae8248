"""Where a store in a PostgreSQL database is: a connection string, of which no password is ever told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMES = ("postgresql", "postgres")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
SCHEMA = "fairhold"
"""The schema where none is named."""
_DEFAULTS = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""What is asked of the connection where the string says nothing else: a server that is gone is noticed in seconds."""
_KNOWN = frozenset(
    {
        *("host", "hostaddr", "port", "user", "dbname", "service", "passfile", "application_name", "options"),
        *("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "ssl_min_protocol_version", "channel_binding"),
        *("connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
        *("tcp_user_timeout", "target_session_attrs", "gssencmode", "require_auth"),
    }
)
"""Parameters of libpq that may be told; those with secrets are `password` and `sslpassword`."""
_SECRET = ("password", "sslpassword")
_FORM = "write postgresql://USER@HOST:PORT/DATABASE, and ?schema=NAME where it is not `fairhold`"


@dataclass(frozen=True)
class Address:
    """A connection string, taken apart.

    settings : of the connection, as libpq knows them, with the password where there is one
    schema   : of the store
    told     : the string without its secrets; with what it lacks said otherwise it is the same address
    """

    settings: Mapping[str, Any]
    schema: str
    told: str

    def __repr__(self) -> str:
        """Never the password."""
        return f"Address({self.told!r})"

    @property
    def has_password(self) -> bool:
        """Whether the string itself has one."""
        return any(key in self.settings for key in _SECRET)


def is_address(text: str) -> bool:
    """Whether a text is meant as a connection string."""
    return text.partition("://")[0].lower() in _SCHEMES


def parse_address(text: str) -> Address:
    """An address. InputError `store-address` where it is none; it quotes nothing, as a password may be anywhere."""
    try:
        parts = urlsplit(text)
        asked = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        settings: dict[str, Any] = {"host": parts.hostname, "port": parts.port}
    except ValueError:
        raise _refusal("this is not a connection string") from None
    if parts.scheme.lower() not in _SCHEMES or parts.fragment:
        raise _refusal("this is not a connection string")
    schema = asked.pop("schema", SCHEMA)
    if not asked.keys() <= {*_KNOWN, *_SECRET}:
        raise _refusal("a parameter of the connection string is not known")
    if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise _refusal("the name of the schema is not one: small letters, digits and _")
    secrets = {key: asked.pop(key) for key in _SECRET if key in asked}
    if parts.password is not None:
        secrets["password"] = unquote(parts.password)
    settings |= {"user": unquote(parts.username or ""), "dbname": unquote(parts.path.lstrip("/"))}
    told = _told(settings, asked, schema)
    settings |= asked | secrets
    return Address({**_DEFAULTS, **{key: value for key, value in settings.items() if value}}, schema, told)


def _told(settings: Mapping[str, Any], asked: Mapping[str, str], schema: str) -> str:
    user = f"{quote(settings['user'])}@" if settings["user"] else ""
    port = f":{settings['port']}" if settings["port"] else ""
    query = urlencode({**asked} | ({"schema": schema} if schema != SCHEMA else {}))
    return f"postgresql://{user}{settings['host'] or ''}{port}/{quote(settings['dbname'])}{'?' if query else ''}{query}"


def _refusal(what: str) -> InputError:
    return InputError([Fault("store-address", what, _FORM)])
