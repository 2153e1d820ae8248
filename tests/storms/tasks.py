"""Commands of tasks: how long they run, what they start, and how they take a signal."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.storms.kernel import SECOND, Process

if TYPE_CHECKING:
    from random import Random

    from tests.storms.judge import Judge
    from tests.storms.kernel import Kernel

YIELDED = 75


class Tasks:
    """Starts them."""

    def __init__(self, kernel: Kernel, judge: Judge) -> None:
        self.kernel, self.judge = kernel, judge

    def launch(self, parent: Process, environment: dict[str, str]) -> Process:
        """A supervisor starts a command."""
        process = Process(parent.host, "command", parent)
        process.mark = f"FAIRHOLD_MARK={environment['FAIRHOLD_MARK']}".encode()
        key = (environment["FAIRHOLD_JOB"], int(environment["FAIRHOLD_TASK"]), int(environment["FAIRHOLD_ATTEMPT"]))
        random = self.kernel.random
        Command(process, random, self.judge, key)
        process.on_end = lambda: self.judge.has_ended(key, process)
        self.judge.has_begun(key, process)
        if random.random() < 0.15:
            self.kernel.after(int(random.random() * 20 * SECOND), lambda: self._fork(process, key))
        return process

    def _fork(self, parent: Process, key: tuple[str, int, int]) -> bool:
        """A command starts another process, which may outlive it."""
        if parent.is_doomed:
            return False
        random = self.kernel.random
        child = Process(parent.host, "command", parent)
        child.mark = parent.mark if random.random() < 0.8 else b""
        child.on_end = lambda: self.judge.has_ended(key, child)
        self.judge.has_forked(key, child)
        self.kernel.after(int(random.random() * 60 * SECOND), lambda: child.end(0))
        return True


class Command:
    """What one command does."""

    def __init__(self, process: Process, random: Random, judge: Judge, key: tuple[str, int, int]) -> None:
        self.process, self.random, self.judge, self.key = process, random, judge, key
        kernel = process.host.kernel
        long = random.random() < 0.2
        seconds = random.random() * (400 if long else 20)
        code = random.choice((0, 0, 0, 0, 0, 0, 0, 1, 3, YIELDED)) << 8
        kernel.after(int(seconds * SECOND), lambda: None if process.is_doomed else process.end(code))
        self.manner = random.choice(("dies", "dies", "saves", "finishes", "ignores"))
        process.on_signal = self.hear

    def hear(self, number: int) -> None:
        """A signal comes."""
        if number == signal.SIGCONT:
            return
        self.judge.is_told(self.key, self.process)
        status = {"dies": number, "saves": YIELDED << 8, "finishes": 0}.get(self.manner)
        if status is not None:
            kernel, process = self.process.host.kernel, self.process
            delay = int(self.random.random() ** 3 * 10 * SECOND)
            kernel.after(delay, lambda: None if process.is_doomed else process.end(status))
