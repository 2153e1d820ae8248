"""Listening sockets for agents: a Unix socket for the own machine, a TCP address for other machines."""

from __future__ import annotations

import os
import socket
import stat
from typing import TYPE_CHECKING

from fairhold.engines.addresses import Purpose, bound, cannot_listen
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

SOCKET = "agents.sock"
"""In the state directory."""
_LONGEST_PATH = 107
"""Bytes; the system's address of a Unix socket has no room for more."""
_BACKLOG = 64
_PURPOSE = Purpose("cannot listen for agents", "--agents", "--agents")
_SECURE = Purpose("cannot listen for agents that speak TLS", "--agents-tls", "--agents-tls")


class Doors:
    """All listening sockets of a service. Raises InputError if one cannot be opened, and OSError.

    sockets : that of its own machine first
    address : at which agents of other machines connect, None = at none
    secure  : of the sockets, the one where they speak TLS, None = there is none; secure_address : at which
    """

    def __init__(
        self, directory: Path, address: tuple[str, int] | None, secure_address: tuple[str, int] | None = None
    ) -> None:
        """Open them: a Unix socket in the state directory, and addresses (port 0 = any that is free)."""
        self._directory = directory
        self.sockets = [listen_here(directory)]
        self._identity = _identity_of(directory / SOCKET)
        self.secure: socket.socket | None = None
        try:
            if address:
                self.sockets.append(listen_at(*address, _PURPOSE))
            if secure_address:
                self.secure = listen_at(*secure_address, _SECURE)
                self.sockets.append(self.secure)
        except BaseException:
            self.close()
            raise
        self.address: tuple[str, int] | None = self.sockets[1].getsockname()[:2] if address else None
        self.secure_address: tuple[str, int] | None = self.secure.getsockname()[:2] if self.secure else None

    def close(self) -> None:
        """Close all, and remove the Unix socket where it is still this one, and not that of a later service."""
        for door in self.sockets:
            door.close()
        path = self._directory / SOCKET
        if _identity_of(path) == self._identity:
            path.unlink(missing_ok=True)


def check_path(directory: Path) -> None:
    """Raise InputError where no Unix socket can be in a state directory, because its path is too long."""
    path = directory / SOCKET
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise InputError(
            [
                Fault(
                    "socket-path",
                    f"the path of the agents' socket is longer than {_LONGEST_PATH} bytes",
                    "choose a state directory with a shorter path",
                    file=str(path),
                )
            ]
        )


def listen_here(directory: Path) -> socket.socket:
    """The Unix socket of a state directory, for its owner only; takes the place of one that a service left behind.

    Raises InputError where the path is too long or something else has that name, and OSError.
    """
    check_path(directory)
    path = directory / SOCKET
    if os.path.lexists(path):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            mend = "remove it, or choose another state directory"
            raise InputError(
                [
                    Fault(
                        "socket-path",
                        "the agents' socket cannot be made: a file of another kind is in its place",
                        mend,
                        file=str(path),
                    )
                ]
            )
        path.unlink()
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Nobody can connect between the two lines: it does not listen yet.
        door.bind(os.fspath(path))
        path.chmod(0o600)
        return _listening(door)
    except BaseException:
        door.close()
        raise


def listen_at(host: str, port: int, purpose: Purpose) -> socket.socket:
    """A TCP address. InputError `cannot-listen`."""
    door = bound(host, port, socket.socket, purpose)
    try:
        return _listening(door)
    except OSError as error:
        door.close()
        raise cannot_listen(host, port, error, purpose) from error


def _identity_of(path: Path) -> tuple[int, int]:
    """Device and number of a file; (0, 0) where there is none."""
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def peer_name(address: object, *, is_own: bool) -> str:
    """Where a connection comes from, for people."""
    if is_own or not isinstance(address, tuple):
        return "this machine"
    return f"{address[0]}:{address[1]}"


def _listening(door: socket.socket) -> socket.socket:
    door.listen(_BACKLOG)
    door.setblocking(False)  # noqa: FBT003 - the only form there is
    return door
