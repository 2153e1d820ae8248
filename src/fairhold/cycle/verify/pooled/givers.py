"""Who in a pool might give a unit, and on which hosts its units stand: nobody else has to be looked at (R-TAKE-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.verify.pooled.stock import Host, Stock
    from fairhold.cycle.verify.pooled.usage import Pool


def might_give(pool: Pool, taker: str) -> list[str]:
    """Leaves that may be asked for a unit, as it is before the take: what one gives lets no other give."""
    way = pool.terms.down(pool.path, taker)
    found: list[str] = []
    for parent, mine in reversed(list(zip([pool.path, *way], way, strict=False))):
        if pool.moved[mine] < pool.quota[mine]:
            siblings = (child for child in pool.terms.children[parent] if child != mine)
            found += [leaf for child in siblings for leaf in _above_quota(pool, child)]
    return found


def _above_quota(pool: Pool, path: str) -> Iterator[str]:
    """Leaves that are above their quota, and all from a consumer down to them."""
    if pool.moved[path] > pool.quota[path]:
        below = pool.terms.children[path]
        if not below:
            yield path
        for child in below:
            yield from _above_quota(pool, child)


def hosts_of(stock: Stock, pool: str, leaf: str) -> list[Host]:
    """Hosts on which a leaf has units in a pool that may stay so far."""
    units = (unit for asked in stock.of(leaf) for unit in asked.units)
    return list(dict.fromkeys(unit.host for unit in units if unit.pool == pool and unit.notice is None))
