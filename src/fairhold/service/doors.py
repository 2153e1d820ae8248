"""Listening sockets for clients that count their connections from the accept on.

Who never ends a handshake of TLS has no connection that could be asked or told anything, and still holds an open file.
"""

from __future__ import annotations

import socket
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairhold.service.settings import RequestLimits

_TURNED_AWAY = 64
"""Clients beyond the limit that are still told so; further ones are cut off."""
_KEPT = 32
"""Of these, so many are kept for the Unix socket: whoever runs the service gets in, however many knock by TCP."""


class Crowd:
    """All connections of a service.

    here : connections that can be talked with, by the door that they came in by (see `door_of`): who comes by TCP, or
           by the Unix socket for all users, takes no place from who runs the service
    held : open files of clients, who are in a handshake too
    """

    def __init__(self, limits: RequestLimits) -> None:
        self.here: Counter[int | str] = Counter()
        self.held = 0
        self.limits = limits


class Door(socket.socket):
    """A listening socket; from `guard` on it accepts no more connections than allowed.

    is_own : whether only who runs the service may come in by it
    """

    is_own = False
    _crowd: Crowd | None = None
    _most = 0

    def guard(self, crowd: Crowd) -> None:
        """Count with those of the other doors, and cut off who is too much."""
        self._crowd = crowd
        kept = 0 if self.is_own else _KEPT
        self._most = crowd.limits.most_clients[1] + _TURNED_AWAY - kept

    def accept(self) -> tuple[socket.socket, Any]:
        """Let the next one in. ConnectionAbortedError: it was one too many, and is gone."""
        found, address = super().accept()
        if self._crowd is None:
            return found, address
        if self._crowd.held >= self._most:
            found.close()
            raise ConnectionAbortedError
        return _Guest(found, self._crowd), address


def door_of(connection: socket.socket) -> int | str:
    """By which door a connection came in: the family of its socket, of a Unix socket the path."""
    return str(connection.getsockname()) if connection.family == socket.AF_UNIX else int(connection.family)


class _Guest(socket.socket):
    """The service's end of a connection, counted until it is closed."""

    def __init__(self, found: socket.socket, crowd: Crowd) -> None:
        super().__init__(found.family, found.type, found.proto, fileno=found.detach())
        self._crowd: Crowd | None = crowd
        crowd.held += 1

    def close(self) -> None:
        """Leave."""
        if self._crowd is not None:
            self._crowd.held -= 1
            self._crowd = None
        super().close()
