"""Keeps the output of an attempt within its limit: its first and last part are kept, the middle is freed.

The command writes directly to its file, without a pipe: this costs nothing and outlives the supervisor. So the file is
checked from time to time, and a hole is punched in its middle. Its length still shows how much was written.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
_PUNCH_AND_KEEP_SIZE = 0x02 | 0x01
_BLOCK = 64 * 1024
"""Holes begin and end at multiples: blocks of file systems are no larger, and half a hole would be read as zeros."""
FIRST_LOOK, _LONGEST_PAUSE = 0.1, 1.0
"""Seconds until the file is looked at first, and between two looks at most."""


class Output:
    """The file of an attempt that runs.

    descriptor : open for writing; most : bytes that are kept, 0 = all
    path       : of the file, which goes where nothing was written; empty = it stays
    """

    __slots__ = ("_descriptor", "_done", "_first", "_most", "_path", "_pause")

    def __init__(self, descriptor: int, most: int, path: str) -> None:
        self._descriptor, self._most, self._path = descriptor, most, path
        self._first = self._done = -(-(most // 2) // _BLOCK) * _BLOCK
        self._pause = FIRST_LOOK

    def trim(self) -> float:
        """Free what is beyond the limit; returns the seconds until the next check."""
        size = os.fstat(self._descriptor).st_size
        end = (size - self._most // 2) // _BLOCK * _BLOCK
        is_flood = size > self._most
        if is_flood and end > self._done:
            # A file system that cannot make holes keeps everything.
            _LIBC.fallocate(self._descriptor, _PUNCH_AND_KEEP_SIZE, self._done, end - self._done)
            self._done = end
        self._pause = FIRST_LOOK if is_flood else min(2 * self._pause, _LONGEST_PAUSE)
        return self._pause

    def close(self) -> None:
        """The last look, when nothing writes any more. An empty file goes; what stands in its place is left alone."""
        if self._most:
            self.trim()
        with suppress(OSError):  # no path is no file
            mine = os.fstat(self._descriptor)
            if not mine.st_size and os.path.samestat(mine, os.lstat(self._path)):
                os.unlink(self._path)  # noqa: PTH108
        os.close(self._descriptor)
