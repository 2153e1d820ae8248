"""`fairhold agent enrol`: a host makes its key, and has it signed by its service for a code that counts once.

The key never leaves the host. The code says by which certificate the service is known, so that nobody between the two
can take its place.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fairhold.agent import tunnel
from fairhold.agent.frames import AGENT, Channel, FrameError
from fairhold.agent.tunnel import SECRET, Tunnel, TunnelError
from fairhold.engines.agents import certifying
from fairhold.engines.agents.authority import mark_of
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.agent.link import Address

_PATIENCE = 15.0
_PORTION = 64 * 1024


def enrol(directory: Path, address: Address, host: str, code: str) -> None:
    """Write the identity of a host's agent into its directory. Raises InputError `not-enrolled`, and OSError."""
    secret, _, mark = code.strip().partition(".")
    if len(secret) != 32 or len(mark) != 32:
        raise _refused("the code is none: two groups of 32 characters, with a dot between", "copy all of it")
    _, key = certifying.new_key()
    asked = {"type": "enrol", "host": host, "code": secret, "request": certifying.request_of(key)}
    answer = _ask(address, asked, mark)
    if answer.get("type") != "enrolled":
        raise _refused(str(answer.get("why")), "have a new one made: `fairhold hosts enrol`")
    place = directory / tunnel.IDENTITY
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in (
        (tunnel.AUTHORITY, str(answer["authority"])),
        (tunnel.CERTIFICATE, str(answer["certificate"])),
        (tunnel.KEY, key),
    ):
        draft = place / f".{name}"
        tunnel.write_private(str(draft), text.encode())
        os.replace(draft, place / name)  # noqa: PTH105 - its name says that it takes the place of an earlier file
    tunnel.context_of(str(directory))


def _ask(address: Address, asked: dict[str, str], mark: str) -> dict[str, Any]:
    """The answer of the service, after a look whether it is the one of the code."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the code says which certificate it has to be
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    channel, told = Channel(SECRET, AGENT), False
    try:
        with socket.create_connection((address.host, address.port), _PATIENCE) as line:
            ways = Tunnel(context, is_service=False)
            line.sendall(ways.seal(b""))
            while data := line.recv(_PORTION):
                plain = ways.feed(data)
                if not told and ways.certificate:
                    if mark_of(ways.certificate) != mark:
                        raise _refused("another service answers than the one of the code", "look at --connect")
                    line.sendall(ways.seal(channel.greeting))
                    told = True
                line.sendall(ways.take())
                was_open = channel.is_open
                if messages := channel.feed(plain):
                    return messages[0]
                if channel.is_open and not was_open:
                    line.sendall(ways.seal(channel.seal(asked)))
    except (OSError, TunnelError, FrameError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _refused(
            f"{address.text} cannot be asked: {why}", "look at --connect, and at --agents-tls there"
        ) from None
    raise _refused(f"{address.text} has closed the connection", "its log says why")


def read_code() -> str:
    """The code, from standard input: as a word of the command it would stand in the list of processes."""
    with suppress(OSError):
        if os.isatty(0):
            from getpass import getpass  # noqa: PLC0415

            return getpass("code: ")
    return os.read(0, 4096).decode(errors="replace")


def _refused(what: str, mend: str) -> InputError:
    return InputError([Fault("not-enrolled", what, mend)])
