"""The agent's record of its attempts: one small file for each, whose name gives its stage.

```text
last            largest number of an attempt that was ever started here
name            identity of this spool: made once, so that two agents of one name are told apart
rank            term of the service that led last, and how far its log went
lease           until when attempts may run, microseconds on the clock that counts from the host's start, twice
ATTEMPT.order   to be started; made by the agent before it forks
ATTEMPT.alive   taken by its supervisor: the same file, renamed
ATTEMPT.exit    over: the same file again, with the exit record
N.free          forgotten, to be used again: many file systems take longer to make a file than to start a process
```

The file is one page of five lines, each a JSON object padded with blanks: the order's token, the life, the notice, the
stop, the exit. It is written whole at the beginning, so that a full disk only prevents new attempts. The first process
that renames `.order` owns the attempt: the supervisor to run it, or a later agent to settle that it never runs.
"""

from __future__ import annotations

import errno
import json
import os
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ORDER = (0, 512)
LIFE = (512, 256)
NOTICE = (768, 1536)
STOP = (2304, 256)
EXIT = (2560, 1536)
"""Where the lines are: first byte and length."""
_SIZE = 4096
_LONGEST_DETAIL = 200
_NAME = 32
_TRIES = 10
_MOST_FREE = 256
NO_SPACE = "no space: "
"""How the detail of a refusal begins that is due to a full disk: the service tries such a host again."""
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class SpoolError(Exception):
    """A line does not fit."""


class Spool:
    """The directory. Raises OSError where it cannot be read or written."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._free: set[int] = set()
        os.makedirs(directory, 0o700, exist_ok=True)  # noqa: PTH103

    def last(self) -> int:
        """The largest number that was ever started; 0 = none."""
        with suppress(FileNotFoundError, ValueError), open(self._path("last"), "rb") as file:  # noqa: PTH123
            return int(file.read())
        return 0

    def raise_last(self, attempt: int) -> None:
        """Before anything of this number or one below is started."""
        self._overwrite("last", b"%020d\n" % attempt)

    def name(self) -> str:
        """The identity of this spool, made when it is asked for the first time, and where it cannot be read."""
        with suppress(FileNotFoundError), open(self._path("name"), "rb") as file:  # noqa: PTH123
            name = file.read(_NAME + 1)
            with suppress(ValueError):
                if len(bytes.fromhex(name.decode("ascii"))) * 2 == _NAME:
                    return name.decode()
        self._replace("name", os.urandom(_NAME // 2).hex().encode())
        return self.name()

    def lease(self) -> float | None:
        """Seconds on the clock since the host's start until which attempts may run; None = for ever.

        0 where it cannot be read: who asks stops.
        """
        for _ in range(_TRIES):
            try:
                with open(self._path("lease"), "rb") as file:  # noqa: PTH123
                    one, other = file.read().split()
                if one == other:
                    return int(one) / 1e6
            except FileNotFoundError:
                return None
            except (OSError, ValueError):
                continue
        return 0.0

    def write_lease(self, until: float | None) -> None:
        """Twice, so that half of a write is noticed."""
        if until is None:
            with suppress(FileNotFoundError):
                os.unlink(self._path("lease"))  # noqa: PTH108
            return
        self._overwrite("lease", b"%020d %020d\n" % (int(until * 1e6), int(until * 1e6)))

    def rank(self) -> tuple[int, int, str]:
        """Term of the service that led last, number of the last entry of its log, and its proof; 0 and empty = none."""
        with suppress(FileNotFoundError, ValueError), open(self._path("rank"), "rb") as file:  # noqa: PTH123
            term, tail, *proof = file.read().decode("ascii").split()
            return int(term), int(tail), "".join(proof)
        return 0, 0, ""

    def write_rank(self, term: int, tail: int, proof: str) -> None:
        """Before any order of this term is carried out."""
        self._overwrite("rank", b"%020d %020d %-32.32b\n" % (term, tail, proof.encode()))

    def create(self, attempt: int, token: str) -> int:
        """The file of a new attempt, open; nothing of it stays where it cannot be written whole."""
        page = bytearray(b" " * _SIZE)
        for place, length in (ORDER, LIFE, NOTICE, STOP, EXIT):
            page[place + length - 1] = 10
        line = _line(_encode({"attempt": attempt, "token": token}), ORDER)
        page[: len(line)] = line
        if self._free:
            path = self._path(f"{self._free.pop()}.free")
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        else:
            path = self._path(f"{attempt}.free")
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            if os.pwrite(descriptor, page, 0) != _SIZE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - as the next write would say
            os.rename(path, self._path(f"{attempt}.order"))  # noqa: PTH104
        except OSError:
            os.close(descriptor)
            os.unlink(path)  # noqa: PTH108
            raise
        return descriptor

    def advance(self, attempt: int, before: str, after: str) -> None:
        """Rename `.order` to `.alive`, or that to `.exit`. Raises FileNotFoundError where somebody else has done so."""
        os.rename(self._path(f"{attempt}.{before}"), self._path(f"{attempt}.{after}"))  # noqa: PTH104

    def write(self, attempt: int, place: tuple[int, int], document: Mapping[str, Any]) -> None:
        """Write a line of an attempt that has not ended. Raises FileNotFoundError where it is, SpoolError."""
        for stage in ("order", "alive"):  # in this order it goes from one to the other
            try:
                descriptor = os.open(self._path(f"{attempt}.{stage}"), os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                if stage == "alive":
                    raise
                continue
            try:
                write_line(descriptor, place, document)
            finally:
                os.close(descriptor)
            return

    def read(self, attempt: int, stage: str, place: tuple[int, int]) -> dict[str, Any]:
        """A line of an attempt at this stage; empty where there is none, or none that can be read."""
        try:
            descriptor = os.open(self._path(f"{attempt}.{stage}"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return {}
        try:
            return read_line(descriptor, place)
        finally:
            os.close(descriptor)

    def is_at(self, attempt: int, stage: str) -> bool:
        """Whether an attempt is at this stage: order, alive or exit."""
        return os.path.exists(self._path(f"{attempt}.{stage}"))  # noqa: PTH110

    def settle(self, attempt: int, stage: str, document: Mapping[str, Any]) -> None:
        """The exit record of an attempt without a supervisor. Raises FileNotFoundError where it is past `stage`."""
        descriptor = os.open(self._path(f"{attempt}.{stage}"), os.O_RDWR | os.O_CLOEXEC)
        try:
            write_line(descriptor, EXIT, document)
        finally:
            os.close(descriptor)
        self.advance(attempt, stage, "exit")

    def attempts(self) -> dict[int, str]:
        """All attempts with their stage; what cannot be one of them is left alone."""
        found: dict[int, str] = {}
        for name in os.listdir(self._directory):  # noqa: PTH208
            number, _, stage = name.partition(".")
            if number.isdecimal() and stage in {"order", "alive", "exit"}:
                found[int(number)] = stage
            elif number.isdecimal() and stage == "free":
                self._free.add(int(number))
        return found

    def delete(self, attempt: int) -> None:
        """An attempt that is over is forgotten, and its file kept for another."""
        with suppress(FileNotFoundError):
            if len(self._free) >= _MOST_FREE:
                os.unlink(self._path(f"{attempt}.exit"))  # noqa: PTH108
                return
            self.advance(attempt, "exit", "free")
            self._free.add(attempt)

    def _path(self, name: str) -> str:
        return f"{self._directory}/{name}"

    def _overwrite(self, name: str, content: bytes) -> None:
        """Overwrite in place with the same length: a full disk cannot end a lease, and no start needs a new file."""
        try:
            descriptor = os.open(self._path(name), os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._replace(name, content)
            return
        try:
            os.pwrite(descriptor, content, 0)
        finally:
            os.close(descriptor)

    def _replace(self, name: str, content: bytes) -> None:
        """A new file, durable: once in the life of a spool. Later contents of its length are old or new, never none."""
        draft = self._path(f".{name}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(draft, self._path(name))  # noqa: PTH104
        folder = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_line(descriptor: int, place: tuple[int, int], document: Mapping[str, Any]) -> str:
    """Write a line of an attempt's file in one go; its text. Raises SpoolError where it is too long, OSError."""
    text = _encode(document)
    os.pwrite(descriptor, _line(text, place), place[0])
    return text


def read_line(descriptor: int, place: tuple[int, int]) -> dict[str, Any]:
    """A line of an attempt's file; empty where there is none, or none that can be read."""
    try:
        document = json.loads(os.pread(descriptor, place[1], place[0]))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _line(text: str, place: tuple[int, int]) -> bytes:
    line = text.encode()
    if len(line) >= place[1]:
        raise SpoolError(f"{len(line)} bytes do not fit into a line of {place[1]}")
    return line.ljust(place[1] - 1) + b"\n"


def refusal(error: Exception, what: str) -> str:
    """The detail of a refusal: what could not be done for this error."""
    return f"{NO_SPACE}{what}" if is_full(error) else what


def is_full(error: Exception) -> bool:
    """Whether an error says that the disk has no room."""
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}


def exit_record(reason: str, detail: str = "", *, code: int = -1, signal: int = 0, started: int = 0) -> dict[str, Any]:
    """An exit record without what only a supervisor can know; `started` in microseconds since the epoch."""
    return {
        "reason": reason,
        "code": code,
        "signal": signal,
        "detail": detail[:_LONGEST_DETAIL],
        "started": started,
        "ended": time.time_ns() // 1000,
        "cpu": 0,
        "peak": 0,
    }
