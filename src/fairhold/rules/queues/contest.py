"""What one queue may reclaim from another: two strategies, and the order to keep (R-CONTEST-1, R-CONTEST-2).

A contest compares two sides in the resources that are short. The sides are the children of the lowest common ancestor
of both queues that lead to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.rules.queues.queue_metrics import is_less, ratio, saturation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from fairhold.ledger.pools import Unit
    from fairhold.ledger.queues import Amount, Queues, QueueTerms
    from fairhold.rules.queues.queue_metrics import Ratio
    from fairhold.rules.queues.victims import Piece

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


class Looked(NamedTuple):
    """The finding of a search about one piece, to explain why nothing is reclaimed.

    mine, theirs : the sides
    refused : why it stays, None = it could go; `young`: it has not run long enough, `strategy`: its side holds no more
              than it may
    is_rest : it is all that is needed, and may not go once what makes no room is returned
    numbers : base units of what `refused` names: of the taker's side and of the queue that it is about, both after the
              take, and of that queue before anything was taken
    """

    strategy: str
    mine: int
    theirs: int
    piece: Piece
    refused: Refused | None
    numbers: tuple[int, int, int] = (0, 0, 0)
    is_rest: bool = False


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
    is_within = beyond_deserved(queues, mine, need, short) is None
    return is_within and any(queues.held[at][theirs] > deserved[at][theirs] for at in short)


def beyond_deserved(queues: Queues, mine: int, need: Sequence[int], short: Iterable[int]) -> Refused | None:
    """Of what the taker's side does not stay within what it deserves, of what is short; None = of nothing (S4.17)."""
    deserved = queues.terms.deserved
    for at in short:
        if queues.held[at][mine] + need[at] > deserved[at][mine]:
            return Refused("within deserved", mine, at)
    return None


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
            is_free = strategy != FAIR_SHARE or self._was_above(at, mine, theirs)
            rule = _unkept(multiplier, ours, their, is_free=is_free)
            if rule is not None:
                return Refused(rule, theirs, at)
        return None

    def compared(self, strategy: str, mine: int, theirs: int) -> Compared:
        """What has to hold of both sides from now on."""
        free = [at for at in self.short if strategy != FAIR_SHARE or self._was_above(at, mine, theirs)]
        return Compared(strategy, mine, theirs, tuple(self.short), frozenset(free))

    def _was_above(self, at: int, mine: int, theirs: int) -> bool:
        return is_less(self._before(at, theirs), self._before(at, mine))

    def _ratio(self, at: int, row: int) -> tuple[Amount, Amount]:
        return ratio(self.after(at, row), self.queues.fair[at][row])

    def _before(self, at: int, row: int) -> tuple[Amount, Amount]:
        return ratio(self.before[at][row], self.queues.fair[at][row])


def _unkept(multiplier: Fraction, ours: Ratio, theirs: Ratio, *, is_free: bool) -> str | None:
    """Which of (B) and (C) two saturations do not keep.

    is_free : whether the taker's side may be the more saturated one
    """
    if is_less((1, 1), ours) and not is_less((ours[0] * multiplier, ours[1]), theirs):
        return "saturation"
    return "order" if not is_free and is_less(theirs, ours) else None


class Compared(NamedTuple):
    """Two sides of a take that this cycle has told.

    mine, theirs : the taker's side, and that which gives
    short, free  : places of the resources that were short, and of those in which (C) does not hold the taker's side
    """

    strategy: str
    mine: int
    theirs: int
    short: tuple[int, ...]
    free: frozenset[int]

    def is_broken_by(self, queues: Queues, more: Sequence[int]) -> bool:
        """Whether what is kept now would not be if the taker's side held so much more."""
        return any(self._is_kept(queues, at, 0) and not self._is_kept(queues, at, more[at]) for at in self.short)

    def _is_kept(self, queues: Queues, at: int, more: int) -> bool:
        held, terms = queues.held[at][self.mine] + more, queues.terms
        if self.strategy == QUOTA and held > terms.deserved[at][self.mine]:
            return False
        ours, theirs = ratio(held, queues.fair[at][self.mine]), saturation(queues, at, self.theirs)
        return _unkept(terms.settings.multiplier, ours, theirs, is_free=at in self.free) is None


class Search(NamedTuple):
    """What one search is for.

    rivals : side → the queue of the taker that it is compared with
    need   : of the taker, short: places of the resources that are
    """

    strategy: str
    rivals: Mapping[int, int]
    need: list[int]
    short: list[int]


class Order(NamedTuple):
    """What a take keeps (R-CONTEST-2).

    gone : piece → side that it is taken from
    """

    contest: Contest
    search: Search
    gone: Mapping[Piece, int]

    def compared(self) -> dict[Unit, Compared]:
        """Unit that goes → the sides that were compared for it."""
        strategy, rivals, _, _ = self.search
        pairs = {side: self.contest.compared(strategy, rivals[side], side) for side in set(self.gone.values())}
        return {unit: pairs[side] for piece, side in self.gone.items() for unit in piece}

    def broken(self) -> tuple[int, Refused] | None:
        """The first side that it is not kept with when all that is not needed has been returned; None = it is kept.

        The taker's own side may hold more by that.
        """
        strategy, rivals, need, short = self.search
        for side in dict.fromkeys(self.gone.values()):
            refused = self.contest.refused(strategy, rivals[side], side, ())
            if refused is None and strategy == QUOTA:
                refused = beyond_deserved(self.contest.queues, rivals[side], need, short)
            if refused is not None:
                return side, refused
        return None
