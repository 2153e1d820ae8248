"""What is printed of a difference and of a drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.differing import diff_text
from fairhold.cli.live import endings
from fairhold.cli.live.drawing import plain
from fairhold.cli.live.explaining import job_in_words
from fairhold.cli.live.submitting import WhyWaiting
from fairhold.errors import count

if TYPE_CHECKING:
    import pytest


def test_a_pure_rename_is_one_row_with_both_names() -> None:
    same = {"owned": [0, 0], "reserve": [0, 0], "limit": [None, None], "quota": [7, 7], "allocated": 7}
    moved = {"consumers": {"/New": {**same, "was": "/Old"}}}
    said = diff_text({"resource_groups": {"cpus": moved}, "reclaims": {"added": [], "removed": []}})
    rows = [line.split() for line in said.splitlines() if "/" in line and "quota" not in line]
    assert rows == [["/New", "(was", "/Old)", "=", "0", "0", "none", "7"]]


def test_what_a_drain_took_says_so_with_its_reason() -> None:
    row: dict[str, Any] = {"task": 0, "number": 1, "cycle": None, "rule": None, "reason": "host", "why": "new disks"}
    row |= {"at": "2026-01-05T09:00:00Z", "deadline": "2026-01-05T09:01:00Z", "end": "host_closed", "for": None}
    text = job_in_words({"job": "1", "state": "done", "reclaims": [row]}, [])
    assert "drain: new disks" in text.splitlines()[-1]


def test_what_is_owned_and_what_of_it_there_is_now_are_told_apart() -> None:
    leaf = {"quota": 0, "allocated": 0, "demand": 1, "limit": None, "owned": 0, "owned_in_plan": 1}
    found: dict[str, Any] = {"job": "1", "state": "waiting", "holders": [], "notices": [], "reclaims": [], "leaf": leaf}
    assert "owns 1, 0 of it now (R-SCALE-1), limit none" in job_in_words(found, [])
    leaf["owned"] = 1
    assert "owns 1, limit none" in job_in_words(found, [])


def test_a_job_that_could_never_start_is_over_for_a_reason() -> None:
    found = {"job": "2", "state": "cancelled", "reason": "never_ready", "text": "job 1 failed", "reclaims": []}
    assert job_in_words(found, []) == "job 2 is over: cancelled (never_ready): job 1 failed"


def test_who_waits_is_told_why_nothing_runs_once_for_each_reason(capsys: pytest.CaptureFixture[str]) -> None:
    look = WhyWaiting()

    def told(state: str, reason: str | None, text: str, hold: str | None = None) -> str:
        look({"job": "7", "state": state, "reason": reason, "text": text, "hold": hold})
        return capsys.readouterr().err

    assert told("waiting", None, "") == ""
    assert told("waiting", "no_host", "all are closed") == "fairhold: job 7 waits (no_host): all are closed\n"
    assert told("waiting", "no_host", "they still are") == ""
    assert told("running", "quota", "more would be above it") == ""
    assert told("held", "held", "it is held: a", "a") == "fairhold: job 7 waits (held): it is held: a\n"
    assert told("held", "held", "it is held: b", "b") == "fairhold: job 7 waits (held): it is held: b\n"


def test_one_of_something_is_one() -> None:
    assert [count(number, "task") for number in (0, 1, 2, 12_345)] == ["0 tasks", "1 task", "2 tasks", "12,345 tasks"]
    found: dict[str, Any] = {"slots": 1, "idle": 1, "consumers": []}
    assert plain({"resource_groups": {"compute": found}}, 80).startswith("compute  1 slot, 1 idle")


def test_ends_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = {"state": "failed", "attempts": [{"reason": "failed", "code": 3}]}
    rows = [failed | {"task": str(number)} for number in range(6)]
    monkeypatch.setattr("fairhold.client.steps.tasks", lambda *_: rows)

    class Known:
        def run(self, found: Any) -> Any:
            return {"tasks": found}

    assert endings.bad_endings(Known(), "1")[-1] == "and 1 more task"  # type: ignore[arg-type]
