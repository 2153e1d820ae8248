"""What each leaf may use, by the result of a cycle: quotas of pools, or fair shares of queues (SPEC §6.4, §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN

if TYPE_CHECKING:
    from fractions import Fraction

    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.kernels.vectors import Vector


def quotas_of_leaves(cycle: PooledCycle) -> dict[int, Vector]:
    """Leaf → base units of every resource: what it uses of its own, plus its quotas of pools (R-USAGE-3).

    For a queue, its fair share. The sum is rounded down. Empty where no request waits after the cycle: then every leaf
    uses all that it wants.
    """
    books = cycle.books
    terms = books.terms
    if not any(asked.waiting for asked in books.asked.values()):
        return {}
    if cycle.stood is not None:
        return {leaf: tuple(int(column[leaf]) for column in cycle.stood.fair) for leaf in terms.leaves}
    found: dict[int, list[int | Fraction]] = {leaf: [0] * terms.dimensions for leaf in terms.leaves}
    for unit in books.units() if terms.own else ():
        if unit.pool == OWN:
            mine = found[unit.asked.leaf]
            mine[:] = [have + need for have, need in zip(mine, unit.asked.unit, strict=True)]
    for asked in books.asked.values() if OWN in books.away else ():
        mine, units = found[asked.leaf], asked.away_in.get(OWN, 0)
        mine[:] = [have + need * units for have, need in zip(mine, asked.unit, strict=True)]
    for standing in cycle.sweeps.standings.values():
        for leaf, mine in found.items():
            if quota := standing.quota.get(leaf):
                mine[:] = [have + quota * there for have, there in zip(mine, standing.content, strict=True)]
    return {leaf: tuple(map(int, amounts)) for leaf, amounts in found.items()}
