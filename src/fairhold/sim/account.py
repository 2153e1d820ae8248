"""What one consumer wanted, held and was owned to over time, in whole numbers."""

from __future__ import annotations

from array import array
from collections import deque

MOST_PIECES = 480
"""Pieces at most: where there would be more, two are made one."""

PIECES = ("allocated_in", "demand_in", "deficit_in", "owned_in", "borrowed_in")
"""Columns of an account that have an entry for every piece."""


class Spans:
    """The time that is measured from an instant on, cut into pieces of so many microseconds for plots."""

    __slots__ = ("begin", "piece")

    def __init__(self, begin: int, piece: int) -> None:
        self.begin, self.piece = begin, piece

    def is_long(self, now: int) -> bool:
        """Whether there are too many pieces by an instant."""
        return now - self.begin > MOST_PIECES * self.piece


class Account:
    """Sums over time, in unit-microseconds (of slots, or of base units).

    held, wanted, owned : now; wanted: held or waited for
    borrows : of held what is borrowed now, as `orchestrator/owned.py` says it; None = what is above owned
    use, demand, owed : held, wanted and owned
    own, borrowed : held of its own, and borrowed
    unused : what it is owned to and does not hold
    deficit    : what it is owned to, wants, and does not hold
    longest : microseconds for which one unit was deficit at most, where those deficit longest are the first to come
    allocated_in, demand_in, deficit_in, owned_in, borrowed_in : (pieces,) the same by pieces
    """

    __slots__ = (
        "_deficit_now",
        "_deficit_since",
        "_since",
        "_spans",
        "allocated_in",
        "borrowed",
        "borrowed_in",
        "borrows",
        "deficit",
        "deficit_in",
        "demand",
        "demand_in",
        "held",
        "longest",
        "owed",
        "own",
        "owned",
        "owned_in",
        "unused",
        "use",
        "wanted",
    )

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._since = spans.begin
        self.held = self.wanted = self.owned = 0
        self.borrows: int | None = None
        self.use = self.demand = self.owed = self.own = self.borrowed = self.unused = self.deficit = self.longest = 0
        self._deficit_now = 0
        self._deficit_since: deque[tuple[int, int]] = deque()  # since when so many units are deficit
        self.allocated_in, self.demand_in, self.deficit_in = array("q"), array("q"), array("q")
        self.owned_in, self.borrowed_in = array("q"), array("q")

    def advance(self, now: int) -> None:
        """Account for the time that has passed."""
        since, spans = self._since, self._spans
        if now <= since:
            return
        held, wanted, owned, length = self.held, self.wanted, self.owned, now - since
        deficit = min(wanted, owned) - held
        borrowed = max(0, held - owned) if self.borrows is None else self.borrows
        self.use += held * length
        self.demand += wanted * length
        self.owed += owned * length
        self.own += (held - borrowed) * length
        if borrowed:
            self.borrowed += borrowed * length
        if held < owned:
            self.unused += (owned - held) * length
        deficit = max(0, deficit)
        if deficit != self._deficit_now:
            self._count_deficit(deficit, since)
        if deficit:
            self.deficit += deficit * length
            self.longest = max(self.longest, now - self._deficit_since[0][0])
        at, last = (since - spans.begin) // spans.piece, (now - 1 - spans.begin) // spans.piece
        if last >= len(self.allocated_in):
            self._grow(last + 1)
        while at <= last:
            part = length if at == last else spans.begin + (at + 1) * spans.piece - since
            self.allocated_in[at] += held * part
            self.demand_in[at] += wanted * part
            self.owned_in[at] += owned * part
            if deficit:
                self.deficit_in[at] += deficit * part
            if borrowed:
                self.borrowed_in[at] += borrowed * part
            since, length, at = since + part, length - part, at + 1
        self._since = now

    def _count_deficit(self, deficit: int, since: int) -> None:
        """Another number of units is deficit since an instant."""
        more, self._deficit_now = deficit - self._deficit_now, deficit
        if more > 0:
            self._deficit_since.append((since, more))
        while more < 0:
            first, units = self._deficit_since.popleft()
            if units > -more:
                self._deficit_since.appendleft((first, units + more))
            more += min(units, -more)

    def fold(self) -> None:
        """Merge pieces pairwise from now on."""
        for name in PIECES:
            old = getattr(self, name)
            new = array("q", (one + other for one, other in zip(old[::2], old[1::2], strict=False)))
            if len(old) % 2:
                new.append(old[-1])
            setattr(self, name, new)

    def _grow(self, pieces: int) -> None:
        for name in PIECES:
            column = getattr(self, name)
            column.frombytes(bytes(8 * (pieces - len(column))))
