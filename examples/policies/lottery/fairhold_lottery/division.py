"""Quotas by lottery: what is sure first, then one draw for each slot that is left (LOT-1 to LOT-4)."""

from __future__ import annotations

from array import array
from fractions import Fraction
from functools import lru_cache
from hashlib import shake_256
from struct import unpack
from typing import TYPE_CHECKING

from fairhold.model.setting import Kind, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot

SEED = Setting("seed", Kind.WHOLE, "With another number all draws come out differently.", default=0)
TICKETS = Setting("tickets", Kind.WHOLE, "Tickets in every draw; 0 takes no part.", default=1, most=1000)


def tickets_of(rows: Rows, row: int) -> int:
    """The tickets of a consumer."""
    tickets: int = TICKETS.of(rows.stated(row))
    return tickets


def assess_entrants(snapshot: Snapshot, draft: CycleContext) -> None:
    """What every consumer needs and is sure of; without tickets it needs no more than that (LOT-1, LOT-2)."""
    rows, needs, (slots, configured) = snapshot.rows, draft.needs, snapshot.scale
    tree, limit = rows.tree, rows.plan.limit
    for row in range(len(rows) - 1, -1, -1):
        owned = min(rows.plan.owned[row], rows.plan.owned[row] * slots // configured if configured else 0)
        wanted = snapshot.usable[row] if rows.is_leaf(row) else tree.total(needs.need, row)
        needs.need[row] = min(limit[row], wanted)
        needs.sure[row] = min(limit[row], max(min(needs.need[row], owned), tree.total(needs.sure, row)))
        if row and not tickets_of(rows, row):
            needs.need[row] = needs.sure[row]


def divide_by_lottery(snapshot: Snapshot, draft: CycleContext) -> None:
    """The quota of every consumer, level by level (LOT-3, LOT-4)."""
    rows, quota = snapshot.rows, draft.quota
    if draft.known is None:
        quota[0] = snapshot.slots
        for parent, children in rows.tree.families():
            sure, need = ([column[child] for child in children] for column in (draft.needs.sure, draft.needs.need))
            drawn = _draw(rows, children, quota[parent], sure, need)
            for child, units in zip(children, drawn, strict=True):
                quota[child] = units
    else:
        quota[:] = draft.known
    draft.entitled, draft.firm = quota, draft.needs.sure
    draft.exact = lambda row: Fraction(quota[row])  # nothing is rounded
    draft.most = quota.__getitem__


def _draw(rows: Rows, siblings: Sequence[int], slots: int, sure: Sequence[int], need: Sequence[int]) -> Sequence[int]:
    """What each of some siblings gets of so many slots."""
    if sum(need) <= slots:
        return need
    children = tuple((rows.path(row), tickets_of(rows, row)) for row in siblings)
    draws = draws_of(SEED.of(rows.entry.settings), rows.group.name, children)
    found = [*sure]
    for number in range(1, slots - sum(sure) + 1):
        winner = next(child for child in draws.order(number) if found[child] < need[child])
        found[winner] += 1
    return found


class Draws:
    """The draws among some siblings. Who comes before whom in one never changes, so it is kept.

    children : path and tickets of each, in the order of (rank, plan order)
    """

    def __init__(self, seed: int, group: str, children: tuple[tuple[str, int], ...]) -> None:
        self.seed, self.group, self.children = seed, group, children
        self._order: dict[int, Sequence[int]] = {}

    def order(self, number: int) -> Sequence[int]:
        """The children with tickets, who wins before who would win without it."""
        known = self._order.get(number)
        if known is None:
            best = [
                (self._best(number, path, tickets), child)
                for child, (path, tickets) in enumerate(self.children)
                if tickets
            ]
            known = self._order[number] = array("L", [child for _, child in sorted(best)])
        return known

    def _best(self, number: int, path: str, tickets: int) -> int:
        """The smallest number on the tickets of a child: each has eight bytes of one stream."""
        stream = shake_256(f"{self.seed}\n{self.group}\n{number}\n{path}".encode()).digest(8 * tickets)
        return int(min(unpack(f">{tickets}Q", stream)))


draws_of = lru_cache(maxsize=256)(Draws)
"""The draws among some siblings, from one cycle to the next."""
