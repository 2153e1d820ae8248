"""Tasks that behave badly, on a real service: each ends with the right reason, and nothing of it stays."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.faults.house import SH, House, lives, plan, processes, until

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from tests.faults.conftest import Open


def end_of(house: House, job: Job) -> tuple[str, int, str]:
    (attempt,) = house.attempts(job)
    return attempt["reason"], attempt["code"], attempt["detail"]


def test_a_deaf_task_is_killed_after_a_cancel(house: House) -> None:
    job = house.submit("trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done")
    until(lambda: house.client.output(job) == b"ready\n")
    house.client.cancel(job)
    assert house.client.wait(job, 20).state == "cancelled"
    (attempt,) = house.attempts(job)
    assert (attempt["reason"], attempt["signal"]) == ("cancel", signal.SIGKILL)


@pytest.mark.parametrize(
    "script",
    [
        "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2",
        "setsid sh -c 'sh -c \"echo \\$\\$; exec sleep 1000\" &' & sleep 0.2",
        "(env -i setsid sh -c '(env -i setsid sh -c \"echo \\$\\$; exec sleep 1000\" &)' &); sleep 0.2",
    ],
    ids=["session", "twice", "without environment"],
)
def test_what_a_task_leaves_behind_ends_with_it(house: House, script: str) -> None:
    job = house.run(script)
    assert (job.state, job.exit_code) == ("done", 0)
    assert not lives(int(house.client.output(job)))


def test_a_task_that_forks_a_lot_is_stopped_whole(house: House) -> None:
    mark = f"MARK={house.place}/forks"
    job = house.submit(f"export {mark}; for i in $(seq 150); do (sleep 1000 &) & done; wait; echo all; sleep 1000")
    until(lambda: house.client.output(job) == b"all\n")
    house.client.cancel(job)
    assert house.client.wait(job, 20).state == "cancelled"
    assert processes(mark) == []


def test_output_may_be_binary_or_closed(house: House) -> None:
    job = house.run("printf '\\000\\377\\033[31m\\n'; printf e >&2; exec >&- 2>&-; echo lost; sleep 0.1")
    assert job.state == "done"
    assert house.client.output(job) == b"\0\xff\x1b[31m\ne"


@pytest.mark.parametrize(
    ("argv", "detail"),
    [
        (["/no/such/command"], "cannot start /no/such/command: No such file or directory"),
        (["no-such-command"], "cannot start no-such-command: No such file or directory"),
        (["/etc/passwd"], "cannot start /etc/passwd: Permission denied"),
        (["/tmp"], "cannot start /tmp: Permission denied"),
        (["x" * 5000], "No such file or directory"),
    ],
)
def test_what_cannot_be_started_says_why(house: House, argv: list[str], detail: str) -> None:
    job = house.client.wait(house.client.submit("/A", argv, environment={}, directory="/"), 20)
    reason, _, said = end_of(house, job)
    assert (job.state, reason) == ("failed", "not_started")
    assert detail in said
    assert detail in house.client.output(job).decode()
    assert detail in house.fairhold("show", job.name)


def test_a_directory_that_is_not_there(house: House, tmp_path: Path) -> None:
    job = house.client.wait(house.client.submit("/A", ["true"], directory=tmp_path / "none"), 20)
    assert job.state == "failed"
    assert "cannot work in the directory" in end_of(house, job)[2]


def test_a_file_without_a_program_in_it(house: House, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"\x7fELFnonsense")
    script.chmod(0o755)
    job = house.client.wait(house.client.submit("/A", [str(script)]), 20)
    assert "Exec format error" in end_of(house, job)[2]


def test_words_that_are_too_many_for_the_system(house: House) -> None:
    """A stack of 64 KiB leaves no room for half a megabyte of words."""
    words = ["x" * 1000] * 500
    whole = house.client.wait(house.client.submit("/A", [SH, "-c", "echo $#", SH, *words]), 20)
    assert house.client.output(whole) == b"500\n"
    environment = {f"V{number}": "x" * 1000 for number in range(500)}
    job = house.client.wait(house.client.submit("/A", [SH, "-c", "env | wc -c", *words], environment=environment), 20)
    assert int(house.client.output(job)) > 500_000


def test_a_flood_of_output_is_cut_in_its_middle(open_house: Open) -> None:
    house = open_house(plan(), "--output-limit", "1M")
    script = "echo begin; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end; echo err >&2; sleep 0.3"
    job = house.run(script)
    output = house.client.output(job)
    size = len("begin\n\nend\nerr\n") + 50_000_000
    (file,) = house.state.glob("jobs/1/0.1.out")
    assert file.stat().st_size == size
    assert file.stat().st_blocks * 512 < 1.3 * 2**20
    assert output.startswith(b"begin\nxxx")
    assert output.endswith(b"xxx\nend\nerr\n")
    assert b"\0" not in output
    left_out = int(output.split(b"fairhold: ")[1].split()[0])
    assert left_out + len(output.replace(b"\nfairhold: %d bytes were left out here\n" % left_out, b"")) == size
    assert house.fairhold("logs", job.name).encode() == output


def test_input_larger_than_a_pipe_arrives_whole(house: House) -> None:
    data = bytes(range(256)) * 16_000  # 4 MB
    job = house.run("sha256sum; head -c 1 >/dev/null", stdin=data)
    import hashlib  # noqa: PLC0415

    assert house.client.output(job).split()[0].decode() == hashlib.sha256(data).hexdigest()
    assert house.run("exit 0", stdin=data).state == "done"


def test_memory_and_time_are_limited(house: House) -> None:
    hog = "exec python3 -c 'import time; x = bytearray(300 << 20); time.sleep(60)'"
    hungry = house.submit(hog, memory=100 << 20)
    slow = house.submit("sleep 1000 & sleep 1000", time_limit=1, retries=1, backoff=0)
    assert house.client.wait(hungry, 20).state == "failed"
    assert end_of(house, hungry)[0] == "memory"
    assert house.client.wait(slow, 20).state == "failed"
    assert [each["reason"] for each in house.attempts(slow)] == ["time_limit", "time_limit"]


def test_a_task_that_stops_itself_is_woken_to_be_told(house: House) -> None:
    job = house.submit("trap 'echo told; exit 3' TERM; echo ready; kill -STOP $$; echo woken")
    until(lambda: house.client.output(job) == b"ready\n")
    house.client.cancel(job)
    assert house.client.wait(job, 3).state == "cancelled"
    assert house.client.output(job) == b"ready\ntold\n"


def test_starts_a_second_are_limited_and_those_that_wait_are_shown(open_house: Open) -> None:
    house = open_house(plan(), "--starts", "1")
    job = house.submit("sleep 1000", count=4)
    until(lambda: "queued" in house.fairhold("hosts"))
    until(lambda: all(house.attempts(job, task)[0]["state"] == "running" for task in range(4)))
    assert "queued" not in house.fairhold("hosts")
    house.client.cancel(job)
