"""What is started, how it ends, what the record says."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.agent.service import is_alive, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.service import Service

SH = "/bin/sh"
_THREADS = 0x180000000
"""Two signals that the C library keeps for itself; nobody can set them."""


def test_a_command_runs_and_its_end_is_told_until_it_is_forgotten(service: Service) -> None:
    service.send(service.start(1, "sh", "-c", "echo out; echo err >&2; echo $FAIRHOLD_MARK"))
    assert service.hear("running", 1)["pid"] > 1
    record = service.ended(1)
    assert record["reason"] == "finished"
    assert (record["code"], record["signal"], record["detail"]) == (0, 0, "")
    assert 0 <= record["ended"] - record["started"] < 10_000_000
    assert record["cpu"] > 0
    assert record["peak"] > 100_000
    assert service.output(1) == f"out\nerr\ntoken-{service.state}-1\n"
    assert service.stage(1) == "exit"
    service.send({"type": "forget", "attempts": [1]})
    wait_for(lambda: service.stage(1) == "")


@pytest.mark.parametrize(
    ("script", "reason", "code", "number"),
    [
        ("exit 3", "failed", 3, 0),
        ("exit 75", "failed", 75, 0),
        ("kill -9 $$", "failed", -1, 9),
        ("kill -SEGV $$", "failed", -1, 11),
        ("exit 0", "finished", 0, 0),
    ],
)
def test_an_end_by_itself(service: Service, script: str, reason: str, code: int, number: int) -> None:
    record = service.run(1, SH, "-c", script)
    assert (record["reason"], record["code"], record["signal"]) == (reason, code, number)


@pytest.mark.parametrize(
    ("argv", "more", "detail"),
    [
        (["/no/such"], {}, "cannot start /no/such: No such file or directory"),
        (["no-such-word"], {}, "cannot start no-such-word: No such file or directory"),
        ([""], {}, "the command is empty"),
        (["/etc/passwd"], {}, "cannot start /etc/passwd: Permission denied"),
        (["a\0b"], {}, "cannot start 'a\\x00b': embedded null byte"),
        (["true"], {"directory": "/no/dir"}, "cannot work in the directory /no/dir: No such file or directory"),
        (["true"], {"environment": {"PATH": "/nowhere"}}, "cannot start true: No such file or directory"),
    ],
)
def test_what_cannot_be_started(service: Service, argv: list[str], more: dict[str, object], detail: str) -> None:
    record = service.run(1, *argv, **more)
    assert (record["reason"], record["detail"]) == ("not_started", detail)
    assert service.output(1) == f"fairhold: {detail}\n"


def test_the_host_that_cannot_write_the_output_is_at_fault(service: Service) -> None:
    (service.state / "jobs").write_text("in the way")
    record = service.run(1, "true")
    assert record["reason"] == "refused"
    assert "cannot write to" in record["detail"]


def test_a_task_gets_its_input_directory_variables_and_nothing_else(service: Service, tmp_path: Path) -> None:
    script = (
        "cat; pwd; echo $FAIRHOLD_RECLAIM_FILE $FAIRHOLD_JOB_DIRECTORY $X; ls /proc/self/fd | tr '\\n' ' '; "
        "grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f 2; [ $(ps -o sid= $$) = $$ ] && echo leads"
    )
    text = "input\n" * 100_000
    service.run(1, SH, "-c", script, stdin=text.encode(), directory=str(tmp_path), environment={"X": "ü"})
    files = f"{service.state}/jobs/7/1.1.reclaim.json {service.state}/jobs/7/1.dir"
    *lines, fds_and_blocked, ignored, last = service.output(1).splitlines()
    assert lines == [*text.splitlines(), str(tmp_path), f"{files} ü"]
    assert fds_and_blocked == "0 1 2 3 " + "0" * 16
    assert int(ignored, 16) & ~_THREADS == 0
    assert last == "leads"
    assert (service.state / "jobs/7/1.dir").is_dir()


def test_a_relative_command_is_one_of_its_directory(service: Service) -> None:
    script = service.state / "here.sh"
    script.write_text("#!/bin/sh\necho here\n")
    script.chmod(0o755)
    assert service.run(1, "./here.sh")["reason"] == "finished"
    assert service.output(1) == "here\n"


def test_who_writes_nothing_leaves_no_file(service: Service) -> None:
    folder = service.state / "jobs/7"
    assert service.run(1, "true")["reason"] == "finished"
    assert service.run(2, SH, "-c", "echo said")["reason"] == "finished"
    assert service.run(3, SH, "-c", f"cd {folder} && rm 3.1.out && : > 3.1.out")["reason"] == "finished"
    assert sorted(path.name for path in folder.glob("*.out")) == ["2.1.out", "3.1.out"]


def test_who_writes_nothing_leaves_an_empty_file_where_it_is_kept(service: Service) -> None:
    assert service.run(1, "true", keep_empty=True)["reason"] == "finished"
    assert (service.state / "jobs/7/1.1.out").read_bytes() == b""


def test_a_flood_of_output_goes_to_its_file(service: Service) -> None:
    assert service.run(1, SH, "-c", "head -c 50000000 /dev/zero")["reason"] == "finished"
    assert (service.state / "jobs/7/1.1.out").stat().st_size == 50_000_000


@pytest.mark.parametrize(
    "script",
    [
        "sleep 1000 & echo $! > PIDS",
        "setsid sh -c 'echo $$ > PIDS; exec sleep 1000' & sleep 0.2",
        "setsid sh -c 'sh -c \"echo \\$\\$ > PIDS; exec sleep 1000\" &' & sleep 0.2",
        "env -i setsid sh -c '(env -i setsid sh -c \"echo \\$\\$ > PIDS; exec sleep 1000\" &) &' & sleep 0.2",
        "trap '' TERM HUP INT; setsid sh -c 'echo $$ > PIDS; trap \"\" TERM; while :; do sleep 1; done' & sleep 0.2",
    ],
    ids=["child", "session", "twice", "without environment", "deaf"],
)
def test_what_a_command_leaves_behind_is_killed(service: Service, script: str) -> None:
    pids = service.state / "pids"
    assert service.run(1, SH, "-c", script.replace("PIDS", str(pids)))["reason"] == "finished"
    assert not is_alive(int(pids.read_text()))


def test_time_limit(service: Service) -> None:
    record = service.run(1, "sleep", "1000", time_limit=0.2)
    assert (record["reason"], record["signal"]) == ("time_limit", signal.SIGTERM)
    assert record["detail"] == "it ran longer than 0.2 s"
    assert 200_000 <= record["ended"] - record["started"] < 5_000_000


def test_time_limit_of_a_deaf_task(service: Service) -> None:
    record = service.run(1, SH, "-c", "trap '' TERM; while :; do sleep 0.1; done", time_limit=0.2)
    assert (record["reason"], record["signal"]) == ("time_limit", signal.SIGKILL)


def test_memory_limit(service: Service) -> None:
    program = "x = bytearray(300_000_000)\nimport time\ntime.sleep(1000)"
    record = service.run(1, "python3", "-c", program, memory=100_000_000)
    assert record["reason"] == "memory"
    assert record["peak"] > 100_000_000


def test_weight_is_less_of_the_processors(service: Service) -> None:
    service.send(service.start(1, "sleep", "1000", weight=10))
    pid = service.hear("running", 1)["pid"]
    wait_for(lambda: os.getpriority(os.PRIO_PROCESS, pid) == 10)
    service.send({"type": "stop", "attempt": 1, "reason": "cancel", "seconds": 0})
    assert service.ended(1)["reason"] == "cancel"
