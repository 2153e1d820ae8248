"""Computes amounts and fair shares of queues from a plan and a state (SPEC §7, §11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.queued.queue_ledger import QueueLedger

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.ledger.pools import PoolBooks
    from fairhold.ledger.queues import Queues
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State
    from fairhold.rules.pools.reservations import Reservations


def open_queues(
    plan: Plan, entry: PolicyEntry, state: State, books: PoolBooks, members: Collection[int] | None = None
) -> Queues:
    """What queues ask for, hold and are entitled to when a cycle begins.

    members : first-level consumers that take part, None = all
    """
    return QueueLedger(plan, entry, state, books, members).open(books, state, books.asked.values())


def count_all(books: PoolBooks, queues: Queues) -> Queues:
    """The same numbers with all that is held now, units under notice too."""
    found = replace(queues, held=(), fixed=(), before=(), fixed_before=())
    for asked in books.asked.values():
        if asked.held:
            found.add(asked, asked.held)
    return found


def count_moved(books: PoolBooks, queues: Queues, reservations: Reservations) -> Queues:
    """The same when all that is under notice is gone, and all that is on its way is there."""
    found = count_all(books, queues)
    for unit in books.units():
        if unit.notice is not None:
            found.add(unit.asked, -1)
    for asked in reservations.of:
        found.add(asked, reservations.units(asked))
    return found
