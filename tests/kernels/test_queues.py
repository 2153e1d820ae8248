"""Fair shares in columns are those of the slow twin, at first and after every change (R-QUEUE-2)."""

from __future__ import annotations

from random import Random

import pytest

from fairhold.kernels import _jit
from fairhold.kernels.queues import divide_queues
from fairhold.ledger.queues import QueueTerms
from fairhold.model.queue import FairShareSettings
from fairhold.rules.queues.shares import FairShares, fair_shares, is_compiled
from fairhold.units import UNLIMITED

STEPS = (1, 1, 3, 10)


def terms_of(chance: Random) -> QueueTerms:
    """Queues of up to four levels with settings of all kinds."""
    rows = chance.choice((1, 2, 4, 9, 30))
    parent = [0] + [max(0, row - chance.randint(1, 5)) for row in range(1, rows)]
    above: list[tuple[int, ...]] = [(0,)]
    for row in range(1, rows):
        above.append((row, *above[parent[row]]))
    bands = chance.choice(((1,), (1, 2), (5, 5, 100)))

    def column(*choices: int) -> list[int]:
        return [UNLIMITED, *(chance.choice(choices) for _ in range(1, rows))]

    nothing = (0,) * rows
    return QueueTerms(
        children=tuple(tuple(row for row in range(1, rows) if parent[row] == each) for each in range(rows)),
        above=tuple(above),
        steps=(chance.choice(STEPS),),
        settings=FairShareSettings(),
        deserved=(column(0, 0, 3, 7, 20, UNLIMITED),),
        limit=(column(UNLIMITED, UNLIMITED, 0, 5, 40),),
        weight=([1, *(chance.choice((0, 1, 1, 2, 7)) for _ in range(1, rows))],),
        weight_of_one=(1,),
        priority=tuple(chance.choice(bands) for _ in range(rows)),
        reclaim_min_runtime=nothing,
        preempt_min_runtime=nothing,
        delay=nothing,
    )


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("seed", range(20))
def test_r_queue_2_shares_in_columns_are_those_of_the_slow_twin(
    seed: int,
    compiled: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = Random(seed)
    if not compiled:
        monkeypatch.setattr(divide_queues, "run", lambda _, *args: divide_queues.plain(*args))
    for _ in range(60):
        terms = terms_of(chance)
        requested = [chance.choice((0, 0, 1, 6, 30)) for _ in terms.above]
        kept, total = FairShares(terms), chance.randint(0, 120)
        for _ in range(4):
            monkeypatch.setenv("FAIRHOLD_JIT", "off")
            expected = fair_shares(terms, 0, total, requested, {})
            monkeypatch.setenv("FAIRHOLD_JIT", "on")
            monkeypatch.setitem(_jit._MODE, "few_rows", 0)
            found = kept.divide(0, total, requested, {}, ())
            assert found == expected
            for row in chance.sample(range(len(requested)), min(2, len(requested))):
                requested[row] = chance.choice((0, 1, 6, 30))
            total = chance.choice((total, chance.randint(0, 120)))


def test_amounts_that_could_overflow_are_divided_by_the_slow_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = terms_of(Random(3))
    monkeypatch.setenv("FAIRHOLD_JIT", "on")
    monkeypatch.setitem(_jit._MODE, "few_rows", 0)
    nothing = [0] * len(terms.above)
    assert is_compiled(terms, 0, 100, nothing)
    assert not is_compiled(terms, 0, 2**62, nothing)
