"""Exact shares are the same compiled and plain, also where products come near to what int64 holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.kernels import _jit
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

if TYPE_CHECKING:
    from fractions import Fraction


def exact_shares(slots: int, *, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """A chain of owners seven levels deep in even mode, in a group millions of times as large as it was planned."""
    monkeypatch.setitem(_jit._MODE, "few_rows", 0 if compiled else 10**9)
    entry: dict[str, object] = {"/A": {"owned": 397, "limit": 400}, "/B": {"owned": 3}}
    demand: dict[str, object] = {"/B": {"g": slots}}
    path = "/A"
    for larger, smaller in ((199, 198), (97, 96), (47, 42), (23, 20), (11, 8), (5, 4)):
        entry[f"{path}/x"] = {"owned": larger}
        entry[f"{path}/y"] = {"owned": smaller}
        demand[f"{path}/y"] = {"g": 1000}
        path = f"{path}/x"
    demand[path] = {"g": 1000}
    consumers: dict[str, object] = {name: {} for name in entry}
    plan, _ = parse_plan(
        json.dumps(
            {
                "fairhold": 1,
                "resource_groups": {"g": {"slots": slots, "configured_slots": 400}},
                "consumers": consumers,
                "policies": [
                    {
                        "resource_groups": ["g"],
                        "policy": "hybrid",
                        "settings": {"distribute_evenly": True},
                        "consumers": entry,
                    }
                ],
            }
        ),
        "plan",
    )
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": demand}
    result = run(open_books(plan, parse_state(json.dumps(state), plan, "state"))["g"], 0)
    assert result.snapshot.compiled == compiled
    exact = result.draft.exact
    return [exact(row) for row in range(len(result.snapshot.rows))]


@pytest.mark.parametrize("slots", [2_100_000_003, 1_000_000_007, 700_000_001, 40_009])
def test_exact_shares_are_the_same_compiled_and_plain(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    monkeypatch.delenv("FAIRHOLD_JIT", raising=False)
    plain = exact_shares(slots, compiled=False, monkeypatch=monkeypatch)
    assert exact_shares(slots, compiled=True, monkeypatch=monkeypatch) == plain
