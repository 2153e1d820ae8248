"""Hosts used by one leaf at a time: packing `exclusive` (R-HOSTS-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.reservations import Reservations


def are_alone(books: PoolBooks) -> bool:
    """Whether leaves share no host."""
    return books.terms.settings.packing == "exclusive"


def is_open(asked: PendingRequest, host: Machine) -> bool:
    """Whether a request may use what is idle on a host: no other leaf has a unit there, or waits for one to go."""
    leaf = asked.leaf
    for unit in host.units:
        taker = unit.notice.taker if unit.notice is not None else None
        if unit.asked.leaf != leaf or (taker is not None and taker.leaf != leaf):
            return False
    return all(each.leaf == leaf for parcel in host.parcels for each in parcel.kept)


def has_strangers(asked: PendingRequest, host: Machine, gone: Collection[Unit] = ()) -> bool:
    """Whether units of other leaves stay on a host.

    gone : units that go beside those under notice
    """
    leaf = asked.leaf
    return any(unit.asked.leaf != leaf and unit.notice is None and unit not in gone for unit in host.units)


def is_awaited(reservations: Reservations, asked: PendingRequest, host: Machine) -> bool:
    """Whether units of other leaves are on their way to a host."""
    return any(
        each.leaf != asked.leaf and host in mine and mine[host].units > 0 for each, mine in reservations.of.items()
    )
