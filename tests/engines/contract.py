"""What every engine has to do, tried with real work; `ENGINES` lists those there are."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.engines.local import LocalEngine
from fairhold.engines.orphans import Orphans
from fairhold.model.job import Job
from fairhold.orchestrator.instructions import Notify, Start, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairhold.orchestrator.events import Outcome, TaskEnded
    from fairhold.ports import Engine

    MakeEngine = Callable[[dict[str, Job], Path, Callable[[str], None]], Engine]

PATHS = ("/", "/A")
PATIENT = 60.0
"""Seconds after which a test gives up; a busy machine may take long."""


def local(jobs: dict[str, Job], output: Path, complain: Callable[[str], None]) -> Engine:
    orphans = Orphans()
    orphans.adopt()
    return LocalEngine(jobs, PATHS, output, complain, orphans=orphans)


ENGINES: dict[str, MakeEngine] = {"local": local}


class Bench:
    """An engine with jobs that a test adds, and everything it said."""

    def __init__(self, make: MakeEngine, output: Path) -> None:
        self.output = output
        self.jobs: dict[str, Job] = {}
        self.complaints: list[str] = []
        self.engine = make(self.jobs, output, self.complaints.append)
        self.ended: dict[int, Outcome] = {}
        self._next = 0

    def python(self, code: str, *arguments: str, **more: Any) -> int:
        """Start one attempt of a Python program; returns its number."""
        return self.start((sys.executable, "-c", code, *arguments), **more)

    def start(self, argv: Sequence[str], index: int = 0, number: int = 1, **more: Any) -> int:
        self._next += 1
        name = f"job-{self._next}"
        self.jobs[name] = Job(name, 1, "compute", tuple(argv), **more)
        self.engine.execute([Start(self._next, name, index, number, "compute", "")])
        return self._next

    def wait(self, *attempts: int) -> list[Outcome]:
        """How these attempts ended; waits for them."""
        deadline = time.monotonic() + PATIENT
        while not all(attempt in self.ended for attempt in attempts):
            assert time.monotonic() < deadline, f"{set(attempts) - set(self.ended)} did not end"
            self.take(self.engine.events(1.0))
        return [self.ended[attempt] for attempt in attempts]

    def take(self, events: Sequence[TaskEnded]) -> None:
        for event in events:
            assert event.attempt not in self.ended, "an end is told once"
            self.ended[event.attempt] = event.outcome

    def file(self, attempt: int, ending: str = "out", index: int = 0, number: int = 1) -> Path:
        return self.output / f"job-{attempt}" / f"{index}.{number}.{ending}"

    def printed(self, attempt: int) -> str:
        return self.file(attempt).read_text()

    def wait_for_text(self, attempt: int, text: str) -> str:
        """What an attempt has printed when `text` is in it."""
        until(lambda: self.file(attempt).exists() and text in self.printed(attempt))
        return self.printed(attempt)

    def notify(self, attempt: int, deadline: int = 0, taker: str = "/B") -> None:
        self.engine.execute([Notify(attempt, deadline, "quota", taker)])

    def stop(self, attempt: int) -> None:
        self.engine.execute([Stop(attempt)])


@contextmanager
def opened(make: MakeEngine, output: Path) -> Iterator[Bench]:
    bench = Bench(make, output)
    try:
        yield bench
    finally:
        bench.engine.close()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is over and not waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def until_gone(*pids: int) -> None:
    until(lambda: not any(map(is_alive, pids)))


def reclaim_file(bench: Bench, attempt: int) -> dict[str, object]:
    content = json.loads(bench.file(attempt, "reclaim.json").read_text())
    assert isinstance(content, dict)
    return content


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def own_children() -> set[str]:
    """Children of this process, those that are over and not waited for included."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}
