"""Starts the command of an attempt, without a shell and without a trace of the supervisor in it."""

from __future__ import annotations

import errno
import math
import os
import signal
from contextlib import nullcontext, suppress

from fairhold.agent.accounts import AccountError
from fairhold.agent.order import PLAIN_WEIGHT
from fairhold.agent.spool import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import NoReturn

    from fairhold.agent.accounts import Account, Accounts
    from fairhold.agent.order import Order

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_LONGEST_WORD = 100
_NEVER_DEFAULT = (signal.SIGKILL, signal.SIGSTOP)
_ALL = tuple(int(number) for number in signal.valid_signals() if number not in _NEVER_DEFAULT)
_HOST_IS_FULL = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO)

_ACCOUNT_IS_FULL = (errno.EAGAIN, errno.EDQUOT)
"""Of these, those that say of an account that it has used up what it may have."""
_IN_ITS_PLACE = (errno.EISDIR, errno.ELOOP, errno.ENXIO)


class NotStartedError(Exception):
    """The command cannot be started.

    reason : `not_started`, it is the command's fault, `refused`, it is the host's, or `no_account`, there is nobody
             as whom it could run
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Runner:
    """As whom a command runs and its files are touched.

    account  : None = as this process
    accounts : where the account is from
    """

    def __init__(self, accounts: Accounts | None = None, account: Account | None = None) -> None:
        self._accounts, self._account = accounts, account

    @classmethod
    def of(cls, order: Order, accounts: Accounts | None) -> Runner:
        """Who runs an order. Raises NotStartedError `no_account`."""
        try:
            return cls(accounts, accounts.of(order.user, order.account) if accounts else None)
        except AccountError as error:
            raise NotStartedError("no_account", str(error)) from error

    def acting(self) -> AbstractContextManager[None]:
        """Touch the files of the attempt with no more rights than it has itself."""
        return self._account.acting() if self._account else nullcontext()

    def launch(self, order: Order) -> tuple[int, int]:
        """Start the command of an order; its number, and a descriptor of its output. Raises NotStartedError.

        It leads a session of its own. Where there is no account, this process is left in the command's directory, so
        that its words may be relative to that.
        """
        if self._account:
            _hand_over(os.path.dirname(order.output), self._account)  # noqa: PTH120
        try:
            with self.acting():
                output = _open_output(order)
        except (OSError, ValueError) as error:
            reason = self._at_fault(error)
            what = refusal(error, f"cannot write to {_shown(order.output)}: {_why(error)}")
            raise NotStartedError(reason, what) from error
        try:
            pid = self._fork(order, output) if self._account else _spawn(order, output)
        except NotStartedError as error:
            with suppress(OSError):
                os.write(output, f"fairhold: {error}\n".encode(errors="replace"))
            os.close(output)
            raise
        if order.weight != PLAIN_WEIGHT:
            _weigh(pid, order.weight)
        return pid, output

    def _at_fault(self, error: Exception) -> str:
        """Why an output cannot be written: of the task where others of its job, or its account, are the cause."""
        number = getattr(error, "errno", 0)
        if self._account:
            return "refused" if number in _HOST_IS_FULL and number not in _ACCOUNT_IS_FULL else "not_started"
        return "not_started" if number in _IN_ITS_PLACE else "refused"

    def _fork(self, order: Order, output: int) -> int:
        """Start a command as its account: what needs the account's own rights is done by the new process."""
        heard, told = os.pipe2(os.O_CLOEXEC)
        try:
            source = _open_input(order.stdin)
            try:
                pid = os.fork()
                if not pid:
                    self._be_command(order, source, output, told)
            finally:
                os.close(source)
        except OSError as error:
            os.close(heard)
            raise NotStartedError("refused", refusal(error, f"cannot start a process: {_why(error)}")) from error
        finally:
            os.close(told)
        with open(heard, "rb") as file:  # noqa: PTH123
            said = file.read().decode(errors="replace")  # to its end: the command has begun, or there is none
        if said:
            os.waitpid(pid, 0)
            reason, _, detail = said.partition(" ")
            raise NotStartedError(reason, detail)
        return pid

    def _be_command(self, order: Order, source: int, output: int, told: int) -> NoReturn:
        """In the new process: become the command, or say why not and end."""
        assert self._account is not None
        assert self._accounts is not None
        reason, what = "refused", f"cannot become the account {self._account.name}"
        try:
            os.setsid()
            self._accounts.limit()
            self._account.become()
            reason, what = "not_started", f"cannot work in the directory {_shown(order.directory)}"
            os.chdir(order.directory)
            what = f"cannot start {_shown(order.argv[0])}"
            environment = {**order.environment, **self._account.variables()}
            program = _find(order.argv[0], environment.get("PATH", _DEFAULT_PATH))
            for descriptor, place in ((source, 0), (output, 1), (output, 2)):
                os.dup2(descriptor, place)
            for number in _ALL:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.execve(program, order.argv, environment)  # noqa: S606 - no shell is wanted
        except Exception as error:  # noqa: BLE001 - told to the supervisor, whatever it is
            number = getattr(error, "errno", 0)
            is_full = number in _HOST_IS_FULL and number not in _ACCOUNT_IS_FULL
            why = _why(error) if order.argv[0] else "the command is empty"
            with suppress(OSError):
                os.write(told, f"{'refused' if is_full else reason} {refusal(error, f'{what}: {why}')}".encode())
        finally:
            os._exit(1)  # this process may not go on as a supervisor


def _hand_over(folder: str, account: Account) -> None:
    """Make the folder of a job for an account, in one that root alone can write to. Raises NotStartedError."""
    try:
        _make(folder, 0o700)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            owner = os.fstat(descriptor).st_uid
            if owner == os.geteuid():
                os.fchown(descriptor, account.uid, account.gid)
                owner = account.uid
        finally:
            os.close(descriptor)
    except OSError as error:
        what = refusal(error, f"cannot make the folder {_shown(folder)}: {_why(error)}")
        raise NotStartedError("refused", what) from error
    if owner != account.uid:
        what = f"the folder of the job belongs to uid {owner}, not to the account {account.name!r}"
        raise NotStartedError("no_account", what)


def _open_output(order: Order) -> int:
    if order.job_directory:
        _make(order.job_directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(order.output, flags, 0o644)
    except FileNotFoundError:
        _make(os.path.dirname(order.output))  # noqa: PTH120
        return os.open(order.output, flags, 0o644)


def _make(directory: str, mode: int = 0o777) -> None:
    """Make a directory with those above it. As `os.makedirs`, which looks at them all before it makes any."""
    try:
        os.mkdir(directory, mode)  # noqa: PTH102
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make(os.path.dirname(directory))  # noqa: PTH120
        _make(directory, mode)


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
