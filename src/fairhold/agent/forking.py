"""Forks a process that is in its control group from its first instruction.

Moving a process there afterwards makes the kernel wait for every processor, several milliseconds on an idle machine:
longer than the rest of a start. So the kernel puts it there at once (`clone3`, since Linux 5.7). An older kernel or the
filter of a container may refuse; then the process is forked as usual and moves itself.
"""

from __future__ import annotations

import ctypes
import os
import signal

_CLONE3 = 435
"""Number of the call, on every architecture that Linux runs on."""
_INTO_GROUP = 0x2_0000_0000
_LIBC = ctypes.PyDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_FIELDS = 11
_FLAGS, _EXIT_SIGNAL, _GROUP = 0, 4, 10


def fork_into(group: str) -> int:
    """Fork into a group; as `os.fork`, for a process of one thread. Raises OSError where that is not possible."""
    descriptor = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        words = (ctypes.c_uint64 * _FIELDS)()
        words[_FLAGS], words[_EXIT_SIGNAL], words[_GROUP] = _INTO_GROUP, signal.SIGCHLD, descriptor
        pid: int = _LIBC.syscall(ctypes.c_long(_CLONE3), ctypes.byref(words), ctypes.c_size_t(ctypes.sizeof(words)))
        if pid < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(descriptor)
    return pid
