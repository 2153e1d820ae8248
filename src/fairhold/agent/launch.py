"""Starts the command of an attempt, without a shell and without a trace of the supervisor in it."""

from __future__ import annotations

import errno
import math
import os
import signal
from contextlib import suppress

from fairhold.agent.order import PLAIN_WEIGHT
from fairhold.agent.spool import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fairhold.agent.order import Order

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_LONGEST_WORD = 100
_NEVER_DEFAULT = (signal.SIGKILL, signal.SIGSTOP)
_ALL = tuple(int(number) for number in signal.valid_signals() if number not in _NEVER_DEFAULT)
_HOST_IS_FULL = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO)

_IN_ITS_PLACE = (errno.EISDIR, errno.ELOOP, errno.ENXIO)


class NotStartedError(Exception):
    """The command cannot be started.

    reason : `not_started`, it is the command's fault, or `refused`, it is the host's
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def launch(order: Order) -> tuple[int, int]:
    """Start the command of an order; its number, and a descriptor of its output. Raises NotStartedError.

    It leads a session of its own.

    This process is left in the command's directory, so that its words may be relative to that.
    """
    try:
        output = _open_output(order)
    except (OSError, ValueError) as error:
        in_its_place = getattr(error, "errno", 0) in _IN_ITS_PLACE  # of a task of the same job
        reason = "not_started" if in_its_place else "refused"
        raise NotStartedError(
            reason, refusal(error, f"cannot write to {_shown(order.output)}: {_why(error)}")
        ) from error
    try:
        pid = _spawn(order, output)
    except NotStartedError as error:
        with suppress(OSError):
            os.write(output, f"fairhold: {error}\n".encode(errors="replace"))
        os.close(output)
        raise
    if order.weight != PLAIN_WEIGHT:
        _weigh(pid, order.weight)
    return pid, output


def _open_output(order: Order) -> int:
    if order.job_directory:
        _make(order.job_directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(order.output, flags, 0o644)
    except FileNotFoundError:
        _make(os.path.dirname(order.output))  # noqa: PTH120
        return os.open(order.output, flags, 0o644)


def _make(directory: str) -> None:
    """Make a directory with those above it. As `os.makedirs`, which looks at them all before it makes any."""
    try:
        os.mkdir(directory)  # noqa: PTH102
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make(os.path.dirname(directory))  # noqa: PTH120
        _make(directory)


def _spawn(order: Order, output: int) -> int:
    try:
        os.chdir(order.directory)
    except (OSError, ValueError) as error:
        detail = f"cannot work in the directory {_shown(order.directory)}: {_why(error)}"
        raise NotStartedError("not_started", detail) from error
    word = order.argv[0]
    try:
        source = _open_input(order.stdin)
        try:
            return os.posix_spawn(
                _find(word, order.environment.get("PATH", _DEFAULT_PATH)),
                order.argv,
                order.environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, source, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setsid=True,
                setsigmask=(),
                setsigdef=_ALL,
            )
        finally:
            os.close(source)
    except (OSError, ValueError) as error:
        is_full = isinstance(error, OSError) and error.errno in _HOST_IS_FULL
        detail = f"cannot start {_shown(word)}: {_why(error)}" if word else "the command is empty"
        raise NotStartedError("refused" if is_full else "not_started", refusal(error, detail)) from error


def _open_input(content: bytes) -> int:
    """What the command reads: nothing, or a file that only lives in memory."""
    if not content:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    descriptor = os.memfd_create("stdin")
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _find(word: str, path: str) -> str:
    """The file of a command, in the directories of the task's own PATH."""
    if not word or "/" in word:
        return word
    found = ""
    for directory in path.split(":"):
        candidate = f"{directory or '.'}/{word}"
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):  # noqa: PTH112
            return candidate
        if not found and os.path.exists(candidate):  # noqa: PTH110
            found = candidate  # to be told why it cannot be started
    if not found:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return found


def _weigh(pid: int, weight: int) -> None:
    """Its part of the processors; every step of `nice` is a quarter. A session may be a group of its own there."""
    nice = max(-20, min(19, round(math.log(PLAIN_WEIGHT / weight) / math.log(1.25))))
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, nice)
    with suppress(OSError), open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(str(nice))


def _shown(word: str) -> str:
    """A word of a command in a line of text: short, and no line of its own."""
    word = word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…"
    return word if word.isprintable() else repr(word)


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
