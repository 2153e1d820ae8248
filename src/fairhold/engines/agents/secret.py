"""The secret that the service and its agents share: a file that only its owner may read."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "secret"
"""Of the file, in the state directory."""
_BYTES = 32
_CONTENT = re.compile(rb"[0-9a-f]{64}\n?")


def the_secret(directory: Path) -> bytes:
    """The 32 bytes of `directory/secret`, which is made where there is none.

    Raises InputError where others may read it, it is somebody else's, or it is no secret; OSError where it cannot be
    read or written.
    """
    path = directory / NAME
    if not os.path.lexists(path):
        _create(path)
    return _read(path)


def _create(path: Path) -> None:
    """Write a new secret, whole or not at all; one that somebody else wrote in the same moment stays."""
    draft = path.with_name(f".{NAME}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> bytes:
    """The secret of a file that is ours alone; asked of the open file, so that no other takes its place meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise _refused(path, "is a link", "remove it; a new one is made") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(path, "is no file", "remove it; a new one is made")
        if status.st_uid != os.geteuid():
            raise _refused(path, "belongs to another user", "run as its owner, or remove it; a new one is made")
        if status.st_mode & 0o077:
            raise _refused(path, "can be read or written by others", f"run: chmod 600 {path}")
        content = os.read(descriptor, _BYTES * 2 + 2)
    finally:
        os.close(descriptor)
    if not _CONTENT.fullmatch(content):
        raise _refused(path, "holds no secret", "remove it when no agent runs any more; a new one is made")
    return bytes.fromhex(content.decode())


def _refused(path: Path, why: str, mend: str) -> InputError:
    return InputError([Fault("agent-secret", f"the agents' secret {why}", mend, file=str(path))])
