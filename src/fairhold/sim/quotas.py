"""The quotas of leaves over time, in whole numbers: what each might use at once, by the last cycle."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.quotas import quotas_of_leaves
from fairhold.sim.checking import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.sim.account import Spans

    PendingRequest = Callable[[], Sequence[int] | None]
    """(rows,) quotas of the leaves of a group by its last cycle, None = there are none."""


class Quotas:
    """Those of one resource group of slots, or of one resource.

    _rows : of the quotas read last; _last: these; _since: (rows,) instant from which on each is what it is
    _of   : path of a leaf → its quota in unit-microseconds, by pieces
    """

    def __init__(self, spans: Spans, asked: PendingRequest) -> None:
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
        """Merge pieces pairwise from now on."""
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
        if not quota or until <= since or self._rows is None or not self._rows.is_leaf(row):
            return
        column = self._of.setdefault(self._rows.path(row), array("q"))
        last = (until - 1 - spans.begin) // spans.piece
        column.frombytes(bytes(8 * max(0, last + 1 - len(column))))
        for piece in range((since - spans.begin) // spans.piece, last + 1):
            end = min(until, spans.begin + (piece + 1) * spans.piece)
            column[piece] += quota * (end - since)
            since = end


class VectorQuotas(Watcher):
    """Remembers what every cycle of vectors found; a watch that has to be told before those who ask it.

    _amounts : row of the plan's tree → base units of every resource; who is missing uses all that it wants
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._amounts: dict[int, Vector] = {}

    def replan(self, plan: Plan, cluster: Cluster) -> None:
        """Another plan is in force: rows are others."""
        super().replan(plan, cluster)
        self._amounts = {}

    def column(self, books: Books, resource: str, held: Sequence[int]) -> Sequence[int]:
        """(rows,) base units of a resource: while nobody waits what each holds.

        A cycle that has nobody to decide for may have been passed over, so that nothing was found by it.
        """
        at = [each.name for each in self._plan.resources].index(resource)
        waits = bool(books.requests.lines.of)
        return [
            own if not waits or (amounts := self._amounts.get(node)) is None else amounts[at]
            for node, own in enumerate(held)
        ]

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Nothing: of slots the orchestrator knows them."""

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:  # noqa: ARG002 - as all watches are told
        """What leaves may use from now on."""
        self._amounts = {leaf: each for cycle in result.done for leaf, each in quotas_of_leaves(cycle).items()}
