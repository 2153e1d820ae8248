"""The demand that user limits and budgets let count (R-USER-2, R-BUDGET-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import fits
from fairhold.cycle.verify.pooled.siting import will_do

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Stock


def cap_users(stock: Stock, waiting: frozenset[str]) -> None:
    """Set the units that each request may have: the rest of its user's limit is given out in the order of turns.

    waiting : paths that are granted nothing
    """
    for leaf in stock.terms.leaves:
        limit = stock.terms.user_limit[leaf]
        line = [asked for asked in stock.of(leaf) if asked.model.user] if limit is not None else []
        left = {asked.model.user: limit or 0 for asked in line}
        for asked in line:
            left[asked.model.user] -= asked.held
        for asked in line:
            more = max(0, min(left[asked.model.user], asked.unmet))
            fitting = [host for host in stock.hosts.values() if will_do(asked, host) and fits(asked.unit, host.total)]
            if asked.never or not fitting or asked.held + more < asked.model.min_count:
                more = 0
            left[asked.model.user] -= more
            asked.cap = asked.held + more
    for asked in stock.asked.values():
        if asked.leaf in waiting:
            asked.cap = asked.held
