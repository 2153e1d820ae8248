"""What consumers of a pool may want under their share limits (SPEC §6.4, R-LIMIT-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import times
from fairhold.ledger.pools import OWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.pools import Asked
    from fairhold.rules.pools.standing import Standing


def limited(standing: Standing, wanted: dict[int, int], waiting: Mapping[Asked, int]) -> dict[int, int]:
    """Demands where only units that fit under share limits count; each leaf as if alone.

    wanted : row → its demand without them, in common parts of the pool
    """
    terms = standing.books.terms
    if not terms.limit:
        return wanted
    found: dict[int, int] = {}

    def of(row: int, limits: list[tuple[int, ...]]) -> int:
        mine = terms.limit.get(row, ())
        below = [*limits, (row,)] if mine else limits
        children = terms.tree.children[row]
        if children:
            parts = {child: of(child, below) for child in children}
            demand = sum([part for child, part in parts.items() if terms.ratio[child]])
            if mine:
                demand = min(demand, _under(standing, row, row, waiting))
        else:
            demand = wanted.get(row, 0)
            for (bound,) in below:
                demand = min(demand, _under(standing, row, bound, waiting))
        found[row] = demand
        return demand

    of(standing.pool, [(row,) for row in terms.above[standing.pool][1:] if row in terms.limit])
    return found


def _under(standing: Standing, row: int, bound: int, waiting: Mapping[Asked, int]) -> int:
    """What of a consumer's demand, in common parts, fits under the limit of a row, its requests taken in their order.

    What it holds takes room first, and before that what it holds in other share pools.
    """
    terms = standing.books.terms
    room = dict(terms.limit[bound])
    mine = [each for each in standing.members if row in terms.above[each.leaf]]
    for asked in mine:
        outside = sum(unit.pool not in {OWN, standing.pool} for unit in asked.units)
        for at in room:
            room[at] -= times(asked.unit, outside)[at]
    line = [each for each in mine if standing.size[each]]
    line.sort(key=lambda each: (terms.position[each.leaf], each.order))
    counted = dict.fromkeys(line, 0)
    for column in (standing.held, waiting):
        for asked in line:
            units = column.get(asked, 0)
            units = min([units, *[max(0, room[at]) // asked.unit[at] for at in room if asked.unit[at]]])
            for at in room:
                room[at] -= units * asked.unit[at]
            counted[asked] += units
    return sum([min(standing.whole, units * standing.size[asked]) for asked, units in counted.items()])
