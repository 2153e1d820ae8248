"""Hosts that a request may use, and their order of preference (R-SITE-1 to R-SITE-3, R-SITE-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import count, fits
from fairhold.model.siting import ANYWHERE, PACK, SPREAD
from fairhold.rules.pools.content import parts_of_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks
    from fairhold.rules.pools.reservation import Reservation


def will_do(asked: PendingRequest, host: Machine) -> bool:
    """Whether a host has what a request needs, and nothing that it avoids (R-SITE-1)."""
    return asked.siting is None or asked.siting.fits(host.labels)


def kinds_of_hosts(hosts: Iterable[Machine]) -> list[Machine]:
    """The first host of each size and labels."""
    found: dict[tuple[Vector, frozenset[str]], Machine] = {}
    for host in hosts:
        found.setdefault((host.total, host.labels), host)
    return list(found.values())


def could_stand(asked: PendingRequest, hosts: Iterable[Machine]) -> bool:
    """Whether a unit fits on any of some hosts that will do, were they free."""
    return any(fits(asked.unit, host.total) and will_do(asked, host) for host in hosts)


def packs_whole(asked: PendingRequest) -> bool:
    """Whether all units of a gang stand on one host (R-SITE-3)."""
    return asked.siting is not None and asked.siting.place == PACK and asked.model.min_count > 0


def stands_elsewhere(asked: PendingRequest, host: Machine) -> bool:
    """Whether it is a gang that packs and has its host, which is another one (R-SITE-3)."""
    return packs_whole(asked) and bool(asked.units) and all(unit.host is not host for unit in asked.units)


def is_choosy(asked: PendingRequest) -> bool:
    """Whether a request says which hosts come first."""
    return asked.siting is not None and bool(asked.siting.prefer or asked.siting.place)


def choice(asked: PendingRequest, host: Machine) -> tuple[int, int]:
    """Place of a host among those that will do, the smallest first; then the packing decides (R-SITE-1, R-SITE-3)."""
    siting = asked.siting or ANYWHERE
    held = sum(unit.host is host for unit in asked.units) if siting.place else 0
    return -siting.liking(host.labels), held if siting.place == SPREAD else -held


def hosts_for(
    asked: PendingRequest, hosts: Iterable[Machine], reservations: dict[Machine, Reservation] | None = None
) -> list[Machine]:
    """Hosts where a request may get a unit, those that it would have first before the others.

    reservations : what is on its way to it; a gang that packs stays on the host where it stands, or, while it stands
        nowhere, where it will
    """
    found = [host for host in hosts if not host.is_closed]
    if asked.siting is None:  # the common case
        return found
    found = [host for host in found if will_do(asked, host)]
    if packs_whole(asked):
        found = where_packed(asked, found, reservations)
    if is_choosy(asked):
        found.sort(key=lambda host: choice(asked, host))
    return found


def where_packed(
    asked: PendingRequest, hosts: Iterable[Machine], reservations: dict[Machine, Reservation] | None = None
) -> list[Machine]:
    """Of some hosts those on which a gang that packs may go on, with the same `ways` (R-SITE-3)."""
    there = {unit.host for unit in asked.units} or {
        host for host, reservation in (reservations or {}).items() if reservation.units
    }
    return [host for host in hosts if not asked.away and (not there or host in there)]


def most_units(books: PoolBooks, pool: int, members: Iterable[PendingRequest]) -> dict[PendingRequest, int]:
    """Request that names hosts → units that it could have in a pool at most (R-SITE-2).

    What it holds in the pool on hosts that will not do, or are down, counts beside those that will.
    """
    named = [asked for asked in members if asked.siting is not None]
    if not named:
        return {}
    parts = list(parts_of_hosts(books, pool))
    found: dict[PendingRequest, int] = {}
    for asked in named:
        rooms = [count(asked.unit, part) for host, part in parts if will_do(asked, host)]
        beside = sum(unit.pool == pool and not will_do(asked, unit.host) for unit in asked.units)
        beside += asked.away_in.get(pool, 0)
        found[asked] = beside + (max(rooms, default=0) if packs_whole(asked) else sum(rooms))
    return found
