"""A cycle of queues: grants idle resources, then reclaims units for requests that still wait (SPEC §7, §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.pools.reservations import Reservations, limits_as_moved
from fairhold.rules.pools.sweeps import MOST_ROUNDS, Sweeps, waits_any_gang
from fairhold.rules.pools.unplacing import forget_unplaced
from fairhold.rules.pools.withdrawing import keep_told, let_stay, withdraw
from fairhold.rules.queues.gates import Gates
from fairhold.rules.queues.granting import grant_held
from fairhold.rules.queues.moving import stay
from fairhold.rules.queues.needless import Needless
from fairhold.rules.queues.reclaiming import Reclaimer
from fairhold.rules.queues.serving import serve
from fairhold.rules.queues.taking import stand

if TYPE_CHECKING:
    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.queues.contest import Compared
    from fairhold.rules.queues.request_classes import RequestClasses


def run_queues(books: PoolBooks, queues: Queues, classes: RequestClasses) -> Sweeps:
    """Serve and reclaim on books, which are changed, until nothing changes any more."""
    reservations = Reservations(
        books, lambda units: _may_stay(books, reservations, units) if books.terms.limit else True
    )
    reservations.read(is_told=True)
    found = Sweeps(books, reservations, [])
    nobodys = {unit for unit in books.told if unit.notice is not None and unit.notice.taker is None}
    hosts = sorted({unit.host for unit in nobodys}, key=lambda host: host.place)
    let_stay(found, [unit for host in hosts for unit in host.units if unit in nobodys])
    stay(found)
    compared: dict[Unit, Compared] = {}
    gates = Gates(books, queues)
    gates.expect(_beside_moves(reservations))
    found.placed += grant_held(books, reservations, gates)
    for found.rounds in range(1, MOST_ROUNDS + 1):
        is_moved, is_released = bool(reservations.of), True
        gates.expect(_beside_moves(reservations))
        while is_released:
            stand(queues, reservations, found.placed, found.noticed)
            placed = serve(books, queues, reservations, gates, classes)
            found.placed += placed
            is_any, is_released = withdraw(found)
            is_released |= is_any and waits_any_gang(books)  # one that was to stop whole, and stays, may get more
            is_released |= gates.expect(_beside_moves(reservations))
            is_moved |= bool(placed) or is_any
        if is_moved:
            stand(queues, reservations, found.placed, found.noticed)
        Reclaimer(books, queues, reservations, found.noticed, classes, compared).run()
        is_unplaced = forget_unplaced(found.placed, gates)
        is_open = any([*withdraw(found), stay(found), is_unplaced])
        if not is_open and not Needless(found, queues, compared).let_stay():
            break
    else:
        found.stop_at_bound()
    keep_told(found)
    return found


def _beside_moves(reservations: Reservations) -> dict[PendingRequest, int]:
    """What is on its way; what moves is not there twice, as it counts where it stands."""
    return {asked: max(0, units - reservations.moving(asked)) for asked, units in reservations.shared().items()}


def _may_stay(books: PoolBooks, reservations: Reservations, units: list[Unit]) -> bool:
    """Whether no limit that holds when units are gone is broken when they stay: some go to make room under one."""
    limits = limits_as_moved(books, reservations)
    if not all(limits.allow(unit.asked, 0) for unit in units):
        return True
    for unit in units:
        limits.add(unit.asked, 1)
    return all(limits.allow(unit.asked, 0) for unit in units)
