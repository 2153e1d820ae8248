"""What a run keeps count of as it goes is what a count of everything gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.orchestrator import lending as lendings
from fairhold.orchestrator.events import JobSubmitted, Outcome, TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Start, Stop
from fairhold.orchestrator.lending import lending
from fairhold.runtime.tally import Tally
from tests.runtime.support import plan_document, read_document

if TYPE_CHECKING:
    import random

    import pytest

    from fairhold.orchestrator.events import Event

OWNED = {
    "/A": {"owned": 5},
    "/A/X": {"owned": 2},
    "/A/Y": {"owned": 2, "reserved": 1},
    "/B": {"owned": 3},
    "/C": {"owned": 1},
    "/D": {},
}
LEAVES = ("/A/X", "/A/Y", "/B", "/C", "/D")


def opened(slots: int) -> Orchestrator:
    return Orchestrator(open_books(read_document(plan_document(slots, OWNED)), State(now=0)))


@given(st.randoms(use_true_random=False), st.integers(1, 14))
def test_peaks_are_those_of_a_count_of_all_leaves_after_every_event(dice: random.Random, slots: int) -> None:
    orchestrator = opened(slots)
    tally = Tally(orchestrator)
    together, borrowed, lent = [(0, 0)], dict.fromkeys(tally.leaves, 0), dict.fromkeys(tally.leaves, 0)
    running: list[int] = []
    for step in range(40):
        event: Event = Woken()
        if running and dice.random() < 0.5:
            attempt = running.pop(dice.randrange(len(running)))
            event = TaskEnded(attempt, dice.choice([Outcome.FINISHED, Outcome.STOPPED, Outcome.FAILED]))
        elif dice.random() < 0.7:
            event = JobSubmitted(f"j{step}", dice.choice(LEAVES), "compute", dice.randint(1, 6))
        now = step * 100_000
        instructions = orchestrator.handle(event, now)
        running += [order.attempt for order in instructions if isinstance(order, Start)]
        orders = [order for order in instructions if not isinstance(order, Stop) or order.attempt in running]
        tally.note(event, orders, now)
        found = lending(orchestrator.books["compute"])
        rows = orchestrator.books["compute"].rows
        sums = []
        for most, numbers in ((borrowed, found.borrowed), (lent, found.lent)):
            of_leaves = {rows.path(row): units for row, units in numbers.items() if rows.is_leaf(row)}
            sums.append(sum(of_leaves.values()))
            for path, units in of_leaves.items():
                most["compute", path] = max(most["compute", path], units)
        together.append((sums[0], sums[1]))
    assert tally.peak_borrowed == max(units for units, _ in together)
    assert tally.peak_lent == max(units for _, units in together)
    assert {key: leaf.peak_borrowed for key, leaf in tally.leaves.items()} == borrowed
    assert {key: leaf.peak_lent for key, leaf in tally.leaves.items()} == lent


def test_an_event_that_moves_no_slot_looks_at_no_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    orchestrator = opened(10)
    tally = Tally(orchestrator)
    looked = 0
    changed = lendings.GroupLenders.changed

    def counted(lenders: lendings.GroupLenders, leaf: int) -> None:
        nonlocal looked
        looked += 1
        changed(lenders, leaf)

    monkeypatch.setattr(lendings.GroupLenders, "changed", counted)
    submitted = JobSubmitted("j", "/A/X", "compute", 4)
    tally.note(submitted, orchestrator.handle(submitted, 0), 0)
    assert looked == 0
    instructions = orchestrator.handle(Woken(), 100_000)
    assert sum(isinstance(order, Start) for order in instructions) == 4
    tally.note(Woken(), instructions, 100_000)
    assert looked == 1
    tally.note(Woken(), orchestrator.handle(Woken(), 1_000_000), 1_000_000)
    assert looked == 1
