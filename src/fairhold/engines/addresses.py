"""TCP addresses to listen on; errors name the option to change."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    Made = TypeVar("Made", bound=socket.socket)

_FIRST_FREE = 1024
"""Ports below are root's."""


class Purpose(NamedTuple):
    """The purpose of a listening socket, in the words of a fault, and the options for its address and port."""

    told: str
    address: str
    port: str


def bound(host: str, port: int, make: Callable[[int, int, int], Made], purpose: Purpose) -> Made:
    """A socket at an address (port 0 = any that is free), which does not listen yet.

    make : of a family, a kind and a protocol

    Raises InputError `cannot-listen`.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = make(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise cannot_listen(host, port, error, purpose) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        made.close()
        raise cannot_listen(host, port, error, purpose) from error
    return made


def cannot_listen(host: str, port: int, error: Exception, purpose: Purpose) -> InputError:
    """The fault `cannot-listen`."""
    why = error.strerror or str(error) if isinstance(error, OSError) else "no host can have this name"
    what = f"{purpose.told} at {host}:{port}: {why}"
    return InputError([Fault("cannot-listen", what, _mend(error, purpose))])


def _mend(error: Exception, purpose: Purpose) -> str:
    number = error.errno if isinstance(error, OSError) and not isinstance(error, socket.gaierror) else 0
    if number == errno.EADDRINUSE:
        return f"stop what listens there, or choose another port with {purpose.port}; port 0 takes any free port"
    if number in {errno.EACCES, errno.EPERM}:
        return f"choose a port from {_FIRST_FREE} on with {purpose.port}: those below need root"
    return f"name an address of this machine with {purpose.address}, such as 127.0.0.1"
