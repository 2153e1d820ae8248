"""Leaves of a pool that may give a unit, and the hosts of their units. No others need to be examined (R-TAKE-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.cycle.verify.pooled.stock import Asked, Host, Stock, Unit
    from fairhold.cycle.verify.pooled.usage import Pool


def might_give(pool: Pool, taker: str) -> list[str]:
    """Leaves that may give a unit before the take. A unit that one gives allows no other leaf to give."""
    way = pool.terms.down(pool.path, taker)
    found: list[str] = []
    for parent, mine in reversed(list(zip([pool.path, *way], way, strict=False))):
        if pool.moved[mine] < pool.quota[mine]:
            siblings = (child for child in pool.terms.children[parent] if child != mine)
            found += [leaf for child in siblings for leaf in _above_quota(pool, child)]
    return found


def _above_quota(pool: Pool, path: str) -> Iterator[str]:
    """Leaves above their quota whose ancestors below a consumer are above theirs, too."""
    if pool.moved[path] > pool.quota[path]:
        below = pool.terms.children[path]
        if not below:
            yield path
        for child in below:
            yield from _above_quota(pool, child)


def may_give(pool: Pool, taker: str, leaf: str) -> bool:
    """Whether the taker is below its quota, and all from the giver's sibling down are above theirs (R-TAKE-1)."""
    mine, theirs = pool.terms.siblings(taker, leaf)
    way = pool.terms.down(pool.path, leaf)
    givers = way[way.index(theirs) :]
    return pool.moved[mine] < pool.quota[mine] and all(pool.moved[each] > pool.quota[each] for each in givers)


def stays_fair(pool: Pool, asked: Asked, gone: Iterable[Unit]) -> bool:
    """Whether after the take no giver of equal share priority has less than the taker, weighed by ratio."""
    moved, terms = pool.moved, pool.terms
    for unit in gone:
        if unit.pool == pool.path and unit.asked.leaf != asked.leaf:
            mine, theirs = terms.siblings(asked.leaf, unit.asked.leaf)
            is_weighed = terms.priority[mine] <= terms.priority[theirs] and terms.ratio[theirs] > 0
            if is_weighed and moved[theirs] / terms.ratio[theirs] < moved[mine] / terms.ratio[mine]:
                return False
    return True


def hosts_of(stock: Stock, pool: str, leaf: str) -> list[Host]:
    """Hosts on which a leaf has units of a pool that are not under notice."""
    units = (unit for asked in stock.of(leaf) for unit in asked.units)
    return list(dict.fromkeys(unit.host for unit in units if unit.pool == pool and unit.notice is None))
