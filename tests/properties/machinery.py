"""How the tests of this folder run cycles: on books, again and again, with time moving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.ledger.decision import apply
from fairhold.model.state import State
from tests.properties.strategies import GROUP, LONGEST_GRACE

if TYPE_CHECKING:
    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books
    from tests.properties.strategies import Case


def books_of(case: Case) -> Books:
    return open_books(case.plan, case.state)[GROUP]


def stop_expired(books: Books, now: int) -> int:
    """Stop what is due; returns the units."""
    return sum(stop.units for stop in settle({GROUP: books}, State(now)))


def cycle(books: Books, now: int) -> CycleResult:
    """One checked cycle, applied; its draft shows what it saw, its snapshot's books are those after it."""
    result = run(books, now)
    untrue = check(result)
    assert not untrue, untrue
    apply(books, result.decision, now)
    return result


def is_quiet(result: CycleResult) -> bool:
    return result.decision.changes_nothing


def excess(books: Books, now: int) -> int:
    """Units that leaves hold above their quota."""
    result = run(books, now)
    quota, held = result.draft.quota, result.snapshot.held
    return sum(max(0, held[leaf] - quota[leaf]) for leaf in books.rows.leaves)


def comes_to_rest(case: Case, rounds: int) -> bool:
    """Whether the last two of so many cycles decide nothing, all that is due being stopped in between."""
    books, now = books_of(case), case.state.now
    quiet = 0
    for _ in range(rounds):
        stop_expired(books, now)
        quiet = quiet + 1 if is_quiet(cycle(books, now)) else 0
        now += LONGEST_GRACE
    return quiet > 1
