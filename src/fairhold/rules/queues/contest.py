"""What one queue may take from another: two strategies, and the order that is kept (R-CONTEST-1, R-CONTEST-2).

A contest compares two sides, the queues right below the lowest one above both, in the resources that are short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.rules.queues.standing import is_less, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.ledger.queues import Amount, Queues, QueueTerms

FAIR_SHARE, QUOTA = "fair_share", "quota"
STRATEGIES = (FAIR_SHARE, QUOTA)
"""In the order in which they are tried (S4.20)."""
OWN_QUEUE = "own_queue"
"""In place of a strategy: a request takes from those of lower priority in its own queue (R-CONTEST-5)."""


class Refused(NamedTuple):
    """Why nothing is taken: the inequality that does not hold.

    rule : which
    row  : of the queue that it is about
    at   : place of the resource
    """

    rule: str
    row: int
    at: int


def sides(terms: QueueTerms, one: int, other: int) -> tuple[int, int]:
    """The rows right below the lowest row that is above both leaves, or one of them."""
    mine, theirs = terms.above[one], terms.above[other]
    below = 1
    while below < min(len(mine), len(theirs)) and mine[-1 - below] == theirs[-1 - below]:
        below += 1
    return mine[-1 - below], theirs[-1 - below]


def contended(need: Sequence[int], idle: Sequence[int]) -> list[int]:
    """Places of the resources that are short: asked for, and not idle in that amount; if none is, all asked for."""
    asked = [at for at, units in enumerate(need) if units]
    return [at for at in asked if idle[at] < need[at]] or asked


def may_reclaim(queues: Queues, leaf: int, need: Sequence[int]) -> Refused | None:
    """Why a queue may take nothing from others: with what it needs it is above its fair share (S4.16)."""
    for at, units in enumerate(need):
        if units and queues.held[at][leaf] + units > queues.fair[at][leaf]:
            return Refused("above fair share", leaf, at)
    return None


def is_open(  # noqa: PLR0917 - the numbers of one comparison
    queues: Queues, strategy: str, mine: int, theirs: int, need: Sequence[int], short: Iterable[int]
) -> bool:
    """Whether a side may give by a strategy: it holds too much of something that is short (S4.16-17)."""
    if strategy == FAIR_SHARE:
        return any(queues.held[at][theirs] > queues.threshold(at, theirs) for at in short)
    deserved = queues.terms.deserved
    return is_within(queues, mine, need, short) and any(queues.held[at][theirs] > deserved[at][theirs] for at in short)


def is_within(queues: Queues, mine: int, need: Sequence[int], short: Iterable[int]) -> bool:
    """Whether the taker's side stays within what it deserves of what is short (S4.17)."""
    return all(queues.held[at][mine] + need[at] <= queues.terms.deserved[at][mine] for at in short)


class Contest:
    """One request against others: what was held before anything was taken for it.

    Afterwards `queues.held` is without what is taken; what the request needs is not added there.
    """

    def __init__(self, queues: Queues, leaf: int, need: Sequence[int], short: Sequence[int]) -> None:
        self.queues, self.leaf, self.need, self.short = queues, leaf, need, short
        self.before: dict[int, list[int]] = {at: list(queues.held[at]) for at in short}
        self._mine = frozenset(queues.terms.above[leaf])

    def after(self, at: int, row: int) -> int:
        """What a queue holds when all is done: without what is taken, with what the request needs."""
        held = self.queues.held[at][row]
        return held + self.need[at] if row in self._mine else held

    def refused(self, strategy: str, mine: int, theirs: int, gone: Iterable[int]) -> Refused | None:
        """Which inequality does not hold any more; None = the order is kept.

        mine, theirs : the sides
        gone : leaves of which something was taken, here or elsewhere
        """
        deserved = self.queues.terms.deserved
        for row in dict.fromkeys(row for leaf in gone for row in self.queues.terms.above[leaf][:-1]):
            for at in self.short:
                after, before, least = self.after(at, row), self.before[at][row], deserved[at][row]
                if after < least and (before >= least or (after < before and row not in self._mine)):
                    return Refused("deserved", row, at)
        multiplier = self.queues.terms.settings.multiplier
        for at in self.short:
            ours, their = self._ratio(at, mine), self._ratio(at, theirs)
            if is_less((1, 1), ours) and not is_less((ours[0] * multiplier, ours[1]), their):
                return Refused("saturation", theirs, at)
            if strategy == FAIR_SHARE:
                was_above = is_less(self._before(at, theirs), self._before(at, mine))
                if not was_above and is_less(their, ours):
                    return Refused("order", theirs, at)
        return None

    def _ratio(self, at: int, row: int) -> tuple[Amount, Amount]:
        return ratio(self.after(at, row), self.queues.fair[at][row])

    def _before(self, at: int, row: int) -> tuple[Amount, Amount]:
        return ratio(self.before[at][row], self.queues.fair[at][row])
