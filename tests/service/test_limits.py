"""Limits that several requests together could go round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.runtime.live.submitting import Limits
from tests.service.support import Bank

if TYPE_CHECKING:
    from pathlib import Path


def test_a_move_goes_round_no_limit(tmp_path: Path) -> None:
    with Bank(tmp_path / "small", core=Limits(waiting_in_leaf=6)) as bank:
        risk = bank.submit(consumer="/Trading/Risk", count=4, hold=True)["job"]
        fx = bank.submit(consumer="/Trading/FX", count=4, hold=True)["job"]
        there = {"consumer": "/Trading/Risk", "priority": 7, "labels": {"a": "b"}}
        refused = bank._ask("PATCH", f"/jobs/{fx}", 429, json=there)
        assert refused["code"] == "too-many"
        assert "the limit `waiting_in_leaf` is 6, and this would make 8" in refused["detail"]
        job = bank.get(f"/jobs/{fx}")
        assert (job["consumer"], job["priority"], job["labels"]) == ("/Trading/FX", 0, {})
        bank._ask("PATCH", f"/jobs/{risk}", 200, json={"consumer": "/Trading/Risk"})
        bank._ask("PATCH", f"/jobs/{risk}", 200, json={"consumer": "/Research"})
        bank._ask("PATCH", f"/jobs/{fx}", 200, json=there)  # there is room at once
        assert bank.submit(429, consumer="/Trading/Risk", count=3, hold=True)["code"] == "too-many"
        assert bank.submit(429, consumer="/Research", count=3, hold=True)["code"] == "too-many"
        bank.submit(consumer="/Trading/FX", count=6, hold=True)
