"""The wire format between an agent and the service: authenticated frames in a fixed order.

Each end sends, in clear, `NONCE` random bytes. Then frames: 4 bytes of length (of the payload, big endian), 32 bytes of
HMAC-SHA256 over direction, counter and payload, and the payload, a JSON object in UTF-8. See docs/attempts.md.
"""

from __future__ import annotations

import hmac
import json
import os

TYPE_CHECKING = False  # importing `typing` costs an agent's start more than all the rest
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = 1
NONCE = 32
"""Bytes that each end sends first."""
MAXIMUM = 16 * 1024 * 1024
"""Bytes of payload that a frame may have."""
AGENT = b"a"
SERVICE = b"s"
"""The two directions, by who sends."""
_LENGTH = 4
_MAC = 32
_HEAD = _LENGTH + _MAC
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class FrameError(Exception):
    """Received bytes are no frame of this session, or a message is too long for a frame: close the connection."""


def session_key(secret: bytes, agent: bytes, service: bytes) -> bytes:
    """The key of a session from the secret and the nonces of both ends, 32 bytes."""
    return hmac.digest(secret, agent + service, "sha256")


class Sealer:
    """Makes the frames of one direction of a session, in the order in which they are sent."""

    __slots__ = ("_counter", "_direction", "_key")

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = key
        self._direction = direction
        self._counter = 0

    def seal(self, message: Mapping[str, Any]) -> bytes:
        """The next frame. Raises FrameError where it would be too long; then it was not counted."""
        payload = _encode(message).encode()
        _checked(len(payload))
        mac = _mac(self._key, self._direction, self._counter, payload)
        self._counter += 1
        return b"".join((len(payload).to_bytes(_LENGTH, "big"), mac, payload))


class Opener:
    """Takes the frames of one direction of a session apart, from bytes as they arrive."""

    __slots__ = ("_buffer", "_counter", "_direction", "_is_broken", "_key")

    def __init__(self, key: bytes, direction: bytes) -> None:
        self._key = key
        self._direction = direction
        self._counter = 0
        self._buffer = bytearray()
        self._is_broken = False

    @property
    def pending(self) -> int:
        """Bytes of a frame that is not whole yet, and so not verified."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Messages that are complete now, in order.

        Raises FrameError at a frame that is not the next one of this session, then and ever after. Messages before it
        in the same bytes are lost with it: the sender repeats what is not answered.
        """
        if self._is_broken:
            raise FrameError("a frame did not verify before")
        self._buffer += data
        messages: list[dict[str, Any]] = []
        place = 0
        try:
            while len(self._buffer) - place >= _HEAD:
                end = place + _HEAD + _checked(int.from_bytes(self._buffer[place : place + _LENGTH], "big"))
                if len(self._buffer) < end:
                    break
                messages.append(self._open(bytes(self._buffer[place + _LENGTH : end])))
                place = end
        except FrameError:
            self._is_broken = True
            self._buffer.clear()
            raise
        if place:
            del self._buffer[:place]
        return messages

    def _open(self, sealed: bytes) -> dict[str, Any]:
        payload = sealed[_MAC:]
        if not hmac.compare_digest(sealed[:_MAC], _mac(self._key, self._direction, self._counter, payload)):
            raise FrameError("a frame does not verify: another secret, or it was changed, repeated or left out")
        self._counter += 1
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError) as error:
            raise FrameError("a frame holds no JSON") from error
        if not isinstance(message, dict):
            raise FrameError("a frame holds no JSON object")
        return message


class Channel:
    """One end of one connection, without the socket: what to send first, then frames in both directions.

    secret   : known to both ends
    side     : AGENT or SERVICE, which end this is
    greeting : what this end sends first, `NONCE` bytes
    """

    __slots__ = ("_first", "_opener", "_sealer", "_secret", "_side", "greeting")

    def __init__(self, secret: bytes, side: bytes) -> None:
        self._secret = secret
        self._side = side
        self._first = b""
        self._sealer: Sealer | None = None
        self._opener: Opener | None = None
        self.greeting = os.urandom(NONCE)

    @property
    def is_open(self) -> bool:
        """Whether the other end's nonce has arrived, so that messages may be sealed."""
        return self._sealer is not None

    @property
    def pending(self) -> int:
        """Bytes that have arrived and that nothing verifies yet."""
        return self._opener.pending if self._opener else len(self._first)

    def seal(self, message: Mapping[str, Any]) -> bytes:
        """The next frame to send. Raises FrameError before the other end's nonce, and where it would be too long."""
        if self._sealer is None:
            raise FrameError("the other end has not sent its nonce yet")
        return self._sealer.seal(message)

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Messages that have arrived whole with these bytes. Raises FrameError, see `Opener.feed`."""
        if self._opener is None:
            self._first += data
            if len(self._first) < NONCE:
                return []
            other, data = self._first[:NONCE], self._first[NONCE:]
            self._first = b""
            is_agent = self._side == AGENT
            key = session_key(self._secret, *((self.greeting, other) if is_agent else (other, self.greeting)))
            self._sealer = Sealer(key, self._side)
            self._opener = Opener(key, SERVICE if is_agent else AGENT)
        return self._opener.feed(data)


def _checked(length: int) -> int:
    if length > MAXIMUM:
        raise FrameError(f"a frame of {length} bytes, at most {MAXIMUM} are allowed")
    return length


def _mac(key: bytes, direction: bytes, counter: int, payload: bytes) -> bytes:
    return hmac.digest(key, b"".join((direction, counter.to_bytes(8, "big"), payload)), "sha256")
