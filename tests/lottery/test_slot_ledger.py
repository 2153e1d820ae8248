"""Any events in any order: cycles that are left out by what the policy promises would have decided nothing."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from fairhold.cycle.slot_ledger import Settled
from tests.orchestrator.test_slot_ledger import CONSUMERS, SEEDS, Crowd

if TYPE_CHECKING:
    import pytest

    from fairhold.ledger.books import Books

STATED = {
    "/A": {"owned": 3, "tickets": 2},
    "/A/a1": {"owned": 1, "tickets": 7},
    "/B": {"owned": 2, "tickets": 0},
    "/C": {"limit": 6, "tickets": 3},
}


def test_marks_say_what_a_whole_cycle_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONSUMERS, "lottery", STATED)
    found = {True: 0, False: 0}
    whole = Settled.holds

    def counted(settled: Settled, books: Books, now: int) -> bool:
        holds = whole(settled, books, now)
        found[holds] += 1
        return holds

    monkeypatch.setattr(Settled, "holds", counted)
    for seed in range(SEEDS):
        Crowd(Random(seed), forgets=seed % 2 == 0, policy="lottery").run(400)
    assert found[True] > 20 * SEEDS, "many are left out"
    assert found[False] > 10 * SEEDS
