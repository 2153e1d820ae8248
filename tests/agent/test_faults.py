"""What dies is settled: supervisors, agents, connections, leases, the host itself."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.agent import processes
from fairhold.agent.spool import LIFE, ORDER, Spool
from tests.agent.service import Service, is_alive, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

SH = "/bin/sh"
LEFT = {
    "plain": "echo $$ > PIDS; exec sleep 1000",
    "session": "setsid sh -c 'echo $$ > PIDS; exec sleep 1000' & sleep 1000",
    "twice": "setsid sh -c 'sh -c \"echo \\$\\$ > PIDS; exec sleep 1000\" &' & sleep 1000",
    "without environment": (
        "env -i setsid sh -c '(env -i setsid sh -c \"echo \\$\\$ > PIDS; exec sleep 1000\" &) &' & sleep 1000"
    ),
}


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Service]:
    """A service without an agent."""
    made = Service(tmp_path / "s")
    try:
        yield made
    finally:
        made.close()
    assert made.strays() == []


def life(service: Service, attempt: int) -> dict[str, Any]:
    return Spool(str(service.state / "spool")).read(attempt, "alive", LIFE)


def begin(service: Service, attempt: int, script: str) -> int:
    """Start a script that writes a number of a process; that number."""
    pids = service.state / "pids"
    service.send(service.start(attempt, SH, "-c", script.replace("PIDS", str(pids))))
    service.hear("running", attempt)
    wait_for(lambda: pids.exists() and pids.read_text().endswith("\n"))
    return int(pids.read_text())


@pytest.mark.parametrize("script", LEFT.values(), ids=LEFT.keys())
def test_a_killed_supervisor_is_settled_by_the_agent(service: Service, script: str) -> None:
    pid = begin(service, 1, script)
    service.send(service.start(2, "sleep", "1000"))
    service.hear("running", 2)
    os.kill(life(service, 1)["pid"], signal.SIGKILL)
    record = service.ended(1)
    assert record["reason"] == "supervisor_lost"
    assert record["ended"] >= record["started"] > 0
    assert not is_alive(pid)
    assert service.stage(1) == "exit"
    assert processes.lives(life(service, 2)["pid"], life(service, 2)["start"])  # the other one was left alone
    assert is_alive(life(service, 2)["command"])


def test_a_supervisor_ignores_what_would_stop_others(service: Service) -> None:
    pid = begin(service, 1, LEFT["plain"])
    supervisor = life(service, 1)["pid"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(supervisor, number)
    service.send({"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 30})
    assert service.ended(1)["reason"] == "cancel"
    assert not is_alive(pid)


def test_a_new_agent_takes_up_what_lives_and_tells_what_has_ended(service: Service) -> None:
    pid = begin(service, 1, LEFT["plain"])
    service.send(service.start(2, SH, "-c", "while [ ! -e go ]; do sleep 0.02; done; exit 3"))
    service.hear("running", 2)
    service.agents[0].kill()
    service.agents[0].wait()
    assert is_alive(pid)
    (service.state / "go").touch()
    wait_for(lambda: service.stage(2) == "exit")
    service.launch()
    inventory = service.accept()
    assert inventory["last"] == 2
    assert inventory["boot"] == processes.boot_id()
    one, two = inventory["attempts"]
    assert one == {"attempt": 1, "alive": True, "exit": None}
    assert (two["attempt"], two["alive"], two["exit"]["reason"], two["exit"]["code"]) == (2, False, "failed", 3)
    service.send({"type": "stop", "attempt": 1, "reason": "requeue", "seconds": 5}, {"type": "forget", "attempts": [2]})
    assert service.ended(1)["reason"] == "requeue"
    wait_for(lambda: service.stage(2) == "")


@pytest.mark.parametrize("script", [LEFT["plain"], LEFT["session"], LEFT["twice"]], ids=["plain", "session", "twice"])
def test_agent_and_supervisor_killed(service: Service, script: str) -> None:
    pid = begin(service, 1, script)
    service.agents[0].kill()
    service.agents[0].wait()
    os.kill(life(service, 1)["pid"], signal.SIGKILL)
    service.launch()
    (one,) = service.accept()["attempts"]
    record = one["exit"] or service.ended(1)
    assert record["reason"] == "supervisor_lost"
    wait_for(lambda: not is_alive(pid))


def test_an_adopted_supervisor_that_is_killed(service: Service) -> None:
    pid = begin(service, 1, LEFT["session"])
    service.agents[0].kill()
    service.agents[0].wait()
    service.launch()
    service.accept()
    os.kill(life(service, 1)["pid"], signal.SIGKILL)
    assert service.ended(1)["reason"] == "supervisor_lost"
    assert not is_alive(pid)


def test_told_to_go_the_agent_leaves_everything_running(service: Service) -> None:
    pid = begin(service, 1, LEFT["plain"])
    service.agents[0].terminate()
    assert service.agents[0].wait(10) == 0
    assert is_alive(pid)
    service.launch()
    assert service.accept()["attempts"] == [{"attempt": 1, "alive": True, "exit": None}]


def test_a_repeated_start_runs_nothing_twice(service: Service) -> None:
    start = service.start(3, SH, "-c", "echo once; sleep 0.2")
    service.send(start, start)
    service.hear("running", 3)
    service.send(start)
    assert service.ended(3)["reason"] == "finished"
    service.send(start)
    assert service.ended(3)["reason"] == "finished"
    service.send({"type": "forget", "attempts": [3]}, start)
    assert "not above 3" in service.hear("refused", 3)["detail"]
    assert service.output(3) == "once\n"


def test_a_number_that_is_not_above_the_last_is_refused_also_by_a_new_agent(service: Service) -> None:
    service.run(5, "true")
    service.send({"type": "forget", "attempts": [5]}, service.start(4, "true"))
    service.hear("refused", 4)
    service.agents[0].kill()
    service.agents[0].wait()
    service.launch()
    assert service.accept()["last"] == 5
    service.send(service.start(5, "true"))
    service.hear("refused", 5)


def test_after_a_break_the_inventory_tells_what_was_missed(service: Service) -> None:
    service.send(
        service.start(1, SH, "-c", "while [ ! -e go ]; do sleep 0.02; done"), service.start(2, "sleep", "1000")
    )
    service.hear("running", 2)
    service.cut()
    (service.state / "go").touch()
    wait_for(lambda: service.stage(1) == "exit")
    one, two = service.accept()["attempts"]
    assert (one["alive"], one["exit"]["reason"]) == (False, "finished")
    assert two["alive"]


def test_a_frame_that_does_not_verify_breaks_the_connection_and_runs_nothing(service: Service) -> None:
    assert service._socket is not None
    service._socket.sendall(b"\0\0\0\2" + bytes(32) + b"{}")
    assert service.accept()["last"] == 0
    assert service.run(1, "true")["reason"] == "finished"


def test_another_start_of_the_host_ends_everything(bare: Service) -> None:
    spool = Spool(str(bare.state / "spool"))
    me = os.getpid()
    spool.raise_last(7)
    os.close(spool.create(7, "token"))
    spool.advance(7, "order", "alive")
    spool.write(7, LIFE, {"boot": "another", "pid": me, "start": processes.started_at(me), "command": me})
    bare.launch()
    (one,) = bare.accept()["attempts"]
    record = one["exit"] or bare.ended(7)
    assert (record["reason"], record["detail"]) == ("host_lost", "the host was restarted")


@pytest.mark.parametrize("left", [b"", b"\0" * 4096])
def test_what_a_host_without_power_has_left_stops_no_agent(bare: Service, left: bytes) -> None:
    """Nobody has waited for the disk: files may have no content, or none of what they had."""
    Spool(str(bare.state / "spool"))
    for name in ("name", "last", "lease", "5.order", "6.alive", "7.exit", "4.free"):
        (bare.state / "spool" / name).write_bytes(left)
    bare.launch()
    found = bare.accept()
    assert len(found["spool"]) == 32
    assert found["last"] == 0
    ended = {each["attempt"]: each["exit"] or bare.ended(each["attempt"]) for each in found["attempts"]}
    assert {attempt: record["reason"] for attempt, record in ended.items()} == {
        5: "refused", 6: "host_lost", 7: "host_lost",
    }  # fmt: skip
    bare.send({"type": "forget", "attempts": [5, 6, 7]})
    assert [bare.run(attempt, "true")["reason"] for attempt in range(8, 13)] == ["finished"] * 5


def test_a_number_of_a_process_that_is_somebody_elses_by_now(bare: Service) -> None:
    spool = Spool(str(bare.state / "spool"))
    other = os.spawnv(os.P_NOWAIT, "/bin/sleep", ["sleep", "1000"])
    try:
        os.close(spool.create(7, "token-nobody-has"))
        spool.advance(7, "order", "alive")
        line = {"boot": processes.boot_id(), "pid": other, "start": 1, "command": other, "command_start": 1}
        spool.write(7, LIFE, line)
        bare.launch()
        (one,) = bare.accept()["attempts"]
        record = one["exit"] or bare.ended(7)
        assert record["reason"] == "supervisor_lost"
        assert is_alive(other)
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)


def test_an_order_without_a_supervisor_never_runs(bare: Service) -> None:
    spool = Spool(str(bare.state / "spool"))
    os.close(spool.create(7, "token"))
    bare.launch()
    (one,) = bare.accept()["attempts"]
    assert one["exit"]["reason"] == "refused"
    assert spool.read(7, "exit", ORDER) == {"attempt": 7, "token": "token"}


def ends_with_its_lease(service: Service, agent: subprocess.Popen[bytes], pid: int) -> None:
    """Its supervisor needs no agent for this."""
    agent.send_signal(signal.SIGSTOP)
    wait_for(lambda: service.stage(1) == "exit", 4)
    agent.send_signal(signal.SIGCONT)
    (one,) = service.accept()["attempts"]
    assert (one["exit"]["reason"], one["exit"]["detail"]) == ("host_lost", "its lease ended")
    assert not is_alive(pid)


def test_a_lease_ends_and_with_it_the_attempt(tmp_path: Path) -> None:
    service = Service(tmp_path / "s", tcp=True, lease=1.0)
    try:
        agent = service.launch()
        service.accept()
        pid = begin(service, 1, LEFT["session"])
        end = time.monotonic() + 1.6
        while time.monotonic() < end:  # beats are answered: it lives longer than one lease
            service.pump(0.1)
        assert is_alive(pid)
        ends_with_its_lease(service, agent, pid)
    finally:
        service.close()


def test_what_was_promised_is_kept_when_the_service_comes_back_with_a_shorter_lease(tmp_path: Path) -> None:
    service = Service(tmp_path / "s", tcp=True, lease=30.0)
    try:
        agent = service.launch()
        assert service.accept()["lease"] is None
        pid = begin(service, 1, LEFT["plain"])
        service.lease = 1.0
        assert 20 < service.accept()["lease"] <= 30
        service.pump(0.5)
        agent.kill()  # the next agent finds it in the spool
        service.cut()
        service.launch()
        assert 20 < service.accept()["lease"] <= 30
        service.pump(0.5)
        service.cut()
        time.sleep(1.6)
        assert is_alive(pid)
        assert 20 < service.accept()["lease"] <= 30
    finally:
        service.close()


def test_a_lease_from_before_the_hosts_start_makes_none_longer(tmp_path: Path) -> None:
    """The clock that it counts on has begun anew: what was soon is far away."""
    service = Service(tmp_path / "s", tcp=True, lease=1.0)
    try:
        spool = Spool(str(service.state / "spool"))
        spool.write_lease(time.clock_gettime(time.CLOCK_BOOTTIME) + 1_000_000)
        agent = service.launch()
        service.accept()
        pid = begin(service, 1, LEFT["plain"])
        ends_with_its_lease(service, agent, pid)
    finally:
        service.close()


def test_without_a_lease_a_silent_service_ends_nothing(service: Service) -> None:
    pid = begin(service, 1, LEFT["plain"])
    service.cut()
    time.sleep(0.3)
    assert is_alive(pid)
    assert not (service.state / "spool/lease").exists()


def test_an_agent_says_once_of_every_connection_that_it_is_there(tmp_path: Path) -> None:
    service = Service(tmp_path / "s")
    service.launch()
    for _ in range(2):
        service.accept()
        service.hear("beat")
        service.hear("beat")
    service.close()
    where = f"to the service at {service.address} as host here"
    told = [line for line in service.words.splitlines() if "connected" in line]
    assert told == [f"fairhold agent: connected {where}", f"fairhold agent: connected again {where}"]


def test_only_one_agent_serves_a_directory(service: Service) -> None:
    second = service.launch()
    assert second.wait(10) == 1
    _, words = second.communicate()
    assert f"another agent, process {service.agents[0].pid}, serves {service.state}" in words.decode()
    assert service.run(1, "true")["reason"] == "finished"


def test_a_name_that_the_plan_does_not_have_is_in_the_log_once(service: Service) -> None:
    service.send(*[{"type": "unplanned"}] * 2)
    assert service.run(1, "true")["reason"] == "finished"
    service.close()
    assert service.words.count("the plan has no host here: nothing is started here") == 1


def test_a_spool_that_cannot_be_written_refuses_and_goes_on(service: Service) -> None:
    spool = service.state / "spool"
    spool.rename(service.state / "away")
    service.send(service.start(1, "true"), service.start(2, "true"))
    assert service.hear("refused", 1)["detail"] == "the agent cannot write to its spool: No such file or directory"
    service.hear("refused", 2)
    (service.state / "away").rename(spool)
    assert service.run(3, "true")["reason"] == "finished"


def test_what_lets_an_agent_have_its_secret_can_be_pasted_into_a_shell(bare: Service, tmp_path: Path) -> None:
    path = tmp_path / "a secret; of mine"
    path.write_text("0" * 64)
    path.chmod(0o644)
    _, heard = bare.launch("--secret", str(path)).communicate(timeout=10)
    command = heard.decode().partition("run: ")[2].strip()
    assert shlex.split(command) == ["chmod", "600", str(path)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nonsense", "1"], "--nonsense is not known"),
        (["--connect", "smoke:1"], "is not an address"),
        (["--slots", "many"], "many"),
        (["--secret", "/etc/passwd"], "can be read by others"),
        (["--secret", "/no/such"], "there is no file /no/such"),
    ],
)
def test_words_that_make_no_agent(bare: Service, words: list[str], said: str) -> None:
    agent = bare.launch(*words)
    _, heard = agent.communicate(timeout=10)
    assert agent.returncode in {1, 2}
    assert said in heard.decode()
    assert "Traceback" not in heard.decode()


def test_an_agent_need_not_say_how_many_slots_its_host_has(bare: Service) -> None:
    """The plan says it; who says a number is understood, as agents of before."""
    for words, slots in (((), 0), (("--slots", "4"), 4)):
        agent = bare.launch(*words)
        assert bare.accept()["slots"] == slots
        agent.terminate()
        agent.wait(timeout=10)


def test_a_stranger_at_the_door_gets_nowhere(bare: Service) -> None:
    """Who does not know the secret is left, again and again, and the right one is found at last."""
    bare.launch()
    for _ in range(2):
        stranger, _ = bare._server.accept()
        stranger.sendall(bytes(32) + b"\0\0\0\2" + bytes(32) + json.dumps({}).encode())
        stranger.settimeout(5)
        while True:
            try:
                if not stranger.recv(4096):
                    break
            except (TimeoutError, ConnectionResetError):
                break
        stranger.close()
    assert bare.accept()["attempts"] == []
