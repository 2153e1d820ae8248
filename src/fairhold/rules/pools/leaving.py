"""Units reclaimed without a taker: above share limits, and on reserved parcels (R-LIMIT-3, R-ADJUST-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.pools.restraint import is_young
from fairhold.rules.pools.unplacing import placed_now, unplace
from fairhold.rules.pools.victims import breaks_gang, bundle_of, giving_key, giving_order

if TYPE_CHECKING:
    from fairhold.ledger.pools import Unit
    from fairhold.rules.pools.taking import Taker


def keep_limits(taker: Taker) -> None:
    """Reclaim what is held above share limits, even if no request waits (R-LIMIT-3)."""
    books, terms = taker.books, taker.books.terms
    for row in taker.limits.broken() if not books.restraint.is_still else ():
        while row in taker.limits.broken():
            over = [at for at, most in terms.limit[row] if taker.limits.used[row][at] > most]
            able = [
                unit
                for unit in books.units()
                if unit.notice is None
                and unit.pool >= 0
                and row in terms.above[unit.asked.leaf]
                and any(unit.asked.unit[at] for at in over)
            ]
            if not able:
                break
            unit = min(
                able,
                key=lambda unit: (
                    any(is_young(books, each) for each in bundle_of(unit, ())),
                    len(terms.above[unit.pool]),
                    giving_key(terms, taker.standing(unit.pool), unit.asked.leaf),
                    giving_order(terms, unit, breaks=breaks_gang(unit, ())),
                ),
            )
            give_up(taker, unit)


def give_up(taker: Taker, unit: Unit) -> None:
    """Reclaim a unit without a taker, with its whole gang if that falls below its minimum."""
    books = taker.books
    if unit.notice is not None or books.restraint.is_still or unit not in unit.asked.units:
        return
    bundle = bundle_of(unit, ())
    for each in bundle:
        taker.give(each, None, "limit")
    new = placed_now(books, bundle)
    told = [each for each in bundle if each not in new]
    unplace(books, new)
    taker.notices += told
    books.restraint.gone += len(told)
