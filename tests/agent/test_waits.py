"""How long a supervisor waits, and what a notice that is said again changes; in the test's own process."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent import supervisor
from fairhold.agent.order import Order
from fairhold.agent.spool import NOTICE, Spool, write_line
from fairhold.agent.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR = 3600.0


class Asleep:
    """The host's clock, and a wait that it does not count while it sleeps."""

    def __init__(self) -> None:
        self.instant = 1_000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.instant

    def wait(self, _signals: object, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Asleep:
    clock = Asleep()
    monkeypatch.setattr(supervisor, "now", clock.now)
    monkeypatch.setattr(signal, "sigtimedwait", clock.wait)
    return clock


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "spool").mkdir()
    descriptor = Spool(str(tmp_path / "spool")).create(1, "token")
    yield descriptor
    os.close(descriptor)


def watching(tmp_path: Path, file: int, lease: float | None) -> Supervisor:
    order = Order(
        {
            "type": "start", "attempt": 1, "token": "token", "argv": ["true"], "environment": {}, "directory": "/",
            "stdin": "", "output": "1.out", "reclaim_file": "1.json", "job_directory": "1.dir", "time_limit": 0.0,
            "memory": 0, "output_limit": 0, "signal": int(signal.SIGTERM), "lead": HOUR, "weight": 100,
        },
        str(tmp_path),
    )  # fmt: skip
    return Supervisor(order, Spool(str(tmp_path / "spool")), file, -1, lease=lease, base="", group="")


def told(seconds: float, deadline: int, clock: Asleep) -> dict[str, Any]:
    return {"until": clock.instant + seconds, "deadline": deadline, "reason": "quota", "for": "/A", "cycle": 1}


@pytest.mark.parametrize(("lease", "longest"), [(1_000 + HOUR / 2, 1.0), (1_000.5, 0.5), (None, HOUR)])
def test_a_lease_that_ends_while_the_host_sleeps_is_seen_soon_after(
    tmp_path: Path, file: int, asleep: Asleep, lease: float | None, longest: float
) -> None:
    watching(tmp_path, file, lease)._wait()
    assert asleep.waits == [longest]


def test_so_is_a_deadline(tmp_path: Path, file: int, asleep: Asleep) -> None:
    watch = watching(tmp_path, file, None)
    write_line(file, NOTICE, told(2 * HOUR, 1, asleep))
    watch._read_notice()
    watch._wait()
    assert asleep.waits == [1.0]


def test_a_notice_that_is_said_again_makes_no_grace_longer(tmp_path: Path, file: int, asleep: Asleep) -> None:
    watch = watching(tmp_path, file, None)
    write_line(file, NOTICE, told(60, 5, asleep))
    watch._read_notice()
    asleep.instant += 30
    for seconds, deadline, left in ((45, 5, 30), (20, 5, 20), (45, 6, 45)):
        write_line(file, NOTICE, told(seconds, deadline, asleep))
        watch._read_notice()
        assert watch._deadline == asleep.instant + left
