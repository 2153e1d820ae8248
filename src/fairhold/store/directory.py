"""The directory of a store: names of its files, the lock that one service holds, and the one of who changes hands."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairhold.ports import StoreError
from fairhold.store.troubles import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.errors import InputError

FILE = "store.sqlite"
CREATING = "store.sqlite.creating"
RESTORING = "store.sqlite.restoring"
REPLACED = "store.sqlite.replaced"
"""What a restore has set aside."""
LOCK = "store.lock"
NOTE = "store.leader"
"""Who leads; see `lease`."""
_PATIENCE = 0.5
"""Seconds that who changes the note may take."""
_PAUSE = 0.005
"""Seconds between two tries to."""


class Lock:
    """A directory, held by this process alone until `release`; the lock goes with the process, however it ends.

    replaces : from whoever holds it, who leads no more

    InputError `store-in-use` where another holds it.
    """

    def __init__(self, directory: Path, *, replaces: bool = False) -> None:
        path = directory / LOCK
        if replaces:  # the file that is held has no name any more
            path.unlink(missing_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.check(directory)
        except OSError as error:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            who = f"the process {holder}" if holder.isdigit() else "another process"
            raise _in_use(directory, who) from error
        except BaseException:
            os.close(self._file)
            raise
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError:
            pass  # a full disk: the lock holds all the same, only nobody will be told by whom

    def check(self, directory: Path) -> None:
        """InputError `store-in-use` where another has replaced it."""
        path = directory / LOCK
        if not path.exists() or path.stat().st_ino != os.fstat(self._file).st_ino:
            raise _in_use(directory, "another process")

    def release(self) -> None:
        """Let others have the directory; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _in_use(directory: Path, who: str) -> InputError:
    mend = "stop that service, or name another directory"
    return refusal("store-in-use", f"the store is in use by {who}", mend, directory)


@contextmanager
def changing_hands(directory: Path, free: Callable[[Path], object] = lambda _: None) -> Iterator[int]:
    """The file of who leads. Meanwhile nobody else changes it, begins to write, or puts a backup in the store's place.

    free : called where somebody keeps it for long

    StoreError `store-busy` where it stays so, OSError.
    """
    path = directory / NOTE
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _locked(file):
            free(path)
            if not _locked(file):
                raise StoreError("another process that stands still keeps the note of who leads", "store-busy")
        yield file
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Lock a file, which may take a moment; whether that was possible."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def has_store(directory: Path) -> bool:
    """Whether there is a store. InputError where there are only parts of one, which a new one must not meet."""
    if (directory / FILE).exists():
        return True
    names = {path.name for path in directory.glob(f"{FILE}*")}
    parts = sorted(name for name in names if not name.startswith(CREATING))
    if parts:
        what = f"the directory has no {FILE}, only parts of a store: {', '.join(parts)}"
        raise refusal("store-incomplete", what, "restore a backup, or move these files away", directory)
    return False


def settle(path: Path) -> None:
    """Make a file's name durable: what its directory says is on the disk."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
