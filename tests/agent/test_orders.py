"""Notice, withdrawal, stop."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.service import wait_for

if TYPE_CHECKING:
    from tests.agent.service import Service

SH = "/bin/sh"
DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


def notice(attempt: int, seconds: float, **more: Any) -> dict[str, Any]:
    deadline = int((time.time() + seconds) * 1e6)
    order = {"type": "notice", "attempt": attempt, "deadline": deadline, "seconds": seconds}
    return {**order, "reason": "owned", "for": "/A/b", "cycle": 7, **more}


def begin(service: Service, script: str, **more: Any) -> None:
    """Start a script and wait until it has said `ready`."""
    service.send(service.start(1, SH, "-c", script, **more))
    service.hear("running", 1)
    wait_for(lambda: (service.state / "jobs/7/1.1.out").exists() and "ready" in service.output(1))


def test_a_notice_is_a_signal_and_a_file(service: Service) -> None:
    begin(service, "trap 'cat $FAIRHOLD_RECLAIM_FILE; exit 75' TERM; echo ready; while :; do sleep 0.05; done")
    order = notice(1, 30, deadline=1_800_000_000_250_000)
    service.send(order)
    record = service.ended(1)
    assert (record["reason"], record["code"]) == ("yielded", 75)
    told = json.loads(service.output(1).splitlines()[-1])
    assert told == {
        "reason": "owned",
        "for": "/A/b",
        "deadline": "2027-01-15T08:00:00.250000Z",
        "attempt": 1,
        "cycle": 7,
    }
    assert not (service.state / "jobs/7/1.1.reclaim.json").exists()


@pytest.mark.parametrize(
    ("answer", "reason"), [("exit 0", "finished"), ("exit 1", "reclaim"), ("trap - TERM; kill -TERM $$", "reclaim")]
)
def test_the_end_after_a_notice(service: Service, answer: str, reason: str) -> None:
    begin(service, f"trap '{answer}' TERM; echo ready; while :; do sleep 0.05; done")
    service.send(notice(1, 30))
    assert service.ended(1)["reason"] == reason


def test_who_ignores_the_signal_is_killed_at_the_deadline(service: Service) -> None:
    begin(service, DEAF)
    service.send(notice(1, 0.5))
    record = service.ended(1)
    assert (record["reason"], record["signal"], record["detail"]) == ("reclaim", 9, "stopped at its deadline")
    assert record["ended"] - record["started"] >= 500_000


def test_the_signal_comes_the_lead_before_the_deadline(service: Service) -> None:
    begin(
        service,
        "trap 'date +%s.%N; exit 75' USR2; echo ready; while :; do sleep 0.02; done",
        lead=0.5,
        signal=signal.SIGUSR2,
    )
    begun = time.time()
    service.send(notice(1, 1.2))
    assert service.ended(1)["reason"] == "yielded"
    assert 0.65 <= float(service.output(1).splitlines()[-1]) - begun < 1.2


def test_a_withdrawal_before_the_signal_leaves_no_trace(service: Service) -> None:
    begin(service, "echo ready; sleep 1; exit 0", lead=0.2)
    service.send(notice(1, 0.6))
    file = service.state / "jobs/7/1.1.reclaim.json"
    wait_for(file.exists)
    service.send({"type": "withdraw", "attempt": 1})
    wait_for(lambda: not file.exists())
    assert service.ended(1)["reason"] == "finished"


def test_who_dies_of_a_signal_that_was_withdrawn_too_late_is_not_at_fault(service: Service) -> None:
    begin(service, "trap 'sleep 0.3; exit 143' TERM; echo ready; while :; do sleep 0.02; done")
    service.send(notice(1, 30), {"type": "withdraw", "attempt": 1})
    # Both may have arrived before the supervisor looked: then there was no signal, and it goes on.
    service.send(notice(1, 30))
    time.sleep(0.1)
    service.send({"type": "withdraw", "attempt": 1})
    assert service.ended(1)["reason"] == "reclaim"


@pytest.mark.parametrize("reason", ["cancel", "requeue", "stray"])
def test_a_stop_has_its_reason(service: Service, reason: str) -> None:
    begin(service, "trap 'cat $FAIRHOLD_RECLAIM_FILE; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    service.send({"type": "stop", "attempt": 1, "reason": reason, "seconds": 30})
    assert service.ended(1)["reason"] == reason
    assert json.loads(service.output(1).splitlines()[-1])["reason"] == reason


def test_the_stop_at_a_deadline_leaves_what_the_notice_said(service: Service) -> None:
    begin(service, "trap 'cat $FAIRHOLD_RECLAIM_FILE; exit 0' TERM; echo ready; while :; do sleep 0.05; done", lead=5)
    service.send(notice(1, 30), {"type": "stop", "attempt": 1, "reason": "reclaim", "seconds": 30})
    service.ended(1)
    told = json.loads(service.output(1).splitlines()[-1])
    assert (told["reason"], told["for"], told["cycle"]) == ("owned", "/A/b", 7)


def test_who_was_told_by_a_notice_is_not_told_again_by_the_stop_at_its_deadline(service: Service) -> None:
    begin(service, "trap 'echo told' TERM; echo ready; while :; do sleep 0.02; done")
    service.send(notice(1, 30))
    wait_for(lambda: "told" in service.output(1))
    service.send({"type": "stop", "attempt": 1, "reason": "reclaim", "seconds": 0.5})
    record = service.ended(1)
    assert (record["reason"], record["detail"]) == ("reclaim", "stopped at its deadline")
    assert service.output(1).split().count("told") == 1


def test_a_stop_kills_after_its_seconds(service: Service) -> None:
    begin(service, DEAF)
    service.send({"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 0.3})
    record = service.ended(1)
    assert (record["reason"], record["signal"]) == ("cancel", 9)


def test_an_order_that_comes_with_the_start_is_not_lost(service: Service) -> None:
    service.send(service.start(1, "sleep", "1000"), {"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 0})
    assert service.ended(1)["reason"] == "cancel"


def test_the_whole_family_is_told(service: Service) -> None:
    inner = 'trap "echo told; exit 0" TERM; echo ready; while :; do sleep 0.02; done'
    begin(service, f"trap : TERM; setsid sh -c '{inner}'")
    service.send(notice(1, 30))
    record = service.ended(1)
    assert record["reason"] == "finished"
    assert "told" in service.output(1)


def test_orders_for_what_is_not_here_and_nonsense_are_survived(service: Service) -> None:
    service.send(
        notice(9, 1), {"type": "withdraw", "attempt": 9}, {"type": "forget", "attempts": [9]}, {"type": "stop"},
        {"type": "notice", "attempt": []}, {"type": "forget"}, {"type": "lease", "n": None}, {"what": 1},
        {"type": "start", "attempt": "x"}, {"type": "start", "attempt": 1.5},
    )  # fmt: skip
    assert service.run(5, "true")["reason"] == "finished"


@pytest.mark.parametrize(
    "wrong",
    [
        {"argv": []}, {"argv": [1]}, {"output": "/etc/x"}, {"output": "../x"}, {"token": ""}, {"stdin": "%"},
        {"memory": -1}, {"environment": {"A": 1}}, {"signal": 99}, {"lead": "x"},
    ],
)  # fmt: skip
def test_an_order_that_cannot_be_understood_is_refused(service: Service, wrong: dict[str, Any]) -> None:
    service.send({**service.start(1, "true"), **wrong})
    assert service.hear("refused", 1)["detail"]
    assert service.stage(1) == ""
