"""Where a service is found: its sockets, and the file that tells of them."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.engines.addresses import Purpose, bound, cannot_listen
from fairhold.engines.private import drafted
from fairhold.errors import Fault, InputError
from fairhold.service.auth import TOKEN
from fairhold.service.doors import Door

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.service.settings import ServiceSettings

SOCKET = "api.sock"
FILE = "service.json"
_BACKLOG = 2048
_PURPOSE = Purpose("cannot listen", "--listen", "--port")


def listen_tcp(host: str, port: int) -> Door:
    """A socket for clients by TCP, which listens when clients can be answered. InputError `cannot-listen`."""
    door = bound(host, port, _door, _PURPOSE)
    door.setblocking(False)  # noqa: FBT003 - its only argument
    return door


def _door(family: int, kind: int, _: int) -> Door:
    return Door(family, kind, socket.IPPROTO_TCP)  # said: asyncio switches Nagle's delay off only then


def begin_to_listen(door: Door, host: str, port: int) -> None:
    """Take clients in; InputError `cannot-listen` where another program has begun to since the address was bound."""
    try:
        door.listen(_BACKLOG)
    except OSError as error:
        raise cannot_listen(host, port, error, _PURPOSE) from error


def listen_here(path: Path, *, for_all: bool = False) -> Door:
    """A Unix socket, for this service's user alone, or for all users of this machine. InputError `socket-path`.

    One that is there is taken for that of a service before: the store's lock says that there is no other.
    """
    door = Door(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            path.unlink()
        door.bind(str(path))
        path.chmod(0o666 if for_all else 0o600)  # nobody can connect before `listen`
    except OSError as error:
        door.close()
        what = f"the clients' socket cannot be made: {error.strerror or error}"
        mend = "remove the file that is there, or choose another path with --socket or --state"
        raise InputError([Fault("socket-path", what, mend, file=str(path))]) from error
    door.setblocking(False)  # noqa: FBT003 - its only argument
    door.is_own = not for_all
    return door


def url_of(settings: ServiceSettings, port: int) -> str:
    """Address for clients by TCP."""
    scheme = "https" if settings.is_secure else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{port}"


def advertised(settings: ServiceSettings, port: int) -> str:
    """The address that other services of the store tell: by the first further name, where there is one."""
    named = replace(settings, host=settings.names[0]) if settings.names else settings
    return url_of(named, port)


def tell(settings: ServiceSettings, url: str) -> None:
    """Write `service.json`, whole, and the links to it."""
    directory = settings.directory
    document = {
        "url": url,
        "socket": str(directory / SOCKET),
        "token_file": str(directory / TOKEN),
        "pid": os.getpid(),
    }
    path = directory / FILE
    with drafted(path, (json.dumps(document, indent=1) + "\n").encode()) as draft:
        draft.replace(path)
    for pointer in settings.pointers:
        making = pointer.with_name(f".{pointer.name}.{os.getpid()}")
        with suppress(FileNotFoundError):
            making.unlink()
        making.symlink_to(path)
        making.replace(pointer)


def untell(settings: ServiceSettings) -> None:
    """Take back what `tell` wrote, unless another service has written it again."""
    path = settings.directory / FILE
    with suppress(OSError, ValueError):
        if json.loads(path.read_text("utf-8"))["pid"] == os.getpid():
            path.unlink()
            (settings.directory / SOCKET).unlink(missing_ok=True)
