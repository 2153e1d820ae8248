"""The contract with the real agent: real processes, the own agent's launch, restarts of either side."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from fairhold.orchestrator.events import Held, MachineReported, MachineSilent, Outcome, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw
from fairhold.units import parse_instant
from tests.engines.agents.fake import until
from tests.engines.agents.live import House, opened, wall
from tests.engines.contract import is_alive, own_children

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLEEP = "import os,time\nprint(os.getpid(),flush=True)\ntime.sleep(600)"
DEAF = "import os,signal,time\nsignal.signal(15,signal.SIG_IGN)\nprint(os.getpid(),flush=True)\ntime.sleep(600)"
# It writes past the buffers: a signal that comes before `print` has returned finds them in use.
POLITE = (
    "import os,signal,sys,time\n"
    "def go(*_):\n os.write(1,open(os.environ['FAIRHOLD_RECLAIM_FILE'],'rb').read()); os._exit(int(sys.argv[1]))\n"
    "signal.signal(int(sys.argv[2]),go)\nos.write(1,b'ready\\n')\n"
    "while True: time.sleep(1)"
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        house.open()
        yield house


def test_a_task_runs_and_ends(house: House) -> None:
    code = (
        "import os,sys\n"
        "e=os.environ\n"
        "print(sys.stdin.read(),os.getcwd(),e['X'],e['FAIRHOLD_JOB'],e['FAIRHOLD_TASK'],e['FAIRHOLD_ATTEMPT'],"
        "e['FAIRHOLD_CONSUMER'],e['FAIRHOLD_UNITS'],e['FAIRHOLD_HOSTS']=='',sys.argv[1])\n"
        "open(e['FAIRHOLD_JOB_DIRECTORY']+'/kept','w')\n"
        "print('e',file=sys.stderr)"
    )
    attempt = house.run(code, "n{index}", environment={"X": "y"}, directory="/usr", stdin=b"in")
    ended = house.ended(attempt)
    assert ended.outcome is Outcome.FINISHED
    assert ended.exit
    assert (ended.exit.reason, ended.exit.code, ended.exit.signal) == ("finished", 0, 0)
    assert ended.exit.cpu > 0
    assert ended.exit.peak > 0
    assert sorted(house.printed(attempt).split("\n")) == ["", "e", f"in /usr y {attempt} 0 1 /A/B 1 True n0"]
    assert house.file(attempt, "dir/kept").exists()


def test_what_is_forgotten_is_gone_and_never_starts_again(house: House) -> None:
    attempt = house.run("")
    house.ended(attempt)
    until(lambda: not (house.directory / "spool" / f"{attempt}.exit").exists())
    house.order(Start(attempt, str(attempt), 0, 1, "compute", ""))
    ended = house.ended(attempt)
    assert ended.outcome is Outcome.LOST
    assert ended.exit
    assert ended.exit.reason == "refused"


def test_a_start_that_is_repeated_is_answered_and_not_done_again(house: House) -> None:
    attempt = house.run(SLEEP)
    house.printed(attempt)
    house.order(Start(attempt, str(attempt), 0, 1, "compute", ""))
    assert house.desk.next(TaskRunning).attempt == attempt
    assert house.printed(attempt).count("\n") == 1


def test_how_a_command_failed_is_told(house: House) -> None:
    first = house.run("raise SystemExit(3)")
    ended = house.ended(first)
    assert (ended.outcome, ended.exit and ended.exit.code) == (Outcome.FAILED, 3)
    second = house.run("import os\nos.kill(os.getpid(),9)")
    ended = house.ended(second)
    assert (ended.outcome, ended.exit and ended.exit.signal) == (Outcome.FAILED, 9)
    third = house.start("", directory="/no/such/place")
    ended = house.ended(third)
    assert ended.outcome is Outcome.FAILED
    assert ended.exit
    assert ended.exit.reason == "not_started"
    assert "/no/such/place" in ended.exit.detail


def test_a_time_limit_is_kept(house: House) -> None:
    ended = house.ended(house.run(SLEEP, time_limit=200_000))
    assert (ended.outcome, ended.exit and ended.exit.reason) == (Outcome.FAILED, "time_limit")


@pytest.mark.parametrize(
    ("code", "outcome", "reason"), [(75, Outcome.YIELDED, "yielded"), (3, Outcome.STOPPED, "reclaim")]
)
def test_a_notice_tells_the_task_why_and_by_when(house: House, code: int, outcome: Outcome, reason: str) -> None:
    attempt = house.run(POLITE, str(code), "10", notice=10)
    house.printed(attempt, "ready")
    deadline = wall() + 60_000_000
    house.order(Notify(attempt, deadline, "quota", "/C"))
    ended = house.ended(attempt)
    assert ended.outcome is outcome
    assert ended.exit
    assert ended.exit.reason == reason
    told = json.loads(house.printed(attempt).partition("ready\n")[2])
    assert (told["reason"], told["for"], told["attempt"]) == ("quota", "/C", 1)
    assert parse_instant(told["deadline"]) == deadline


def test_a_deadline_is_kept_and_the_whole_family_goes(house: House) -> None:
    attempt = house.run(
        f"import os,signal\nsignal.signal(15,signal.SIG_IGN)\nif os.fork(): os.wait()\nos.setsid()\n{DEAF}"
    )
    pid = int(house.printed(attempt))
    began = time.monotonic()
    house.order(Notify(attempt, wall() + 300_000, "quota", ""))
    ended = house.ended(attempt)
    assert (ended.outcome, ended.exit and ended.exit.reason) == (Outcome.STOPPED, "reclaim")
    assert time.monotonic() - began >= 0.25
    assert not is_alive(pid)


def test_a_withdrawn_notice_stops_nothing(house: House) -> None:
    attempt = house.run(DEAF)
    house.printed(attempt)
    house.order(Notify(attempt, wall() + 400_000, "quota", ""))
    until(house.file(attempt, "1.reclaim.json").exists)
    house.order(Withdraw(attempt))
    until(lambda: not house.file(attempt, "1.reclaim.json").exists())
    other = house.run("import time\ntime.sleep(0.6)")
    assert house.ended(other).outcome is Outcome.FINISHED
    assert is_alive(int(house.printed(attempt)))


@pytest.mark.parametrize("reason", ["cancel", "requeue"])
def test_a_cancel_leaves_time_to_end(house: House, reason: str) -> None:
    attempt = house.run(POLITE, "4", "15")
    house.printed(attempt, "ready")
    house.order(Stop(attempt, reason))
    ended = house.ended(attempt)
    assert ended.outcome is Outcome.STOPPED
    assert ended.exit
    assert (ended.exit.reason, ended.exit.code) == (reason, 4)
    assert f'"reason": "{reason}"' in house.printed(attempt).replace('":"', '": "')


def test_a_stop_after_the_deadline_leaves_none(house: House) -> None:
    attempt = house.run(DEAF)
    pid = int(house.printed(attempt))
    house.order(Stop(attempt))
    ended = house.ended(attempt)
    assert (ended.outcome, ended.exit and ended.exit.signal) == (Outcome.STOPPED, 9)
    assert not is_alive(pid)


def test_a_restart_of_the_service_takes_up_what_runs(house: House) -> None:
    runs, ends = house.run(SLEEP), house.start("import time\ntime.sleep(0.2)")
    assert house.desk.next(TaskRunning).attempt == ends
    pid = int(house.printed(runs))
    house.desk.agents.close()
    until((house.directory / "spool" / f"{ends}.exit").exists)
    report = house.reopen_desk()
    assert report.machine == ""
    assert report.last == ends
    first, second = report.held
    assert first == Held(runs, True, None)  # noqa: FBT003
    assert (second.attempt, second.is_alive, second.exit and second.exit.reason) == (ends, False, "finished")
    assert is_alive(pid)
    house.order(Forget(ends, ""), Stop(runs))
    assert house.ended(runs).outcome is Outcome.STOPPED


def test_an_agent_that_is_killed_is_replaced_and_its_tasks_run_on(house: House) -> None:
    attempt = house.run(SLEEP)
    pid = int(house.printed(attempt))
    before = house.agent.pid()
    os.kill(before, signal.SIGKILL)
    assert house.desk.next(MachineSilent).machine == ""
    report = house.desk.next(MachineReported)
    assert report.held == (Held(attempt, True, None),)  # noqa: FBT003
    assert house.agent.pid() not in (0, before)
    assert any("started again in 0.2 s" in complaint for complaint in house.complaints)
    assert is_alive(pid)
    house.order(Stop(attempt))
    assert house.ended(attempt).outcome is Outcome.STOPPED


def test_the_agent_is_no_child_and_outlives_its_launcher(house: House) -> None:
    pid = house.agent.pid()
    assert str(pid) not in own_children()
    assert os.getsid(pid) != os.getsid(0)
    assert os.getsid(pid) == pid
    house.agent.close()
    assert is_alive(pid)
    house.agent = house.launcher()
    house.agent.start()
    house.reopen_desk()
    assert house.agent.pid() == pid
    assert not any("another agent" in line for line in (house.directory / "agent.log").read_text().splitlines())


def test_an_agent_that_is_stopped_stays_away_and_leaves_its_tasks(house: House) -> None:
    attempt = house.run(SLEEP)
    pid = house.agent.pid()
    assert house.agent.stop_agent()
    assert not is_alive(pid)
    assert house.agent.pid() == 0
    assert not house.agent.stop_agent()
    house.desk.next(MachineSilent)
    assert is_alive(int(house.printed(attempt)))


def test_an_agent_that_was_started_in_another_way_is_left_alone(house: House) -> None:
    pid = house.agent.pid()
    house.agent.close()
    other = house.launcher()
    other._command.append("--label")  # as if the one that runs had been started with other words
    assert not other.stop_agent(only_own=True)
    assert is_alive(pid)
    assert house.launcher().stop_agent(only_own=True)
    assert not is_alive(pid)


def test_an_agent_that_does_not_heed_sigterm_is_killed(house: House) -> None:
    pid = house.agent.pid()
    os.kill(pid, signal.SIGSTOP)
    assert house.agent.stop_agent(patience=0.1)
    assert not is_alive(pid)


def test_an_agent_that_cannot_run_is_tried_again_with_pauses(tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        (tmp_path / "secret").chmod(0o644)
        house.agent.start()
        until(lambda: len(house.complaints) >= 2, house.complaints)
        assert "started again in 0.2 s" in house.complaints[0]
        assert "started again in 0.4 s" in house.complaints[1]
        assert "chmod 600" in (tmp_path / "agent.log").read_text()
        (tmp_path / "secret").chmod(0o600)
        house.desk.next(MachineReported)


def test_many_starts_at_once_all_end(house: House) -> None:
    count = 300
    house.desk.specs["many"] = house.desk.specs[str(house.start(""))]
    numbers = list(range(2, count + 1))
    house.order(*(Start(number, "many", number, 1, "compute", "") for number in numbers))
    ends: set[int] = set()
    while len(ends) < count:
        event = house.desk.next_of_any()
        if isinstance(event, TaskEnded):
            assert event.outcome is Outcome.FINISHED, event
            assert event.attempt not in ends
            ends.add(event.attempt)
    house.order(*(Forget(number, "") for number in ends))
    until(lambda: not [path for path in (house.directory / "spool").iterdir() if path.name.endswith(".exit")])
