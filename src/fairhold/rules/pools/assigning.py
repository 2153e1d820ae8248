"""The assignment loop: idle resource of a pool goes out unit by unit (SPEC §6.5, S0.40-47, R-TURN-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN
from fairhold.rules.pools.placing import Placing, next_units
from fairhold.rules.pools.standing import Standing
from fairhold.rules.pools.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.pools import Asked, Parcel, PoolBooks, Unit
    from fairhold.rules.pools.limits import Limits

    Waits = Callable[[Asked], int]


def fill_pool(books: PoolBooks, pool: int, waits: Waits, limits: Limits) -> list[Unit]:
    """Give away what is idle in a pool; units in the order of placing.

    waits : units that a request still wants of this pool
    """
    if not any(asked.waiting and waits(asked) > 0 for asked in books.asked.values()):
        return []
    standing = Standing(books, pool)
    lines = _lines(waits, standing)
    turns = Turns(books.terms, pool, lines, standing.usage)
    placing = Placing(books, pool, limits, books.hosts_in(pool))
    placed: list[Unit] = []
    while (leaf := turns.next()) is not None:
        new = _place_one(lines[leaf], placing, waits)
        if not new:
            turns.drop(leaf)
        units = sum(unit.pool != OWN for unit in new)
        if units:
            standing.uses(new[0].asked, units)
        placed += new
    return placed


def _lines(waits: Waits, standing: Standing) -> dict[int, list[Asked]]:
    """Leaf → its requests that wait for something that fits into the pool, in their order."""
    lines: dict[int, list[Asked]] = {}
    for asked in standing.members:
        if standing.size[asked] and waits(asked) > 0:
            lines.setdefault(asked.leaf, []).append(asked)
    for line in lines.values():
        line.sort(key=lambda asked: asked.order)
    return lines


def _place_one(line: list[Asked], placing: Placing, waits: Waits) -> list[Unit]:
    """The first request of a line for which something fits; what did not fit is not tried again."""
    while line:
        asked = line[0]
        waiting = waits(asked)
        units = next_units(asked, waiting)
        if 0 < units <= waiting:
            new = placing.put(asked, units)
            if new:
                return new
        line.pop(0)
    return []


def fill_own(books: PoolBooks, parcel: Parcel, waits: Waits, limits: Limits) -> list[Unit]:
    """A leaf fills what it owns of the preference of one of its parcels (S2.2)."""
    leaf = parcel.owner
    placing = Placing(books, leaf, limits, books.hosts_in(leaf), parcel.preference)
    line = sorted((each for each in books.by_leaf[leaf] if waits(each) > 0), key=lambda asked: asked.order)
    placed: list[Unit] = []
    while new := _place_one(line, placing, waits):
        placed += new
    return placed
