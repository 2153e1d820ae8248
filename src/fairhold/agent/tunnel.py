"""TLS between an agent and the service, without the socket: bytes in, bytes out, so that nothing ever waits for it.

An agent has three files in the folder `identity` of its directory, written by `fairhold agent enrol`: its key, its
certificate, and the certificate of the authority of its service, which alone signs for the service and its agents.
"""

from __future__ import annotations

import os
import ssl
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

IDENTITY = "identity"
KEY, CERTIFICATE, AUTHORITY = "key.pem", "certificate.pem", "authority.pem"
SECRET = bytes(32)
"""In the place of the shared secret: who is at the other end is proved by the certificates."""
_PORTION = 64 * 1024


class TunnelError(Exception):
    """What came is no TLS, or not from who it should be; the message says why, for people."""


class Tunnel:
    """One end of one connection.

    is_service : which end this is
    """

    __slots__ = ("_in", "_out", "_tls", "_unsent")

    def __init__(self, context: ssl.SSLContext, *, is_service: bool) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=is_service)
        self._unsent = bytearray()

    @property
    def pending(self) -> int:
        """Bytes that have come and that nothing has proved yet."""
        return self._in.pending

    @property
    def peer(self) -> Mapping[str, Any]:
        """The certificate of the other end as `ssl` tells it, empty = it has shown none, or not yet."""
        return self._tls.getpeercert() or {}

    @property
    def certificate(self) -> bytes:
        """The same as it was shown, DER."""
        return self._tls.getpeercert(binary_form=True) or b""

    def feed(self, data: bytes) -> bytes:
        """What was sent, of bytes that have come. Raises TunnelError; `take` may have an alert for the other end."""
        self._in.write(data)
        found = bytearray()
        try:
            while part := self._tls.read(_PORTION):
                found += part
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            raise TunnelError(_why(error)) from error
        self._push()
        return bytes(found)

    def seal(self, data: bytes) -> bytes:
        """The bytes that go out for this, with what else has to; until the handshake is over it waits."""
        self._unsent += data
        self._push()
        return self.take()

    def take(self) -> bytes:
        """What has to go out by now."""
        return self._out.read()

    def _push(self) -> None:
        try:
            self._tls.do_handshake()  # begins it, and does nothing when it is over
            while self._unsent:
                del self._unsent[: self._tls.write(self._unsent)]
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            raise TunnelError(_why(error)) from error


def context_of(directory: str) -> ssl.SSLContext:
    """What an agent shows and believes, from the files of its identity. Raises ValueError where they are none."""
    place = f"{directory}/{IDENTITY}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the authority signs for one service alone, by whatever name it is called
    try:
        context.load_verify_locations(f"{place}/{AUTHORITY}")
        context.load_cert_chain(f"{place}/{CERTIFICATE}", f"{place}/{KEY}", lambda: "")
    except OSError as error:
        why = getattr(error, "reason", None) or error.strerror or error
        raise ValueError(f"{place} is no identity ({why}); run `fairhold agent enrol` for this host") from error
    return context


def keep(directory: str, certificate: str) -> None:
    """Put a new certificate in the place of the one before. Raises OSError where it does not go with the key."""
    place = f"{directory}/{IDENTITY}"
    draft = f"{place}/.{CERTIFICATE}"
    try:
        write_private(draft, certificate.encode())
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(draft, f"{place}/{KEY}", lambda: "")
        os.rename(draft, f"{place}/{CERTIFICATE}")  # noqa: PTH104
    except OSError:
        with suppress(OSError):
            os.unlink(draft)  # noqa: PTH108
        raise


def write_private(path: str, content: bytes) -> None:
    """A file for this user alone, durable. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _why(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not believed: {error.verify_message}"
    words = (error.reason or str(error)).replace("_", " ").lower()
    return f"TLS: {words}"
