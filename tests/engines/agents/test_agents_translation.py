"""What the orchestrator says reaches the agent, and what the agent says reaches the orchestrator."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.agents.settings import AgentSettings
from fairhold.orchestrator.events import Exit, Held, MachineReported, MachineSilent, Outcome, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw
from tests.engines.agents.fake import NOW, SECRET, Desk, FakeAgent, record, spec

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenDesk = Callable[..., Desk]
    Connect = Callable[..., FakeAgent]


def start(attempt: int, job: str = "7", index: int = 3, number: int = 2, host: str = "", **more: Any) -> Start:
    return Start(attempt, job, index, number, "compute", host, **more)


@pytest.fixture
def pair(open_desk: OpenDesk, connect: Connect) -> tuple[Desk, FakeAgent]:
    """A desk, and an agent that it knows."""
    desk = open_desk(settings=AgentSettings(stop_grace=4.0, weight=80))
    desk.specs["7"] = spec()
    agent = connect().introduce()
    desk.next(MachineReported)
    assert agent.hear("welcome") == {"version": 1, "lease": None, "keep": None}
    return desk, agent


VARIABLES = {
    "FAIRHOLD_JOB": "a/b",
    "FAIRHOLD_TASK": "3",
    "FAIRHOLD_ATTEMPT": "2",
    "FAIRHOLD_CONSUMER": "/A/B",
    "FAIRHOLD_UNITS": "3",
    "FAIRHOLD_HOSTS": "a:2,b:1",
}


def test_a_start_says_all_that_a_task_needs(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.specs["a/b"] = spec(
        argv=("run", "--part={index}", "{index}{index}"),
        environment={"PATH": "/bin", "FAIRHOLD_TASK": "a lie"},
        directory="/place",
        stdin=b"\0\xff",
        time_limit=1_500_000,
        memory=2**40,
        notice=10,
        lead=250_000,
        user="ben",
        account="bwhite",
    )
    desk.order(start(9, "a/b", units=3, places=(("a", 2), ("b", 1))))
    assert agent.hear("start") == {
        "attempt": 9,
        "token": hmac.new(SECRET, b"9", hashlib.sha256).hexdigest(),
        "argv": ["run", "--part=3", "33"],
        "environment": {"PATH": "/bin", **VARIABLES},
        "directory": "/place",
        "stdin": base64.b64encode(b"\0\xff").decode(),
        "output": "jobs/a%2Fb/3.2.out",
        "reclaim_file": "jobs/a%2Fb/3.2.reclaim.json",
        "job_directory": "jobs/a%2Fb/3.dir",
        "time_limit": 1.5,
        "memory": 2**40,
        "cpu": 0,
        "devices": None,
        "signal": 10,
        "lead": 0.25,
        "weight": 80,
        "output_limit": 1 << 30,
        "keep_empty": False,
        "user": "ben",
        "account": "bwhite",
    }


@pytest.mark.parametrize(
    ("of_job", "of_unit", "told"), [(0, 0, 0), (100, 0, 100), (0, 70, 70), (100, 70, 70), (50, 70, 50)]
)
def test_a_start_says_what_a_unit_may_use(pair: tuple[Desk, FakeAgent], of_job: int, of_unit: int, told: int) -> None:
    desk, agent = pair
    desk.specs["v"] = spec(memory=of_job)
    desk.order(start(1, "v", devices=(2, 5), cpu=4500, memory=of_unit))
    message = agent.hear("start")
    assert (message["devices"], message["cpu"], message["memory"]) == ([2, 5], 4500, told)


def test_what_is_no_unicode_arrives_as_it_is(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.specs["raw"] = spec(argv=("echo", "\udcff"), environment={"A": "\udc80"})
    desk.order(start(1, "raw"))
    message = agent.hear("start")
    assert message["argv"][1] == "\udcff"
    assert message["environment"]["A"] == "\udc80"


def test_a_notice_says_how_many_seconds_are_left(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.order(start(1))
    agent.hear("start")
    desk.order(Notify(1, NOW + 2_500_000, "quota", "/C", 9), Notify(1, NOW - 5, "window", ""), Withdraw(1))
    assert agent.hear("notice") == {
        "attempt": 1, "deadline": NOW + 2_500_000, "seconds": 2.5, "reason": "quota", "for": "/C", "cycle": 9,
    }  # fmt: skip
    assert agent.hear("notice") == {
        "attempt": 1, "deadline": NOW - 5, "seconds": 0, "reason": "window", "for": None, "cycle": None,
    }  # fmt: skip
    assert agent.hear("withdraw") == {"attempt": 1}


@pytest.mark.parametrize(("reason", "seconds"), [("reclaim", 0), ("cancel", 4), ("requeue", 4), ("stray", 0)])
def test_a_stop_leaves_time_where_there_is_any(pair: tuple[Desk, FakeAgent], reason: str, seconds: float) -> None:
    desk, agent = pair
    desk.order(start(1))
    agent.hear("start")
    desk.order(Stop(1, reason))
    assert agent.hear("stop") == {"attempt": 1, "reason": reason, "seconds": seconds}


def test_what_is_forgotten_together_is_told_together_and_last(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.order(Forget(3, ""), Forget(1, ""), Stop(9, "stray", ""), Forget(2, ""))
    assert agent.hear("stop")["attempt"] == 9
    assert agent.hear("forget") == {"attempts": [3, 1, 2]}


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("finished", Outcome.FINISHED),
        ("failed", Outcome.FAILED),
        ("not_started", Outcome.FAILED),
        ("time_limit", Outcome.FAILED),
        ("memory", Outcome.FAILED),
        ("yielded", Outcome.YIELDED),
        ("reclaim", Outcome.STOPPED),
        ("requeue", Outcome.STOPPED),
        ("cancel", Outcome.STOPPED),
        ("refused", Outcome.LOST),
        ("host_lost", Outcome.LOST),
        ("supervisor_lost", Outcome.LOST),
        ("stray", Outcome.STOPPED),
        ("of a later version", Outcome.FAILED),
    ],
)
def test_an_end_means_what_its_reason_says(pair: tuple[Desk, FakeAgent], reason: str, outcome: Outcome) -> None:
    desk, agent = pair
    agent.say("ended", attempt=5, exit=record(reason, code=3, signal=9, detail="so", cpu=70, peak=80))
    assert desk.next(TaskEnded) == TaskEnded(5, outcome, Exit(reason, 3, 9, "so", 70, 80), "")


def test_a_record_may_say_little(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    agent.say("ended", attempt=5, exit={"reason": "failed", "code": None, "detail": None})
    assert desk.next(TaskEnded) == TaskEnded(5, Outcome.FAILED, Exit("failed"), "")


def test_running_and_refused_are_told_in_order(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    agent.say("running", attempt=5, pid=77)
    agent.say("of a later version", attempt=5)
    agent.say("refused", attempt=6, detail="no process")
    assert desk.next(TaskRunning) == TaskRunning(5)
    assert desk.next(TaskEnded) == TaskEnded(6, Outcome.LOST, Exit("refused", detail="no process"), "")


def test_an_inventory_is_told_whole(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    connect().introduce(
        "any name",
        last=12,
        attempts=[
            {"attempt": 4, "alive": True, "exit": None},
            {"attempt": 5, "alive": False, "exit": record("finished", code=0)},
            {"attempt": 12, "alive": False, "exit": None},
        ],
    )
    held = (Held(4, True, None), Held(5, False, Exit("finished", 0)), Held(12, False, None))  # noqa: FBT003
    assert desk.next(MachineReported) == MachineReported("", "b1", 12, held)


def test_a_break_is_told_once_and_what_is_ordered_then_is_dropped(
    pair: tuple[Desk, FakeAgent], connect: Connect
) -> None:
    desk, agent = pair
    agent.close()
    assert desk.next(MachineSilent) == MachineSilent("")
    desk.order(start(1), Stop(1), Forget(1, ""))
    second = connect().introduce()
    second.hear("welcome")
    desk.order(start(2))  # decided before the report was read
    desk.next(MachineReported)
    desk.order(start(3))
    assert second.hear("start")["attempt"] == 3
    desk.nothing_more()


def test_an_attempt_that_was_taken_up_is_spoken_to(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk()
    agent = connect().introduce(last=8, attempts=[{"attempt": 8, "alive": True, "exit": None}])
    agent.hear("welcome")
    desk.next(MachineReported)
    desk.order(Notify(8, NOW, "quota", ""), Stop(8))
    assert agent.hear("notice")["attempt"] == 8
    assert agent.hear("stop")["attempt"] == 8


def test_nobody_is_told_of_an_attempt_that_is_over(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.order(start(1))
    agent.hear("start")
    agent.say("ended", attempt=1, exit=record("finished", code=0))
    desk.next(TaskEnded)
    desk.order(Stop(1), Notify(1, NOW, "quota", ""), Forget(1, ""))
    assert agent.hear("forget") == {"attempts": [1]}


def test_a_task_too_large_for_a_frame_cannot_be_started(pair: tuple[Desk, FakeAgent]) -> None:
    desk, agent = pair
    desk.specs["large"] = spec(stdin=bytes(13 * 1024 * 1024))
    desk.order(start(1, "large"), start(2))
    ended = desk.next(TaskEnded)
    assert (ended.attempt, ended.outcome) == (1, Outcome.FAILED)
    assert ended.exit
    assert ended.exit.reason == "not_started"
    assert agent.hear("start")["attempt"] == 2


def test_each_machine_gets_its_own(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(own_host="head", address=("127.0.0.1", 0))
    desk.specs["7"] = spec()
    own = connect().introduce("something else")
    assert desk.next(MachineReported).machine == ""
    far = connect(desk.agents.address).introduce("far", attempts=[{"attempt": 1, "alive": True, "exit": None}])
    assert desk.next(MachineReported).machine == "far"
    own.hear("welcome")
    assert far.hear("welcome") == {"version": 1, "lease": 600.0, "keep": None}
    desk.order(start(2, host="head"), start(3, host="far"), start(4, host="unknown"), start(5))
    assert [own.hear("start")["attempt"] for _ in range(3)] == [2, 4, 5]
    assert far.hear("start")["attempt"] == 3
    desk.order(
        Notify(1, NOW, "quota", ""),
        Stop(3),
        Stop(4, "cancel"),
        Stop(9, "stray", "far"),
        Forget(5, ""),
        Forget(6, "far"),
    )
    assert far.hear("notice")["attempt"] == 1
    assert [far.hear("stop")["attempt"] for _ in range(2)] == [3, 9]
    assert far.hear("forget") == {"attempts": [6]}
    assert own.hear("stop")["attempt"] == 4
    assert own.hear("forget") == {"attempts": [5]}


def test_the_own_machines_name_is_nobody_elses(open_desk: OpenDesk, connect: Connect) -> None:
    desk = open_desk(own_host="head", address=("127.0.0.1", 0))
    for name in ("head", ""):
        assert connect(desk.agents.address).introduce(name).is_dropped()
    desk.until_complaint("name of the service's own")
    desk.nothing_more()
