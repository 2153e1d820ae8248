"""Deletes the folders of jobs that the service has forgotten, in small steps. The service is asked first.

The agent names folders that have not changed for long; the service answers which jobs it has forgotten. Neither keeps a
list: a question lost with a connection, or an unfinished deletion, comes up again at the next look.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from contextlib import contextmanager, suppress
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

EVERY = 600.0
"""Seconds between two looks at all folders."""
SOME = 200
"""Folders that are looked at in one step."""
_STEP, _PAUSE = 0.002, 0.02
"""Seconds that deleting goes on for, and then lets the rest of the agent do its work."""
_GOING = "forgotten"
"""How the name of a folder ends that is to be deleted: nobody has to be asked again."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEVER = float("inf")


class Clearing:
    """The folders `jobs/NUMBER` below the agent's directory."""

    def __init__(self, directory: str) -> None:
        self._path = f"{directory}/jobs"
        self._keep: float | None = None
        self._look_at = self._next_at = 0.0
        self._listing: Iterator[os.DirEntry[str]] | None = None
        self._is_asked = False
        self._doomed: deque[str] = deque()
        self._at_hand: Iterator[None] | None = None

    def welcome(self, keep: float | None) -> None:
        """A connection begins: keep folders for so many seconds, None = for ever. Open questions are asked again."""
        if self._is_asked or keep != self._keep:
            self._is_asked, self._listing, self._look_at = False, None, 0.0
        self._keep = keep

    @property
    def due(self) -> float:
        """When `step` has something to do."""
        if self._at_hand is not None or self._doomed:
            return self._next_at
        if self._is_asked or self._keep is None:
            return _NEVER
        return self._look_at if self._listing is None else self._next_at

    def step(self, instant: float) -> list[str]:
        """Do a short step; returns folders to ask the service about, often none."""
        if instant < self.due:
            return []
        self._next_at = instant + _PAUSE
        if self._at_hand is not None or self._doomed:
            self._delete()
            return []
        found = self._look(instant)
        self._is_asked = bool(found)
        return found

    def answer(self, names: Iterable[str]) -> None:
        """The service's answer: these jobs are forgotten; the other folders of the question stay."""
        self._is_asked = False
        self._doomed += filter(_is_number, names)

    def _look(self, instant: float) -> list[str]:
        """Some of the folders: those that are to be asked about."""
        found, seen = [], 0
        try:
            if self._listing is None:
                self._listing = os.scandir(self._path)
            for entry in islice(self._listing, SOME):
                seen += 1
                number, _, end = entry.name.partition(".")
                if not _is_number(number) or not entry.is_dir(follow_symlinks=False):
                    continue
                if end == _GOING:
                    self._doomed.append(number)
                elif not end and self._is_old(entry):
                    found.append(number)
        except OSError:  # there is no such directory yet
            seen = 0
        if seen < SOME:
            self._listing, self._look_at = None, instant + EVERY
        return found

    def _is_old(self, entry: os.DirEntry[str]) -> bool:
        age = time.time() - entry.stat(follow_symlinks=False).st_mtime
        return self._keep is not None and age > self._keep

    def _delete(self) -> None:
        """Go on with deleting for a short time."""
        end = time.monotonic() + _STEP
        while self._at_hand is not None or self._doomed:
            self._at_hand = self._at_hand or _delete(self._path, self._doomed.popleft())
            try:
                next(self._at_hand)
            except (StopIteration, OSError):  # what cannot be deleted is tried again with the next look
                self._at_hand = None
            if time.monotonic() >= end:
                return


def _is_number(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isdecimal()


def _delete(path: str, number: str) -> Iterator[None]:
    """Delete the folder of a job in many steps. It is renamed first, to mark it as being deleted. Raises OSError."""
    going = f"{number}.{_GOING}"
    with _opened(path) as place:
        with suppress(OSError):  # one of that name is still being deleted
            if stat.S_ISDIR(os.stat(number, dir_fd=place, follow_symlinks=False).st_mode):
                os.rename(number, going, src_dir_fd=place, dst_dir_fd=place)
        with _opened(going, place) as top:
            _let_write(top)
            while (yield from _thin_out(top)):
                pass
        os.rmdir(going, dir_fd=place)


def _thin_out(top: int) -> Generator[None, None, bool]:
    """Delete what is in a directory, without following links or leaving the file system; whether anything has changed.

    Contents of a subdirectory are moved up one level, so that any depth works.
    """
    has_changed = False
    with os.scandir(top) as entries:
        for entry in entries:
            yield
            if entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    has_changed |= yield from _lift(entry.name, top)
                has_changed |= _tried(os.rmdir, entry.name, top)
            else:
                has_changed |= _tried(os.unlink, entry.name, top)
    return has_changed


def _lift(name: str, top: int) -> Generator[None, None, bool]:
    """Delete the files of a directory and move its directories to `top`; whether anything has changed."""
    has_changed = False
    with _opened(name, top) as inner:
        if os.fstat(inner).st_dev != os.fstat(top).st_dev:
            return False
        _let_write(inner)
        with os.scandir(inner) as entries:
            for entry in entries:
                yield
                if entry.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        os.rename(entry.name, f".{os.urandom(8).hex()}", src_dir_fd=inner, dst_dir_fd=top)
                        has_changed = True
                else:
                    has_changed |= _tried(os.unlink, entry.name, inner)
    return has_changed


@contextmanager
def _opened(name: str, inside: int | None = None) -> Iterator[int]:
    """A directory, no link to one."""
    descriptor = os.open(name, _FOLDER, dir_fd=inside)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _let_write(directory: int) -> None:
    """Some programs leave directories from which nothing can be deleted."""
    with suppress(OSError):
        os.fchmod(directory, 0o700)


def _tried(remove: Callable[..., None], name: str, directory: int) -> bool:
    try:
        remove(name, dir_fd=directory)
    except OSError:
        return False
    return True
