"""What counts as lent in a state that is only shown, without a cycle (SPEC §6.2, R-LEND-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits
from fairhold.rules.pools.content import lend_up, parcels_for, room_in
from fairhold.rules.pools.siting import will_do

if TYPE_CHECKING:
    from fairhold.ledger.pools import PoolBooks


def lend_unusable(books: PoolBooks, level: int) -> None:
    """Lend idle amounts of leaves and private pools, except on hosts where a waiting unit of their members fits.

    So a state is shown as it is: what its owner is about to use is not lent yet (SPEC §6.2).
    """
    terms = books.terms
    waiting = [
        asked for leaf in terms.leaves if level in terms.above[leaf] for asked in books.by_leaf[leaf] if asked.waiting
    ]
    for host in books.hosts_in(level):
        able = [asked for asked in waiting if will_do(asked, host)]
        mine = [(parcels_for(terms, host, asked.leaf, level), asked) for asked in able]
        if not any(parcels and fits(asked.unit, room_in(parcels, asked, terms.dimensions)) for parcels, asked in mine):
            lend_up(host.parcels, level, terms.tree.parent[level])
