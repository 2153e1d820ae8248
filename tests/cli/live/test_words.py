"""What is printed of a difference and of a drain."""

from __future__ import annotations

from typing import Any

from fairhold.cli.files import diff_text
from fairhold.cli.live.explaining import _job_in_words


def test_a_pure_rename_is_one_row_with_both_names() -> None:
    same = {"owned": [0, 0], "reserve": [0, 0], "limit": [None, None], "quota": [7, 7], "allocated": 7}
    moved = {"consumers": {"/New": {**same, "was": "/Old"}}}
    said = diff_text({"resource_groups": {"cpus": moved}, "reclaims": {"added": [], "removed": []}})
    rows = [line.split() for line in said.splitlines() if "/" in line and "quota" not in line]
    assert rows == [["/New", "(was", "/Old)", "=", "0", "0", "none", "7"]]


def test_what_a_drain_took_says_so_with_its_reason() -> None:
    row: dict[str, Any] = {"task": 0, "number": 1, "cycle": None, "rule": None, "reason": "host", "why": "new disks"}
    row |= {"at": "2026-01-05T09:00:00Z", "deadline": "2026-01-05T09:01:00Z", "end": "host_closed", "for": None}
    text = _job_in_words({"job": "1", "state": "done", "reclaims": [row]}, [])
    assert "drain: new disks" in text.splitlines()[-1]
