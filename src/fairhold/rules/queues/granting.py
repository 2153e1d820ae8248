"""Grants to requests what is held for them and is free by now, regardless of turns (SPEC §6.6, R-SERVE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import count
from fairhold.ledger.pools import PUBLIC, place
from fairhold.rules.pools.alone import are_alone, is_open
from fairhold.rules.pools.reach import kept_for, reachable

if TYPE_CHECKING:
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.reservations import Reservations
    from fairhold.rules.queues.gates import Gates


def grant_held(books: PoolBooks, reservations: Reservations, gates: Gates) -> list[Unit]:
    """Place units on what the last cycle has left held for them, in the order listed.

    As many as limits allow; a gang below its minimum gets all missing units or none. This cycle reclaims none of them.
    """
    placed: list[Unit] = []
    for asked, free in _free(books, reservations).items():
        least, units = asked.missing or 1, min(asked.waiting, sum(free.values()))
        while units >= least and not gates.allow(asked, units - gates.coming.get(asked, 0)):
            units -= 1
        if units < least:
            continue
        gates.arrived(asked, units)
        for host, room in free.items():
            here = min(units, room)
            placed += [place(books, asked, host, PUBLIC, reachable(books, asked, host)) for _ in range(here)]
            units -= here
        reservations.refresh(asked)
    books.sure.update(placed)
    return placed


def _free(books: PoolBooks, reservations: Reservations) -> dict[PendingRequest, dict[Machine, int]]:
    """Request → host → units that fit there on what is held for it, with nobody under notice beside it."""
    found: dict[PendingRequest, dict[Machine, int]] = {}
    for asked, host in books.keeps:
        units = min(
            reservations.of[asked][host].units, count(asked.unit, kept_for(asked, host, books.terms.dimensions))
        )
        if units and (not are_alone(books) or is_open(asked, host)):
            found.setdefault(asked, {})[host] = units
    return found
