"""Folders of jobs go when the service says so, and nothing else does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from fairhold.agent import clearing
from fairhold.agent.clearing import EVERY, SOME, Clearing
from tests.agent.service import Service, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEEP = 100.0


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    made.mkdir()
    return made


def folder(jobs: Path, name: str, age: float = 2 * KEEP) -> Path:
    made = jobs / name
    (made / "0.dir/deep/deeper").mkdir(parents=True)
    (made / "0.dir/deep/deeper/file").write_text("x")
    (made / "0.1.out").write_text("said")
    touched(made, age)
    return made


def touched(path: Path, age: float) -> None:
    os.utime(path, (time.time() - age,) * 2)


def go_on(clears: Clearing, instant: float = 0.0) -> list[str]:
    """Steps until somebody is to be asked or nothing is to be done for a while."""
    while clears.due < instant + EVERY:
        if found := clears.step(max(clears.due, instant)):
            return found
    return []


def names(jobs: Path) -> list[str]:
    return sorted(path.name for path in jobs.iterdir())


def test_old_folders_are_asked_about_and_the_forgotten_go(tmp_path: Path, jobs: Path) -> None:
    for name in ("1", "2", "3", "notes", "4.old"):
        folder(jobs, name, KEEP / 2 if name == "3" else 2 * KEEP)
    (jobs / "5").write_text("a file")
    clears = Clearing(str(tmp_path))
    assert go_on(clears) == []  # nobody has said yet how long they are kept
    clears.welcome(KEEP)
    assert sorted(go_on(clears)) == ["1", "2"]
    assert clears.due == float("inf")
    clears.answer(["2"])
    assert go_on(clears) == []
    assert names(jobs) == ["1", "3", "4.old", "5", "notes"]
    assert go_on(clears, EVERY) == ["1"]


def test_a_shorter_time_counts_at_once(tmp_path: Path, jobs: Path) -> None:
    folder(jobs, "1", KEEP / 2)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    assert go_on(clears) == []
    clears.welcome(KEEP)
    assert clears.step(0.0) == []
    clears.welcome(KEEP / 4)
    assert clears.step(0.0) == ["1"]


def test_without_an_answer_a_new_connection_asks_again(tmp_path: Path, jobs: Path) -> None:
    folder(jobs, "1")
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    assert go_on(clears) == ["1"]
    clears.welcome(KEEP)
    assert go_on(clears) == ["1"]
    clears.answer(["1", "1"])
    assert go_on(clears) == []
    clears.answer(["1"])  # again, much later
    assert go_on(clears) == []
    assert names(jobs) == []


def test_many_are_asked_about_in_portions(tmp_path: Path, jobs: Path) -> None:
    for number in range(SOME + 50):
        (jobs / str(number)).mkdir()
        touched(jobs / str(number), 2 * KEEP)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    first = go_on(clears)
    clears.answer(first)
    second = go_on(clears)
    clears.answer(second)
    assert (len(first), len(second)) == (SOME, 50)
    assert go_on(clears) == []
    assert names(jobs) == []


def test_what_was_begun_is_finished_by_a_later_agent(
    tmp_path: Path, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = folder(jobs, "1")
    for number in range(20):
        (one / f"{number}.2.out").touch()
    touched(one, 2 * KEEP)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    assert go_on(clears) == ["1"]
    clears.answer(["1"])
    monkeypatch.setattr(clearing, "_STEP", 0.0)
    clears.step(clears.due)
    assert names(jobs) == ["1.forgotten"]
    assert len(names(jobs / "1.forgotten")) == 22
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    assert go_on(clears) == []
    assert names(jobs) == []


def test_nothing_is_deleted_through_a_link_or_elsewhere(tmp_path: Path, jobs: Path) -> None:
    away = folder(tmp_path, "away")
    one = folder(jobs, "1")
    (one / "link").symlink_to(away)
    (one / "0.dir/link").symlink_to(away)
    (jobs / "2").symlink_to(away)
    touched(one, 2 * KEEP)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    assert go_on(clears) == ["1"]
    clears.answer(["1", "2", "../away", "", ".", "notes", "1/0.dir"])
    assert go_on(clears) == []
    assert names(jobs) == ["2"]
    assert sorted(path.name for path in away.rglob("*")) == ["0.1.out", "0.dir", "deep", "deeper", "file"]


def test_a_linked_directory_of_jobs_is_left_alone(tmp_path: Path, jobs: Path) -> None:
    away = tmp_path / "away"
    jobs.rename(away)
    folder(away, "1")
    jobs.symlink_to(away)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    clears.answer(["1"])
    go_on(clears)
    assert names(away) == ["1"]


def test_no_folder_is_too_deep_or_closed_to_writing(tmp_path: Path, jobs: Path) -> None:
    inner = one = folder(jobs, "1")
    place = os.open(inner, os.O_RDONLY)
    for number in range(300):  # deeper than a path may be long
        os.mkdir("deep-and-deeper", dir_fd=place)
        inner_place = os.open("deep-and-deeper", os.O_RDONLY, dir_fd=place)
        if number > 295:
            os.fchmod(place, 0o500)
        os.close(place)
        place = inner_place
    os.close(place)
    one.chmod(0o500)
    touched(one, 2 * KEEP)
    clears = Clearing(str(tmp_path))
    clears.welcome(KEEP)
    clears.answer(go_on(clears))
    assert go_on(clears) == []
    assert names(jobs) == []


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "s", keep=KEEP)
    try:
        yield made
    finally:
        made.close()
    assert "it goes on" not in made.words


def test_an_agent_asks_and_clears(service: Service) -> None:
    jobs = service.state / "jobs"
    jobs.mkdir()
    folder(jobs, "1")
    folder(jobs, "2")
    service.launch()
    service.accept()
    assert sorted(service.hear("old")["jobs"]) == ["1", "2"]
    service.accept()  # the answer is lost with the connection
    assert sorted(service.hear("old")["jobs"]) == ["1", "2"]
    service.send({"type": "clear", "jobs": ["1"]})
    wait_for(lambda: names(jobs) == ["2"])
    assert service.run(1, "true")["reason"] == "finished"
