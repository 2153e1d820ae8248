"""Files with a secret: written atomically, and read only if no other user can read them."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import InputError

_AGAIN = "remove it; a new one is made"


@contextmanager
def drafted(path: Path, content: bytes) -> Iterator[Path]:
    """A file beside `path` with this content, durable, to be put in its place; gone afterwards. Raises OSError."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def read_private(path: Path, most: int, refused: Callable[[str, str], InputError], *, mend_mode: str) -> bytes:
    """Up to so many bytes of a file that is ours alone; asked of the open file, so that no other takes its place.

    refused   : makes the error of (why it cannot be used, how to mend it)
    mend_mode : what to do where others may read it

    Raises InputError where it is a link, no file, somebody else's, or others may read it; OSError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise refused("is a link", _AGAIN) from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise refused("is not a file", _AGAIN)
        if status.st_uid != os.geteuid():
            raise refused("belongs to another user", f"run as its owner, or {_AGAIN}")
        if status.st_mode & 0o077:
            raise refused("can be read or written by others", mend_mode)
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)
