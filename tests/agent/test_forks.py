"""Several attempts that are started at once."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING, Any

from fairhold.agent.attempts import Attempts
from fairhold.agent.order import Order
from fairhold.agent.spool import Spool

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.agent.service import Service


def order(attempt: int, place: Path) -> Order:
    files = {"output": f"jobs/1/{attempt}.out", "reclaim_file": f"jobs/1/{attempt}.reclaim"}
    return Order({"attempt": attempt, "token": "token", "argv": ["true"], **files}, str(place))


def test_one_that_has_no_supervisor_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(str(tmp_path / "spool"))
    told: list[Any] = []
    made = Attempts(spool, "", running=lambda *_: None, over=lambda *_: None, watch=told.append)
    no = BlockingIOError(errno.EAGAIN, "no")
    answers: list[int | OSError] = [4001, no, no, 4003]  # it is tried twice

    def fork() -> int:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(os, "fork", fork)
    for attempt in (1, 2, 3):
        made.prepare(order(attempt, tmp_path))
    assert set(spool.attempts().values()) == {"order"}
    assert [attempt for attempt, _ in made.fork()] == [2]
    assert {attempt: held.supervisor for attempt, held in made.held.items()} == {1: 4001, 3: 4003}
    assert spool.attempts() == {1: "order", 3: "order"}
    assert made.fork() == []


def test_a_stop_right_behind_its_start_is_for_that_attempt(service: Service) -> None:
    starts = [service.start(number, "sleep", "1000") for number in (1, 2, 3)]
    stop = {"type": "stop", "attempt": 2, "reason": "cancel", "seconds": 0.0}
    service.send(*starts[:2], stop, starts[2])
    record = service.ended(2)
    assert (record["reason"], record["signal"]) in {("cancel", signal.SIGKILL), ("cancel", signal.SIGTERM)}
    for number in (1, 3):
        assert service.hear("running", number)["pid"]
