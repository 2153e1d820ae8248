"""The certificate with which the service speaks TLS: read again when its files change, without a restart."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger("fairhold.service")


class Certificate:
    """The certificate and key of two PEM files; raises InputError `tls-files` where they cannot be used.

    A connection has the certificate that was in force when it began. Files that are no good change nothing: the one
    before stays in force, and the log says why.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = certificate, key
        self._seen = self._stamp()
        self._in_force = _context(certificate, key)

    def offer(self, context: ssl.SSLContext) -> None:
        """Let a server's context hand out the certificate in force."""
        context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        # The whole context: in the same one, a certificate of another kind of key would go on beside the new one.
        connection.context = self._in_force

    def look(self) -> None:
        """Read the files again, where they have changed since the last look."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._in_force = _context(*self._files)
        except InputError as error:
            fault = error.faults[0]
            _LOG.warning("%s: %s; the certificate of before stays in force; %s", fault.file, fault.what, fault.mend)
        else:
            _LOG.info("%s has changed: it is the certificate of new connections", self._files[0])

    async def keep_looking(self, pause: float) -> None:
        """Look every so many seconds, for ever."""
        while True:
            await asyncio.sleep(pause)
            await asyncio.to_thread(self.look)

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        """What tells a file from one that takes its place; zeros where there is none."""
        found = []
        for path in self._files:
            try:
                status = path.stat()
            except OSError:
                found.append((0, 0, 0))
            else:
                found.append((status.st_ino, status.st_mtime_ns, status.st_size))
        return tuple(found)


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    for path in (certificate, key):
        try:
            path.read_bytes()
        except OSError as error:
            what = f"the file cannot be read: {error.strerror or error}"
            mend = "name existing files that the service may read, with --tls-cert and --tls-key"
            raise InputError([Fault("tls-files", what, mend, file=str(path))]) from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, lambda: "")
    except (OSError, ssl.SSLError) as error:
        what = f"the certificate and key cannot be used: {getattr(error, 'reason', None) or error}"
        mend = "name two PEM files that belong together, the key without a password"
        raise InputError([Fault("tls-files", what, mend, file=str(certificate))]) from error
    return context
