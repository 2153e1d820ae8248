"""Which notices of a cycle were needed, counted again from the units on their way after it (R-NOTICE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import count, total
from fairhold.ledger.pools import OWN
from fairhold.rules.pools.alone import are_alone
from fairhold.rules.pools.content import free_of
from fairhold.rules.pools.reach import is_in, reachable
from fairhold.rules.pools.siting import packs_whole, will_do

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.reservation import Reservation
    from fairhold.rules.pools.sweeps import Sweeps


def superfluous(books: PoolBooks, sweeps: Sweeps) -> Iterator[tuple[list[Unit], PendingRequest]]:
    """Units under new notice that could stay, with their takers: each taker would get as many units, as near.

    Units that go for another reason too are left out: a share limit, or hosts used by one leaf at a time.
    """
    if are_alone(books) or not sweeps.is_settled:
        return
    bundles: dict[tuple[PendingRequest, Unit | PendingRequest], list[Unit]] = {}
    for unit in sweeps.noticed:
        taker = unit.notice.taker if unit.notice is not None else None
        if taker is not None and not packs_whole(taker):
            is_whole = unit.asked.min_count > 0 and all(each.notice is not None for each in unit.asked.units)
            bundles.setdefault((taker, unit.asked if is_whole else unit), []).append(unit)
    for (taker, what), units in bundles.items():
        gang = units[0].asked
        is_part = what is gang and len(units) < min(gang.min_count, len(gang.units))
        is_limited = any(row in books.terms.limit for row in books.terms.above[gang.leaf])
        if not (is_part or is_limited) and _come_without(books, taker, sweeps.reservations.of.get(taker, {}), units):
            yield units, taker


def _come_without(
    books: PoolBooks, taker: PendingRequest, reservations: dict[Machine, Reservation], stay: list[Unit]
) -> bool:
    """Whether all units on their way to a request have room beside some of those that go for it."""
    pools = [OWN, *books.terms.above[taker.leaf][1:]]
    losing = {unit.host for unit in stay if unit.host in reservations}
    nearest = min(
        (pools.index(reservations[host].pool) for host in losing if reservations[host].units), default=len(pools) - 1
    )
    possible = 0
    for host, reservation in reservations.items():
        far = min(nearest, pools.index(reservation.pool)) if reservation.units else nearest
        goes = [unit for unit in reservation.victims if unit not in stay]
        fit = max(count(taker.unit, _room(books, taker, host, pool, goes)) for pool in pools[: far + 1])
        fit = fit if will_do(taker, host) and not host.is_closed else 0
        possible += fit if host in losing else max(fit, reservation.units)
    return possible >= sum(reservation.units for reservation in reservations.values())


def _room(books: PoolBooks, taker: PendingRequest, host: Machine, pool: int, goes: list[Unit]) -> tuple[int, ...]:
    """What a request has of a host in a pool when some are gone: what they leave, what is held for it, what is idle."""
    level, dimensions = taker.leaf if pool == OWN else pool, books.terms.dimensions
    parcels = [each for each in reachable(books, taker, host) if is_in(each, taker.leaf, level)]
    freed = [free_of(unit, set(parcels), dimensions) for unit in goes]
    return total([*freed, *(parcel.room(taker) for parcel in parcels)], dimensions)
