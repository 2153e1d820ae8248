"""The line that says how far a long run is."""

from __future__ import annotations

import sys

import pytest

from fairhold.cli.advance import Advance, time_left


@pytest.mark.parametrize(
    ("passed", "done", "whole", "left"),
    [(0.5, 5, 10, None), (10, 0, 10, None), (10, 5, 10, 10), (10, 1, 4, 30), (10, 3, 10, 24), (10, 10, 10, 0)],
)
def test_what_is_left_goes_as_it_went_so_far(passed: float, done: int, whole: int, left: int | None) -> None:
    assert time_left(passed, done, whole) == left


def test_a_terminal_is_told_how_far_it_is_and_how_long_it_takes_yet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    instants = iter([0.0, 0.5, 0.6, 30.0])
    advance = Advance(lambda: next(instants))
    for done in (1, 2, 25):
        advance.show("plan", done, 100)
    advance.close()
    assert capsys.readouterr().err == "\rplan (1 %)\x1b[K\rplan (25 %, about 1m30s left)\x1b[K\n"


def test_a_file_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    advance = Advance()
    advance.show("plan", 1, 2)
    advance.close()
    assert capsys.readouterr().err == ""
