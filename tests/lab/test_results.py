"""The folder of results: a place of its own for every plan, and nothing in it that another run found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.lab.results import PlanResults, Results, expect_folder

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("", ".", "..", "%", "a b", "a_b", "a%20b", "a/b", "/a", ".a", "summary.json", "report.html", "plots", "é")


def test_every_plan_has_a_folder_of_its_own_inside(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    for name in NAMES:
        with PlanResults(tmp_path / "out", name, "").events() as write:
            write('[0,"Withdrawn",1]\n')
    results.finish({})
    assert len(list((tmp_path / "out").rglob("events-0001.*"))) == len(NAMES)
    assert len([path for path in (tmp_path / "out").iterdir() if path.is_dir()]) == len(NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {"é", "a_b", "a%20b"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_folder_that_cannot_be_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    expect_folder(tmp_path)
    expect_folder(tmp_path / "a" / "b")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(NotADirectoryError, match="file"):
            expect_folder(wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_while_a_run_goes_on_there_is_no_summary_of_an_earlier_one(tmp_path: Path) -> None:
    for name in ("summary.json", "report.html", "notes.txt"):
        (tmp_path / name).write_text("old")
    Results(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_plan_is_kept_when_it_was_played_to_its_end_and_made_of_the_same(tmp_path: Path) -> None:
    one, other = PlanResults(tmp_path, "a", "one"), PlanResults(tmp_path, "a", "other")
    with one.events() as write:
        write('[0,"Withdrawn",1]\n')
        assert one.kept() is None
    one.keep({"end": 7})
    assert (one.kept(), other.kept()) == ({"end": 7}, None)
    assert sorted(path.name.split(".")[0] for path in one.folder.iterdir()) == ["events-0001", "summary"]


def test_parts_of_a_run_that_was_made_of_something_else_do_not_stay(tmp_path: Path) -> None:
    for made, kept in (("one", []), ("one", [1]), ("other", []), ("other", [1])):
        results = PlanResults(tmp_path, "a", made)
        with pytest.raises(KeyboardInterrupt), results.events(resume=True) as write:  # noqa: PT012 - it is interrupted
            write('[0,"Withdrawn",1]\n')
            raise KeyboardInterrupt
        assert write.kept == kept
