"""kill -9 of service, agent and supervisors at random moments: nothing accepted is lost, nothing runs twice unseen."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fairhold.ports import Filter
from fairhold.store.opening import open_store

LONGEST = 60.0


class Service:
    """The service under attack, restarted whenever it has been killed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "work").mkdir()
        self.accepted: dict[str, tuple[str, int]] = {}
        self.asked: dict[str, tuple[str, int]] = {}
        self.log = (directory / "log").open("a")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.serving", str(self.directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "open\n", (self.directory / "log").read_text()

    def say(self, line: str) -> str:
        """Send a line and read the answer; empty where the service died meanwhile."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError:
            return ""
        return self.process.stdout.readline().strip()

    def submit(self, key: str, consumer: str, count: int) -> None:
        """Ask again with the same key until it is answered."""
        self.asked[key] = (consumer, count)
        answer = self.say(f"{key} {consumer} {count}")
        if answer:
            self.accepted[key] = (answer.split()[1], count)

    def status(self) -> dict[str, object]:
        answer = self.say("status")
        document: dict[str, object] = json.loads(answer.removeprefix("status ")) if answer else {}
        return document

    def kill(self) -> None:
        self.process.kill()
        self.leave()
        self.start()
        for key, (consumer, count) in self.asked.items():
            if key not in self.accepted:
                self.submit(key, consumer, count)

    def leave(self) -> None:
        """Wait for the end of the process and let go of its pipes."""
        self.process.wait(LONGEST)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("close\n")
        self.process.stdin.flush()
        self.leave()
        self.log.close()


def processes(directory: Path, word: str) -> list[int]:
    """Processes of this storm with a word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(directory) in command and word in command:
                found.append(int(entry.name))
    return found


def until(what: Callable[[], bool], service: Service | None = None) -> None:
    end = time.monotonic() + LONGEST
    while not what():
        assert time.monotonic() < end, service.status() if service else "it takes too long"
        time.sleep(0.02)


def storm(directory: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    service = Service(directory)
    for number in range(kills):
        service.submit(f"k{number}", dice.choice(["/A", "/B"]), dice.randint(1, 6))
        time.sleep(dice.random() * 0.15)
        victim = dice.choice(["service", "agent", "supervisor", "supervisor"])
        if victim == "service":
            service.kill()
            continue
        agents = processes(directory, "/agent/__main__.py")  # a supervisor is a fork of its agent
        lock = directory / "state/agent.lock"
        locked = lock.read_text().split() if agents and lock.exists() else []
        agent = int(locked[0]) if locked and locked[0].isdigit() else 0
        choice = [agent] if victim == "agent" else [pid for pid in agents if pid != agent]
        if choice and choice[0]:
            with suppress(ProcessLookupError):
                os.kill(dice.choice(choice), signal.SIGKILL)
    until(lambda: service.status().get("jobs") == 0, service)
    status = service.status()
    assert (status["attempts"], status["held"], status["used"]) == (0, 0, [0])
    service.close()
    until(lambda: not processes(directory, str(directory)))
    judge(directory, service)


def judge(directory: Path, service: Service) -> None:
    work = directory / "work"
    assert not (work / "twice").exists(), (work / "twice").read_text()
    store = open_store(directory / "state")
    try:
        assert service.accepted.keys() == service.asked.keys()
        assert store.check() == ()
        for key, (job, count) in service.accepted.items():
            done = store.job(job)
            assert done is not None, f"{key} was accepted and is lost"
            attempts = store.tasks(Filter(job=job), limit=10_000).rows
            ends = {task.task for task in attempts if task.state in {"done", "failed"}}
            assert ends == set(range(count)), f"{key}: tasks without an end"
            for index in range(count):
                path = work / f"{key}.{index}.starts"
                starts = path.read_text().split() if path.exists() else []
                recorded = [str(task.number) for task in attempts if task.task == index]
                assert set(starts) <= set(recorded), f"{key}.{index}: a start that nobody recorded"
                assert len(starts) == len(set(starts)), f"{key}.{index}: one attempt ran twice"
    finally:
        store.close()


def test_nothing_is_lost_and_nothing_runs_twice_in_a_short_storm(tmp_path: Path) -> None:
    storm(tmp_path, 14, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_lost_and_nothing_runs_twice_in_a_long_storm(tmp_path: Path, seed: int) -> None:
    storm(tmp_path, 50, 100 + seed)
