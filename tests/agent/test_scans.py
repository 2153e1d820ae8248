"""How often an agent reads all of /proc for an attempt whose supervisor is gone."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent import processes
from fairhold.agent.attempts import Attempts
from fairhold.agent.order import Order
from fairhold.agent.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUPERVISOR = 4001
NOBODY = 5_000_000
"""No process has such a number."""


def process(pid: int) -> processes.Process:
    """One that the agent has taken in, and that no signal reaches."""
    return processes.Process(pid, [b"S", str(os.getpid()).encode(), *[b"0"] * 17, b"1"])


class Host:
    """An attempt whose supervisor is gone; scans : how often /proc was read since, seen : what is there"""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.over: list[tuple[int, dict[str, Any]]] = []
        self.scans = 0
        self.seen: Callable[[int], list[processes.Process]] = lambda _: []
        self.spool = Spool(str(place / "spool"))
        told = lambda *of: self.over.append(of)  # noqa: E731
        self.attempts = Attempts(self.spool, "", running=lambda *_: None, over=told, watch=lambda _: None)
        files = {"output": "jobs/1/1.out", "reclaim_file": "jobs/1/1.reclaim"}
        self.attempts.prepare(Order({"attempt": 1, "token": "t", "argv": ["true"], **files}, str(place)))
        monkeypatch.setattr(os, "fork", lambda: SUPERVISOR)
        self.attempts.fork()
        self.attempts.held[1].command = 4002
        ended = [(SUPERVISOR, 0), (0, 0)]
        monkeypatch.setattr(os, "waitpid", lambda *_: ended.pop(0))
        monkeypatch.setattr(processes, "survey", self._survey)
        self.attempts.reap()

    def _survey(self) -> list[processes.Process]:
        self.scans += 1
        return self.seen(self.scans)

    def pass_time(self, seconds: float) -> None:
        """Do what is due until then, on a clock of its own."""
        at = 0.0
        while (at := max(at, self.attempts.due())) < seconds:
            self.attempts.tend(at)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def test_an_attempt_is_over_after_one_scan_where_its_spool_is_gone(host: Host, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "spool")
    host.pass_time(60)
    assert host.scans == 1
    assert host.attempts.is_idle()
    ((attempt, record),) = host.over
    assert (attempt, record["reason"]) == (1, "supervisor_lost")


def test_a_record_that_cannot_be_written_needs_no_other_scan(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.spool.advance(1, "order", "alive")
    host.spool.write(1, (512, 256), {"boot": host.attempts.boot})
    settle, tries = host.spool.settle, []

    def full(*of: Any) -> None:
        tries.append(of)
        if len(tries) < 5:
            raise OSError(errno.ENOSPC, "no room")
        settle(*of)

    monkeypatch.setattr(host.spool, "settle", full)
    host.pass_time(60)
    assert (len(tries), host.scans) == (5, 1)
    assert [record["reason"] for _, record in host.over] == ["supervisor_lost"]


def test_what_no_signal_ends_is_looked_for_once_a_second(host: Host) -> None:
    host.seen = lambda _: [process(NOBODY)]
    host.pass_time(60)
    assert 50 < host.scans < 70
    assert host.over == []


def test_what_goes_on_forking_is_looked_for_without_a_pause(host: Host) -> None:
    host.seen = lambda scan: [process(NOBODY + scan)]
    host.pass_time(1)
    assert host.scans >= 50
