"""Demand of the consumers of a pool, bounded by share limits (SPEC §6.4, R-LIMIT-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import times
from fairhold.ledger.pools import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.ledger.pools import PendingRequest
    from fairhold.rules.pools.pool_usage import Standing


def limited(standing: Standing, wanted: dict[int, int], waiting: Mapping[PendingRequest, int]) -> dict[int, int]:
    """Demands where only units that fit under share limits count; each leaf as if alone.

    wanted : row → its demand without them, in common parts of the pool
    """
    terms = standing.books.terms
    if not terms.limit:
        return wanted
    found: dict[int, int] = {}
    outside = [row for row in terms.above[standing.pool][1:] if row in terms.limit]

    def of(row: int) -> int:
        children = terms.tree.children[row]
        if children:
            parts = {child: of(child) for child in children}
            demand = sum([part for child, part in parts.items() if terms.ratio[child]])
            if row in terms.limit:
                demand = min(demand, _under(standing, row, (), waiting))
        else:
            demand = wanted.get(row, 0)
            inside = terms.above[row][: terms.above[row].index(standing.pool) + 1]
            bounds = [each for each in inside if each in terms.limit] + outside
            if bounds:
                demand = min(demand, _under(standing, row, bounds, waiting))
        found[row] = demand
        return demand

    of(standing.pool)
    return found


def _under(standing: Standing, row: int, bounds: Iterable[int], waiting: Mapping[PendingRequest, int]) -> int:
    """What of a consumer's demand, in common parts, fits under share limits, its requests taken in their order.

    What it holds takes room first, and before that what it holds in other share pools. What waits in a leaf of ratio 0,
    or below a branch of it, takes part in nobody's demand above.

    bounds : rows at or above it whose limits count, beside its own and those inside it
    """
    terms = standing.books.terms
    mine = [each for each in standing.members if row in terms.above[each.leaf]]
    room: dict[int, dict[int, int]] = {bound: dict(terms.limit[bound]) for bound in bounds}
    ways: dict[int, list[dict[int, int]]] = {}
    left_out: set[int] = set()
    for leaf in {asked.leaf for asked in mine}:
        inside = terms.above[leaf][: terms.above[leaf].index(row) + 1]
        for each in inside:
            if each in terms.limit:
                room.setdefault(each, dict(terms.limit[each]))
        ways[leaf] = [room[each] for each in dict.fromkeys([*inside, *bounds]) if each in room]
        if not all(terms.ratio[each] for each in inside[:-1]):
            left_out.add(leaf)
    for asked in mine:
        outside = sum(unit.pool not in {OWN, standing.pool} for unit in asked.units)
        outside += asked.away_shared - asked.away_in.get(standing.pool, 0)
        _take(ways[asked.leaf], times(asked.unit, outside))
    line = [each for each in mine if standing.size[each]]
    line.sort(key=lambda each: (terms.position[each.leaf], each.order))
    counted = dict.fromkeys(line, 0)
    for column in (standing.held, waiting):
        for asked in line:
            units = 0 if column is waiting and asked.leaf in left_out else column.get(asked, 0)
            for left in ways[asked.leaf]:
                units = min([units, *[max(0, left[at]) // asked.unit[at] for at in left if asked.unit[at]]])
            _take(ways[asked.leaf], times(asked.unit, units))
            counted[asked] += 0 if asked.leaf in left_out else units
    return sum([min(standing.whole, units * standing.size[asked]) for asked, units in counted.items()])


def _take(ways: Iterable[dict[int, int]], amounts: Sequence[int]) -> None:
    for left in ways:
        for at in left:
            left[at] -= amounts[at]
