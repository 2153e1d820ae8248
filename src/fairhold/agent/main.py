"""The agent's command line.

    python -m fairhold.agent --directory DIR --connect unix:PATH|tcp:HOST:PORT --host NAME --slots N --secret FILE

Also as `python -I -S …/fairhold/agent/__main__.py`, which starts twice as fast.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import time

from fairhold.agent import groups
from fairhold.agent.agent import Agent, log
from fairhold.agent.link import Address, read_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = (
    "usage: python -m fairhold.agent --directory DIR --connect unix:PATH|tcp:HOST:PORT --host NAME --slots N "
    "--secret FILE [--label NAME=VALUE]... [--groups auto|none]"
)
_WORDS = ("directory", "connect", "host", "slots", "secret")
_LOCK_PATIENCE = 0.5
"""Seconds: a supervisor that was forked the moment before the last agent died gives its lock back at once."""


def main(words: Sequence[str]) -> int:
    """Run an agent until SIGTERM; the exit code: 0, 1 where it cannot run, 2 for words that it does not know."""
    try:
        options, labels = _read(words)
        address = Address(options["connect"])
        slots = int(options["slots"])
    except ValueError as error:
        log(f"{error}\n{_USAGE}")
        return 2
    directory = os.path.abspath(options["directory"])  # noqa: PTH100
    try:
        os.makedirs(directory, 0o700, exist_ok=True)  # noqa: PTH103
        secret = read_secret(options["secret"])
        if not _lock(directory):
            return 1
        key = hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:12]
        base = groups.find_base(key) if options["groups"] == "auto" else ""
        agent = Agent(directory, address, secret, host=options["host"], slots=slots, base=base, labels=labels)
        os.chdir("/")
        gc.collect()
        gc.freeze()  # so that supervisors share these pages
        agent.serve()
    except (OSError, ValueError) as error:
        log(str(error))
        return 1
    return 0


def _read(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Options, and the labels of the host."""
    options = {"groups": "auto"}
    labels = []
    for name, value in zip(words[::2], words[1::2], strict=False):
        if name == "--label":
            labels.append(value)
            continue
        if not name.startswith("--") or name[2:] not in {*_WORDS, "groups"}:
            raise ValueError(f"{name} is not known")
        options[name[2:]] = value
    missing = [name for name in _WORDS if name not in options]
    if missing or len(words) % 2:
        raise ValueError(f"--{missing[0]} is missing" if missing else f"{words[-1]} has no value")
    return options, labels


def _lock(directory: str) -> bool:
    """Be the only agent of a directory, as long as this process lives."""
    descriptor = os.open(f"{directory}/agent.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
    os.pwrite(descriptor, f"{os.getpid():<19}\n".encode(), 0)
    return True
