"""Where a service is found: its sockets, and the file that tells of them."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.engines.private import drafted
from fairhold.errors import Fault, InputError
from fairhold.service.auth import TOKEN
from fairhold.service.doors import Door

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.service.settings import ServiceSettings

SOCKET = "api.sock"
FILE = "service.json"


def listen_tcp(host: str, port: int) -> Door:
    """A socket for clients by TCP. InputError `cannot-listen`."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = Door(family, kind, socket.IPPROTO_TCP)  # said: asyncio switches Nagle's delay off only then
    except OSError as error:
        raise _refused(f"{host}:{port}", error) from error
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
    except OSError as error:
        door.close()
        raise _refused(f"{host}:{port}", error) from error
    door.setblocking(False)  # noqa: FBT003 - its only argument
    return door


def listen_here(directory: Path) -> Door:
    """A Unix socket in the state directory, which is this service's alone. InputError `cannot-listen`."""
    path = directory / SOCKET
    door = Door(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)  # of a service before: the store's lock says that there is no other
        door.bind(str(path))
        path.chmod(0o600)  # nobody can connect before `listen`
    except OSError as error:
        door.close()
        raise _refused(str(path), error) from error
    door.setblocking(False)  # noqa: FBT003 - its only argument
    return door


def _refused(where: str, error: OSError) -> InputError:
    what = f"cannot listen at {where}: {error.strerror or error}"
    return InputError([Fault("cannot-listen", what, "choose another address, or stop what listens there")])


def url_of(settings: ServiceSettings, port: int) -> str:
    """Address for clients by TCP."""
    scheme = "https" if settings.is_secure else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{port}"


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
