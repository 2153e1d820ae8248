"""The folder of results: a place of its own for every plan, and nothing in it that another run found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.lab.results import Results

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("", ".", "..", "%", "a b", "a_b", "a%20b", "a/b", "/a", ".a", "summary.json", "report.html", "plots", "é")


def test_every_plan_has_a_folder_of_its_own_inside(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    for name in NAMES:
        with results.events(name) as write:
            write('[0,"Withdrawn",1]\n')
    results.finish({})
    assert len(list((tmp_path / "out").rglob("events-0001.*"))) == len(NAMES)
    assert len([path for path in (tmp_path / "out").iterdir() if path.is_dir()]) == len(NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {"é", "a_b", "a%20b"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_while_a_run_goes_on_there_is_no_summary_of_an_earlier_one(tmp_path: Path) -> None:
    for name in ("summary.json", "report.html", "notes.txt"):
        (tmp_path / name).write_text("old")
    Results(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
