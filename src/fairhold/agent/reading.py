"""Reads what tasks have left in the folders of their jobs, and nothing else.

A task may put anything into the place of its files: links are not followed, and only plain files and folders are read.
In the folder of a job that belongs to another user than this process, files of that user alone are: a hard link could
have put any other there.
"""

from __future__ import annotations

import base64
import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST_BYTES = 64 * 1024
"""Of a file, in one answer of an agent: longer ones would hold up what it has to say of its attempts."""
MOST_ENTRIES = 500
"""Of a folder, likewise."""
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder"}


class Piece:
    """Some of a file.

    next   : offset behind it
    is_end : there is no more at present
    """

    __slots__ = ("content", "is_end", "next")

    def __init__(self, content: bytes, following: int, *, is_end: bool) -> None:
        self.content, self.next, self.is_end = content, following, is_end


class Entry:
    """What lies in a folder.

    kind     : file, folder or other
    size     : bytes; modified : microseconds since the epoch
    """

    __slots__ = ("kind", "modified", "name", "size")

    def __init__(self, name: str, kind: str, size: int, modified: int) -> None:
        self.name, self.kind, self.size, self.modified = name, kind, size, modified


def read(jobs: str, path: str, offset: int, limit: int) -> Piece | None:
    """Bytes of the file at a path below the folder of all jobs; None where there is no plain file."""
    file = _open(jobs, path, os.O_NONBLOCK)
    if file < 0:
        return None
    try:
        return _piece(file, offset, limit) if stat.S_ISREG(os.fstat(file).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(file)


def entries(jobs: str, path: str, after: str, limit: int) -> list[Entry] | None:
    """What lies in the folder at a path, by name, from the one behind `after`; None where there is no folder."""
    folder = _open(jobs, path, os.O_DIRECTORY)
    if folder < 0:
        return None
    try:
        names = sorted((_shown(name), name) for name in os.listdir(folder))  # noqa: PTH208 - of a descriptor
        chosen = [each for each in names if each[0] > after][:limit]
        return [entry for each in chosen if (entry := _entry(folder, *each)) is not None]
    except OSError:
        return None
    finally:
        os.close(folder)


def answer(jobs: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to `read` or `list` of the service. Raises KeyError, TypeError and ValueError at anything else."""
    number, path = question["n"], str(question["path"])
    if question["type"] == "list":
        found = entries(jobs, path, str(question["after"]), min(int(question["limit"]), MOST_ENTRIES))
        rows = None if found is None else [[each.name, each.kind, each.size, each.modified] for each in found]
        return {"type": "listing", "n": number, "entries": rows}
    piece = read(jobs, path, int(question["offset"]), min(int(question["limit"]), MOST_BYTES))
    if piece is None:
        return {"type": "piece", "n": number, "content": None, "next": 0, "end": True}
    content = base64.b64encode(piece.content).decode()
    return {"type": "piece", "n": number, "content": content, "next": piece.next, "end": piece.is_end}


def _open(jobs: str, path: str, flags: int) -> int:
    """The descriptor of what is at a path; -1 where it cannot be opened, or a part of the path is a link."""
    parts = path.split("/")
    if not all(part not in {"", ".", ".."} and "\0" not in part for part in parts):
        return -1
    here = -1
    try:
        here, owner = os.open(jobs, _FLAGS | os.O_DIRECTORY), os.geteuid()
        for at, part in enumerate(parts, 1):
            inner = os.open(part, _FLAGS | (flags if at == len(parts) else os.O_DIRECTORY), dir_fd=here)
            os.close(here)
            here = inner
            owner = os.fstat(here).st_uid if at == 1 else owner
        if owner not in {os.geteuid(), os.fstat(here).st_uid}:
            raise PermissionError
    except (OSError, UnicodeError):
        if here >= 0:
            os.close(here)
        return -1
    return here


def _shown(name: str) -> str:
    """A name as people see it: one that is no text has marks in it, and cannot be asked for."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _entry(folder: int, shown: str, name: str) -> Entry | None:
    """An entry; None where it is gone meanwhile."""
    with suppress(OSError):
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "other")
        return Entry(shown, kind, seen.st_size, max(0, seen.st_mtime_ns // 1000))
    return None


def _piece(file: int, offset: int, limit: int) -> Piece:
    """What is there; a line in the place of what was left out, because it was more than an attempt may keep."""
    content = os.pread(file, limit, offset)
    size = os.fstat(file).st_size
    if offset >= size:
        return Piece(b"", offset, is_end=True)
    # Looked at after it was read: what is no hole by now was none then.
    begin = _seek(file, offset, os.SEEK_DATA, size)
    if begin > offset:
        return Piece(f"\nfairhold: {begin - offset} bytes were left out here\n".encode(), begin, is_end=False)
    hole = _seek(file, offset, os.SEEK_HOLE, size)
    content = content[: hole - offset]
    return Piece(content, offset + len(content), is_end=len(content) < limit and offset + len(content) >= size)


def _seek(file: int, offset: int, what: int, default: int) -> int:
    try:
        return os.lseek(file, offset, what)
    except OSError:  # there is none behind this place
        return default
