"""The agent's command line.

    python -m fairhold.agent --directory DIR --connect unix:PATH|tcp:HOST:PORT[,...] --host NAME --secret FILE

Also as `python -I -S …/fairhold/agent/__main__.py`, which starts twice as fast.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import time

from fairhold.agent import accounts, groups
from fairhold.agent.accounts import Accounts
from fairhold.agent.agent import Agent, log
from fairhold.agent.link import addresses_of, check_identity, read_secret
from fairhold.agent.spool import Spool, is_full

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")

_USAGE = (
    "usage: python -m fairhold.agent --directory DIR --connect unix:PATH|tcp:HOST:PORT[,...]|tls:HOST:PORT[,...] "
    "--host NAME "
    "[--secret FILE] [--slots N] [--label NAME=VALUE]... [--groups auto|none|HIERARCHY]\n"
    "       [--run-as agent|submitter] [--least-uid N] [--accounts FILE] [--limit NAME=SOFT[:HARD]]..."
)
_WORDS = ("directory", "connect", "host", "secret")
_LOCK_PATIENCE = 0.5
"""Seconds: a supervisor that was forked the moment before the last agent died gives its lock back at once."""
_LOOK = 1.0
"""Seconds between two looks whether a full disk has room."""


def main(words: Sequence[str]) -> int:
    """Run an agent until SIGTERM; the exit code: 0, 1 where it cannot run, 2 for words that it does not know."""
    if "--help" in words:
        os.write(1, f"{_USAGE}\n".encode())
        return 0
    try:
        options, repeated = _read(words)
        addresses = addresses_of(options["connect"])
        address = addresses[0]
        slots, people = int(options["slots"]), _accounts(options, repeated["limit"])
    except ValueError as error:
        log(f"{error}\n{_USAGE}")
        return 2
    directory = os.path.abspath(options["directory"])  # noqa: PTH100
    try:
        room = _Room(directory)
        room.wait(lambda: os.makedirs(directory, 0o700, exist_ok=True))  # noqa: PTH103
        if people:
            room.wait(lambda: accounts.check_host(directory, is_own=bool(address.path)))
        secret = directory if address.is_secure else read_secret(options["secret"])
        if address.is_secure:
            check_identity(directory)
        if not _lock(directory, room):
            return 1
        key = hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:12]
        base = _find_base(key, options["groups"])
        spool = room.wait(lambda: Spool(f"{directory}/spool"))
        room.wait(spool.name)
        room.wait(lambda: spool.raise_last(spool.last()))  # the file is there before the first start
        agent = Agent(
            directory, spool, addresses, secret,
            host=options["host"], slots=slots, base=base, labels=repeated["label"], accounts=people,
        )  # fmt: skip
        os.chdir("/")
        gc.collect()
        gc.freeze()  # so that supervisors share these pages
        agent.serve()
    except (OSError, ValueError) as error:
        log(str(error))
        return 1
    return 0


def _read(words: Sequence[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Options, and those that may be repeated."""
    options = {"groups": "auto", "slots": "0", "run-as": "agent", "least-uid": str(accounts.LEAST_UID), "accounts": ""}
    repeated: dict[str, list[str]] = {"label": [], "limit": []}
    for name, value in zip(words[::2], words[1::2], strict=False):
        if not value:
            raise ValueError(f"{name} is empty")
        if name[2:] in repeated:
            repeated[name[2:]].append(value)
            continue
        if not name.startswith("--") or name[2:] not in {*_WORDS, *options}:
            raise ValueError(f"{name} is not known")
        options[name[2:]] = value
    if options.get("connect", "").startswith("tls:"):
        options.setdefault("secret", "")  # its certificate says who it is
    missing = [name for name in _WORDS if name not in options]
    if missing or len(words) % 2:
        raise ValueError(f"--{missing[0]} is missing" if missing else f"{words[-1]} has no value")
    return options, repeated


def _accounts(options: dict[str, str], limits: Sequence[str]) -> Accounts | None:
    """Who runs what is started, None = this process. Raises ValueError."""
    if options["run-as"] not in {"agent", "submitter"}:
        raise ValueError(f"--run-as {options['run-as']}: write agent or submitter")
    made = Accounts(int(options["least-uid"]), options["accounts"], dict(map(accounts.read_limit, limits)))
    return made if options["run-as"] == "submitter" else None


def _find_base(key: str, wanted: str) -> str:
    if wanted == "none":
        return ""
    base = groups.find_base(key, "" if wanted == "auto" else wanted)
    if not base and wanted != "auto":
        log(f"no control groups can be made in {wanted}; attempts have none")
    return base


class _Room:
    """Waits for room on the disk of a directory, and says so once."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._is_told = False

    def wait(self, action: Callable[[], T]) -> T:
        """What the action gives as soon as the disk is not full. Raises its other errors."""
        while True:
            try:
                return action()
            except OSError as error:
                if not is_full(error):
                    raise
            if not self._is_told:
                self._is_told = True
                log(f"the disk is full: cannot write to {self._directory}; the agent starts when there is space")
            time.sleep(_LOOK)


def _lock(directory: str, room: _Room) -> bool:
    """Be the only agent of a directory, as long as this process lives."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = room.wait(lambda: os.open(f"{directory}/agent.lock", flags, 0o600))
    give_up = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > give_up:
                other = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                log(f"another agent, process {other}, serves {directory}; only one can")
                return False
            time.sleep(0.02)
    room.wait(lambda: os.pwrite(descriptor, f"{os.getpid():<19}\n".encode(), 0))
    return True
