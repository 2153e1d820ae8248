"""Outputs of tasks, and nothing else."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.service.support import Bank


@pytest.fixture
def job(bank: Bank) -> str:
    """A job of which task 0 runs."""
    name = str(bank.submit()["job"])
    bank.hub.wait_started(1)
    return name


def file_of(bank: Bank, job: str, task: int = 0, number: int = 1) -> Path:
    path = bank.place / "jobs" / job / f"{task}.{number}.out"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def piece(bank: Bank, job: str, query: str = "", status: int = 200, task: int = 0) -> Any:
    answer = bank.client.get(f"/v1/jobs/{job}/tasks/{task}/output{query}")
    assert answer.status_code == status, answer.text
    return answer


def head(answer: Any) -> tuple[int, int, int]:
    names = ("attempt", "next", "ended")
    attempt, following, ended = (int(answer.headers[f"fairhold-{name}"]) for name in names)
    return attempt, following, ended


def test_bytes_come_piece_by_piece(bank: Bank, job: str) -> None:
    assert head(piece(bank, job)) == (1, 0, 0)
    file_of(bank, job).write_bytes(b"\x00one\xfftwo")
    answer = piece(bank, job, "?limit=4")
    assert (answer.content, head(answer)) == (b"\x00one", (1, 4, 0))
    assert answer.headers["content-type"] == "application/octet-stream"
    answer = piece(bank, job, "?offset=4")
    assert (answer.content, head(answer)) == (b"\xfftwo", (1, 8, 0))
    bank.hub.end(1)
    bank.get(f"/jobs/{job}?wait=5")
    answer = piece(bank, job, "?offset=4")
    assert (answer.content, head(answer)) == (b"\xfftwo", (1, 8, 1))
    assert head(piece(bank, job, "?offset=4&limit=4")) == (1, 8, 0)
    assert head(piece(bank, job, "?offset=100")) == (1, 100, 1)


def test_each_attempt_has_its_own_and_the_latest_is_meant(bank: Bank, job: str) -> None:
    file_of(bank, job).write_bytes(b"first")
    bank.post(f"/jobs/{job}/requeue")
    bank.hub.wait_started(2)
    file_of(bank, job, number=2).write_bytes(b"second")
    assert piece(bank, job).content == b"second"
    answer = piece(bank, job, "?attempt=1")
    assert (answer.content, head(answer)) == (b"first", (1, 5, 1))
    assert piece(bank, job, "?attempt=3", 404).json()["code"] == "unknown-attempt"
    bank.hub.end(2)
    bank.get(f"/jobs/{job}?wait=5")
    assert piece(bank, job).content == b"second"


def test_a_reader_waits_for_more(bank: Bank, job: str) -> None:
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(piece(bank, job, "?wait=20")))
    waiting.start()
    file_of(bank, job).write_bytes(b"there")
    waiting.join(5)
    assert found[0].content == b"there"
    waiting = threading.Thread(target=lambda: found.append(piece(bank, job, "?wait=20&offset=5")))
    waiting.start()
    bank.hub.end(1)
    waiting.join(5)
    assert (found[1].content, head(found[1])) == (b"", (1, 5, 1))


def test_tasks_that_wait_and_tasks_that_are_not(bank: Bank) -> None:
    job = bank.submit(count=9)["job"]
    bank.hub.wait_started(4)
    assert head(piece(bank, job, task=8)) == (0, 0, 0)
    assert piece(bank, job, "", 404, task=9).json()["code"] == "unknown-task"
    assert piece(bank, job, "?attempt=1", 404, task=8).json()["code"] == "unknown-attempt"
    for bad in ("?offset=-1", "?limit=0", f"?offset={2**62}", "?wait=61", "?attempt=-1"):
        assert piece(bank, job, bad, 422).json()["code"] == "out-of-range"


def test_an_output_that_is_elsewhere_is_told(bank: Bank, job: str) -> None:
    bank.hub.end(1)
    bank.get(f"/jobs/{job}?wait=5")
    assert piece(bank, job, "", 404).json()["code"] == "no-output"


def test_an_attempt_that_has_written_nothing_has_no_file(bank: Bank, job: str) -> None:
    file = file_of(bank, job)
    bank.hub.end(1)
    bank.get(f"/jobs/{job}?wait=5")
    answer = piece(bank, job)
    assert (answer.content, head(answer)) == (b"", (1, 0, 1))
    assert (piece(bank, job, "?attempt=1").content, file.exists()) == (b"", False)


def test_only_plain_files_of_the_folder_are_read(bank: Bank, job: str) -> None:
    secret = bank.place / "token"
    file = file_of(bank, job)
    file.symlink_to(secret)
    assert piece(bank, job).content == b""
    file.unlink()
    os.mkfifo(file)
    assert piece(bank, job).content == b""
    file.unlink()
    file.mkdir()
    assert piece(bank, job).content == b""
    file.rmdir()
    file.parent.rmdir()
    elsewhere = bank.place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "0.1.out").write_bytes(b"not yours")
    file.parent.symlink_to(elsewhere)
    assert piece(bank, job).content == b""


@pytest.mark.parametrize("path", ["..%2F..", "%2e%2e", "1%2F..%2F..", "..", "1%00"])
def test_no_name_leads_out_of_the_folder(bank: Bank, job: str, path: str) -> None:
    answer = bank.client.get(f"/v1/jobs/{path}/tasks/0/output")
    assert answer.status_code in {404, 405}
    assert bank.token not in answer.text
    assert bank.client.get(f"/v1/jobs/{job}/tasks/..%2F..%2Ftoken/output").status_code in {404, 422}


def test_a_machine_without_a_name_is_not_told_as_an_empty_one(bank: Bank, job: str) -> None:
    told = bank.get(f"/jobs/{job}/tasks/0/file?path=none", 404)
    assert told["detail"].startswith("the job directory of task 0 on the service's machine has no file `none`")
