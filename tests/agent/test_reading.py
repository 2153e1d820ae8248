"""What tasks have left is read, and nothing else is."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

import pytest

from fairhold.agent.reading import MOST_BYTES, entries, read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.service import Service


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    (made / "7/0.dir/deep").mkdir(parents=True)
    (made / "7/0.1.out").write_bytes(b"one\xfftwo")
    (made / "7/0.dir/deep/step").write_text("12")
    (tmp_path / "secret").write_text("secret")
    return made


def content(jobs: Path, path: str, offset: int = 0, limit: int = 100) -> bytes | None:
    piece = read(str(jobs), path, offset, limit)
    return None if piece is None else piece.content


def test_a_file_is_read_in_pieces(jobs: Path) -> None:
    piece = read(str(jobs), "7/0.1.out", 1, 3)
    assert piece is not None
    assert (piece.content, piece.next, piece.is_end) == (b"ne\xff", 4, False)
    piece = read(str(jobs), "7/0.1.out", 4, 3)
    assert piece is not None
    assert (piece.content, piece.next, piece.is_end) == (b"two", 7, False)
    piece = read(str(jobs), "7/0.1.out", 7, 3)
    assert piece is not None
    assert (piece.content, piece.next, piece.is_end) == (b"", 7, True)
    assert content(jobs, "7/0.dir/deep/step") == b"12"


@pytest.mark.parametrize(
    "path",
    ["", "7", "7/", "/7/0.1.out", "../secret", "7/../../secret", "7/./0.1.out", "7//0.1.out", "8/0.1.out", "7/a\0b"],
)
def test_what_is_no_file_below_is_not_read(jobs: Path, path: str) -> None:
    assert content(jobs, path) is None


def test_links_and_pipes_are_not_read(jobs: Path, tmp_path: Path) -> None:
    (jobs / "7/0.dir/link").symlink_to(tmp_path / "secret")
    (jobs / "7/0.dir/out").symlink_to(tmp_path)
    (jobs / "8").symlink_to(jobs / "7")
    os.mkfifo(jobs / "7/0.dir/pipe")
    for path in ("7/0.dir/link", "7/0.dir/out/secret", "8/0.1.out", "7/0.dir/pipe"):
        assert content(jobs, path) is None, path
    assert entries(str(jobs), "7/0.dir/out", "", 10) is None
    found = entries(str(jobs), "7/0.dir", "", 10)
    assert found is not None
    assert [(each.name, each.kind) for each in found] == [
        ("deep", "folder"),
        ("link", "other"),
        ("out", "other"),
        ("pipe", "other"),
    ]


def test_a_folder_is_listed_in_pages(jobs: Path) -> None:
    for number in range(5):
        (jobs / f"7/0.dir/{number}").write_bytes(b"x" * number)
    os.utime(jobs / "7/0.dir/3", ns=(0, 5_000_000))
    found = entries(str(jobs), "7/0.dir", "1", 2)
    assert found is not None
    assert [(each.name, each.size) for each in found] == [("2", 2), ("3", 3)]
    assert found[1].modified == 5000
    assert entries(str(jobs), "7/1.dir", "", 2) is None
    assert entries(str(jobs), "7/0.1.out", "", 2) is None


def test_a_name_that_is_no_text_is_shown_and_cannot_be_asked_for(jobs: Path) -> None:
    (jobs / "7/0.dir" / os.fsdecode(b"a\xffb")).write_text("x")
    found = entries(str(jobs), "7/0.dir", "a", 1)
    assert found is not None
    assert found[0].name == "a\ufffdb"
    assert content(jobs, "7/0.dir/a\ufffdb") is None


def test_an_agent_answers_between_its_attempts(service: Service) -> None:
    assert service.run(1, "/bin/sh", "-c", "echo said; echo saved > $FAIRHOLD_JOB_DIRECTORY/step")["code"] == 0
    service.send({"type": "read", "n": 1, "path": "7/1.1.out", "offset": 0, "limit": 100})
    answer = service.hear("piece")
    assert (answer["n"], base64.b64decode(answer["content"]), answer["next"]) == (1, b"said\n", 5)
    service.send({"type": "list", "n": 2, "path": "7/1.dir", "after": "", "limit": 100})
    answer = service.hear("listing")
    assert [(each[0], each[1], each[2]) for each in answer["entries"]] == [("step", "file", 6)]
    service.send({"type": "read", "n": 3, "path": "../secret", "offset": 0, "limit": 100})
    assert service.hear("piece") == {"type": "piece", "n": 3, "content": None, "next": 0, "end": True}


def test_an_answer_is_bounded_whatever_is_asked_for(service: Service) -> None:
    folder = service.state / "jobs/7"
    folder.mkdir(parents=True)
    (folder / "big").write_bytes(b"x" * (MOST_BYTES + 1))
    service.send({"type": "read", "n": 1, "path": "7/big", "offset": 0, "limit": 1 << 30})
    answer = service.hear("piece")
    assert (len(base64.b64decode(answer["content"])), answer["next"], answer["end"]) == (MOST_BYTES, MOST_BYTES, False)
    service.send({"type": "read", "n": 2, "path": "7/big", "offset": "no", "limit": 1})
    service.send({"type": "read", "n": 3, "path": "7/big", "offset": 0, "limit": 1})
    assert service.hear("piece")["n"] == 3, "a question that is not understood is left alone"
