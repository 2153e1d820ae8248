"""A cycle of queues: what is idle goes out, then units are taken back for those that still wait (SPEC §7, §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.pools.sweeps import Sweeps
from fairhold.rules.pools.ways import Ways
from fairhold.rules.pools.withdrawing import withdraw
from fairhold.rules.queues.gates import Gates
from fairhold.rules.queues.reclaiming import Reclaimer, stand
from fairhold.rules.queues.serving import serve

if TYPE_CHECKING:
    from fairhold.ledger.pools import PoolBooks
    from fairhold.ledger.queues import Queues


def run_queues(books: PoolBooks, queues: Queues) -> Sweeps:
    """Serve and reclaim on books, which are changed, until nothing moves any more."""
    ways = Ways(books)
    ways.read()
    found = Sweeps(books, ways)
    gates = Gates(books, queues.terms)
    is_at_rest = False
    while not is_at_rest:
        is_released = True
        gates.expect(ways.shared())
        while is_released:
            stand(books, queues, ways)
            found.placed += serve(books, queues, ways, gates)
            _, is_released = withdraw(found)
            is_released |= gates.expect(ways.shared())
        stand(books, queues, ways)
        Reclaimer(books, queues, ways, found.noticed).run()
        is_at_rest = not any(withdraw(found))
    return found
