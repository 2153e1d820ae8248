"""kill -9 of service, agent and supervisors at random moments: nothing accepted is lost, nothing runs twice unseen."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.live.serving import SLOTS
from tests.live.storms import agents, judge, kill_one, supervisors

LONGEST = 60.0
MOST_JOBS = 5


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

    def submit(self, key: str, consumer: str, count: int, *words: str) -> None:
        """Ask again with the same key until it is answered."""
        self.asked[key] = (consumer, count)
        answer = self.say(" ".join([key, consumer, str(count), *words]))
        if answer:
            self.accepted[key] = (answer.split()[1], count)

    def status(self) -> dict[str, Any]:
        answer = self.say("status")
        document: dict[str, Any] = json.loads(answer.removeprefix("status ")) if answer else {}
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


def processes(directory: Path) -> list[int]:
    """Processes of this storm."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(directory) in command:
                found.append(int(entry.name))
    return found


def until(what: Callable[[], object], service: Service | None = None) -> None:
    end = time.monotonic() + LONGEST
    while not what():
        assert time.monotonic() < end, service.status() if service else "it takes too long"
        time.sleep(0.02)


def storm(directory: Path, kills: int, seed: int) -> None:
    dice, state = random.Random(seed), directory / "state"
    service = Service(directory)
    for number in range(kills):
        until(lambda: service.status()["jobs"] < MOST_JOBS, service)
        service.submit(f"k{number}", dice.choice(["/A", "/B"]), dice.randint(3, 9))
        until(lambda: supervisors(state) or service.status()["jobs"] == 0, service)
        time.sleep(dice.random() * 0.15)
        assert slots_in_use(service.status()) <= SLOTS
        victim = dice.choice(["service", "agent", "supervisor", "supervisor"])
        if victim == "service":
            service.kill()
        else:
            kill_one(agents(state) if victim == "agent" else supervisors(state), dice)
    until(lambda: service.status().get("jobs") == 0, service)
    service.submit("all", "/A", SLOTS, "together")  # each waits for the others: no slot has gone astray
    until(lambda: service.status().get("jobs") == 0, service)
    assert slots_in_use(service.status()) == 0
    service.close()
    until(lambda: not processes(directory))
    assert service.accepted.keys() == service.asked.keys()
    recorded = judge(directory / "work", state, service.accepted)
    reasons = Counter(each.reason for tasks in recorded.values() for attempts in tasks for each in attempts)
    assert reasons["supervisor_lost"], "nobody was hit"


def slots_in_use(status: dict[str, Any]) -> int:
    """The same for attempts, consumers and hosts."""
    assert status["attempts"] == status["held"] == sum(status["used"]), status
    return int(status["held"])


def test_nothing_is_lost_and_nothing_runs_twice_in_a_short_storm(tmp_path: Path) -> None:
    storm(tmp_path, 14, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_lost_and_nothing_runs_twice_in_a_long_storm(tmp_path: Path, seed: int) -> None:
    storm(tmp_path, 50, 100 + seed)
