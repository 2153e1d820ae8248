"""Measures of a queue: saturation, dominant share, and what it may still get (SPEC §7, S4.13-15, R-SERVE-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.ledger.queues import Amount, Queues

Ratio = tuple["Amount", "Amount"]
"""What is held, and of what; compared crosswise. (0, 1) where there is neither, (n, 0) is above all others."""
Weighed = tuple[bool, int]
"""The same as a sort key: whether it is above all others, else how much it is, in parts so fine that two ratios share
one only where they are equal."""
FINE = 256
"""Bits: two ratios p/q and r/s that differ do so by 1/(q·s) at least, and what they are of has 128 bits at most."""


def ratio(held: Amount, of: Amount) -> Ratio:
    """A ratio: 0/0 = 0, x/0 is above all others."""
    return (held, of) if held or of else (0, 1)


def saturation(queues: Queues, at: int, row: int) -> Ratio:
    """What a queue holds of a resource for what it is entitled to (S4.15)."""
    return ratio(queues.held[at][row], queues.fair[at][row])


def is_less(one: Ratio, other: Ratio) -> bool:
    """Whether one ratio is below another."""
    return one[0] * other[1] < other[0] * one[1]


def weighed(held: Amount, of: Amount) -> Weighed:
    """A ratio as a sort key."""
    if not of:
        return bool(held), 0
    if isinstance(held, int):
        return False, (held * of.denominator << FINE) // of.numerator
    part = held / of
    return False, (part.numerator << FINE) // part.denominator


def dominant_share(queues: Queues, row: int, need: Sequence[int]) -> Weighed:
    """The largest part, over resources, that a queue has of its threshold with some more."""
    return max(weighed(queues.held[at][row] + more, queues.threshold(at, row)) for at, more in enumerate(need))


def is_above(queues: Queues, row: int, asked: Iterable[int]) -> bool:
    """Whether a queue holds more than its fair share of a resource that is asked for (S4.14)."""
    return any(queues.held[at][row] > queues.fair[at][row] for at in asked)


def stays_deserved(queues: Queues, row: int, need: Sequence[int], asked: Iterable[int]) -> bool:
    """Whether a queue is within what it deserves with some more."""
    return all(queues.held[at][row] + need[at] <= queues.terms.deserved[at][row] for at in asked)


def breaks_limit(queues: Queues, leaf: int, need: Sequence[int]) -> tuple[int, int] | None:
    """(row, place of the resource) of the first limit on the way up that some more would break; None = none."""
    for row in queues.terms.above[leaf]:
        for at, more in enumerate(need):
            if more and queues.held[at][row] + more > queues.terms.limit[at][row]:
                return row, at
    return None


def breaks_guarantee(queues: Queues, leaf: int, need: Sequence[int]) -> tuple[int, int] | None:
    """(row, place of the resource) of the first queue on the way up that does not deserve so much for good."""
    for row in queues.terms.above[leaf][:-1]:
        for at, more in enumerate(need):
            if more and queues.fixed[at][row] + more > queues.terms.deserved[at][row]:
                return row, at
    return None
