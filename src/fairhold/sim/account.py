"""What one consumer wanted, held and was entitled to over time, in whole numbers."""

from __future__ import annotations

from array import array
from collections import deque

MOST_PIECES = 480
"""Pieces at most: where there would be more, two are made one."""

PIECES = ("held_in", "wanted_in", "due_in", "entitled_in", "borrowed_in")
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

    held, wanted, entitled : now; wanted: held or waited for
    use, demand : held and wanted
    own, borrowed : held up to what it is entitled to, and above
    unused : what it is entitled to and does not hold
    due    : what it is entitled to, wants, and does not hold
    longest : microseconds for which one unit was due at most, where those due longest are the first to come
    held_in, wanted_in, due_in, entitled_in, borrowed_in : (pieces,) the same by pieces
    """

    __slots__ = (
        "_due_now",
        "_due_since",
        "_since",
        "_spans",
        "borrowed",
        "borrowed_in",
        "demand",
        "due",
        "due_in",
        "entitled",
        "entitled_in",
        "held",
        "held_in",
        "longest",
        "own",
        "unused",
        "use",
        "wanted",
        "wanted_in",
    )

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._since = spans.begin
        self.held = self.wanted = self.entitled = 0
        self.use = self.demand = self.own = self.borrowed = self.unused = self.due = self.longest = 0
        self._due_now = 0
        self._due_since: deque[tuple[int, int]] = deque()  # since when so many units are due
        self.held_in, self.wanted_in, self.due_in = array("q"), array("q"), array("q")
        self.entitled_in, self.borrowed_in = array("q"), array("q")

    def advance(self, now: int) -> None:
        """Time has passed."""
        since, spans = self._since, self._spans
        if now <= since:
            return
        held, wanted, entitled, length = self.held, self.wanted, self.entitled, now - since
        due, borrowed = min(wanted, entitled) - held, held - entitled
        self.use += held * length
        self.demand += wanted * length
        if borrowed > 0:
            self.own += entitled * length
            self.borrowed += borrowed * length
        else:
            self.own += held * length
            self.unused += (entitled - held) * length
        due = max(0, due)
        if due != self._due_now:
            self._count_due(due, since)
        if due:
            self.due += due * length
            self.longest = max(self.longest, now - self._due_since[0][0])
        at, last = (since - spans.begin) // spans.piece, (now - 1 - spans.begin) // spans.piece
        if last >= len(self.held_in):
            self._grow(last + 1)
        while at <= last:
            part = length if at == last else spans.begin + (at + 1) * spans.piece - since
            self.held_in[at] += held * part
            self.wanted_in[at] += wanted * part
            self.entitled_in[at] += entitled * part
            if due:
                self.due_in[at] += due * part
            if borrowed > 0:
                self.borrowed_in[at] += borrowed * part
            since, length, at = since + part, length - part, at + 1
        self._since = now

    def _count_due(self, due: int, since: int) -> None:
        """Another number of units is due since an instant."""
        more, self._due_now = due - self._due_now, due
        if more > 0:
            self._due_since.append((since, more))
        while more < 0:
            first, units = self._due_since.popleft()
            if units > -more:
                self._due_since.appendleft((first, units + more))
            more += min(units, -more)

    def fold(self) -> None:
        """Two pieces are one from now on."""
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
