"""The quotas of leaves over time, in whole numbers: what each might use at once, by the last cycle."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.ledger.rows import Rows
    from fairhold.sim.account import Spans

    Asked = Callable[[], Sequence[int] | None]
    """(rows,) quotas of the leaves of a group by its last cycle, None = there are none."""


class Quotas:
    """Those of one resource group of slots.

    _rows : of the quotas read last; _last: these; _since: (rows,) instant from which on each is what it is
    _of   : path of a leaf → its quota in unit-microseconds, by pieces
    """

    def __init__(self, spans: Spans, asked: Asked) -> None:
        self._spans, self._asked = spans, asked
        self._rows: Rows | None = None
        self._last = self._since = array("q")
        self._of: dict[str, array[int]] = {}

    def read(self, rows: Rows, now: int) -> None:
        """A cycle has run: what the quotas are from an instant on."""
        quotas = self._asked()
        if quotas is None or len(quotas) != len(rows):
            return
        if rows is not self._rows:
            self.close(now)
            self._rows, self._last, self._since = rows, array("q", quotas), array("q", [now]) * len(rows)
        elif quotas != self._last:
            last, since = self._last, self._since
            for row, (quota, before) in enumerate(zip(quotas, last, strict=True)):
                if quota != before:
                    self._count(row, now)
                    last[row], since[row] = quota, now

    def close(self, now: int) -> None:
        """Count all up to an instant."""
        for row in range(len(self._last)):
            self._count(row, now)
            self._since[row] = max(now, self._since[row])

    def fold(self) -> None:
        """Two pieces are one from now on."""
        for path, column in self._of.items():
            evens, odds = column[::2], column[1::2]
            odds.frombytes(bytes(8 * (len(evens) - len(odds))))
            self._of[path] = array("q", map(sum, zip(evens, odds, strict=True)))

    def column(self, path: str, pieces: int) -> list[int]:
        """The quota of a consumer by pieces: of a branch, that of its leaves together."""
        below, found = "/" if path == "/" else f"{path}/", [0] * pieces
        for leaf, column in self._of.items():
            if leaf == path or leaf.startswith(below):
                for piece, amount in enumerate(column):
                    found[piece] += amount
        return found

    def _count(self, row: int, until: int) -> None:
        spans, quota = self._spans, self._last[row]
        since = max(self._since[row], spans.begin)
        if not quota or until <= since or self._rows is None or self._rows.tree.first[row] < self._rows.tree.end[row]:
            return
        column = self._of.setdefault(self._rows.path(row), array("q"))
        last = (until - 1 - spans.begin) // spans.piece
        column.frombytes(bytes(8 * max(0, last + 1 - len(column))))
        for piece in range((since - spans.begin) // spans.piece, last + 1):
            end = min(until, spans.begin + (piece + 1) * spans.piece)
            column[piece] += quota * (end - since)
            since = end
