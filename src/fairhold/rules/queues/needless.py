"""Drops notices of a cycle that no taker needs in the end (SPEC §6.6, R-CONTEST-7).

A request that reclaims unit by unit may get a small victim and then a large one that is enough for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, fits, times, total
from fairhold.ledger.queues import amounts_of
from fairhold.rules.pools.alone import are_alone, is_awaited
from fairhold.rules.pools.reach import hold_beyond, kept_for
from fairhold.rules.pools.victims import is_stopped_whole
from fairhold.rules.pools.withdrawing import let_stay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PendingRequest, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.rules.pools.reservation import Reservation
    from fairhold.rules.pools.sweeps import Sweeps
    from fairhold.rules.queues.contest import Compared


class Needless:
    """Reviews the notices of a cycle after its last reclaim.

    compared : unit told for another queue → the sides that were compared for it
    """

    def __init__(self, found: Sweeps, queues: Queues, compared: Mapping[Unit, Compared]) -> None:
        self._found, self._queues, self._compared = found, queues, compared
        self._books, self._reservations = found.books, found.reservations

    def let_stay(self) -> bool:
        """Let units stay that no taker needs, the last noticed first; whether there were any."""
        done: set[Unit] = set()
        for unit in sorted(self._found.noticed, key=_given, reverse=True):
            if unit not in done:
                units = _together(unit)
                done.update(units)
                if all(each.notice is not None and each.notice.is_new for each in units):
                    self._let_stay(units)
        return any(unit.notice is None for unit in done)

    def _let_stay(self, units: list[Unit]) -> None:
        """Let units stay that go together, if they may, and hold what is idle in place of theirs."""
        if are_alone(self._books) and any(is_awaited(self._reservations, unit.asked, unit.host) for unit in units):
            return
        before: dict[Reservation, tuple[Unit, ...]] = {}
        needs: dict[tuple[PendingRequest, Machine], Vector] = {}
        for unit in units:
            assert unit.notice is not None
            taker, host = unit.notice.taker, unit.host
            assert taker is not None
            reservation = self._reservations.of[taker][host]
            before.setdefault(reservation, reservation.victims)
            reservation.drops(unit)
            needs[taker, host] = times(taker.unit, reservation.units)
        may_stay = self._reservations.may_stay
        if self._fit(needs) and self._is_in_order(units) and (may_stay is None or may_stay(units)):
            for (taker, host), need in needs.items():
                hold_beyond(taker, host, host.parcels, beyond(need, self._reservations.freed(taker, host)))
            for unit in units:
                self._queues.add(unit.asked, 1)
            let_stay(self._found, units)
        else:
            for reservation, victims in before.items():
                reservation.takes(victims)

    def _fit(self, needs: Mapping[tuple[PendingRequest, Machine], Vector]) -> bool:
        """Whether what is idle is enough for what takers need beside what the others free, and is held for them."""
        idle: dict[Machine, Vector] = {}
        nothing = (0,) * self._books.terms.dimensions
        for (taker, host), need in needs.items():
            has = add(self._reservations.freed(taker, host), kept_for(taker, host, len(need)))
            idle[host] = add(idle.get(host, nothing), beyond(need, has))
        return all(fits(need, total((each.idle for each in host.parcels), len(need))) for host, need in idle.items())

    def _is_in_order(self, units: list[Unit]) -> bool:
        """Whether every take between queues keeps what it has to keep when the queue of these units holds more.

        That is R-CONTEST-1 and R-CONTEST-2; what is not kept as all stands in the end is not asked for.
        """
        queues, leaf = self._queues, units[0].asked.leaf
        more, mine = amounts_of(units[0].asked.unit, len(units)), frozenset(queues.terms.above[leaf])
        staying = frozenset(units)
        others = [unit for unit in self._found.noticed if unit in self._compared and unit not in staying]
        takers = dict.fromkeys(unit.notice.taker for unit in others if unit.notice is not None)
        for taker in takers:
            if taker is not None and taker.leaf == leaf and self._is_first_beyond(taker, more):
                return False
        pairs = dict.fromkeys(self._compared[unit] for unit in others)
        return not any(pair.mine in mine and pair.is_broken_by(queues, more) for pair in pairs)

    def _is_first_beyond(self, taker: PendingRequest, more: list[int]) -> bool:
        """Whether a taker's queue is within its fair share of what is asked for now, and would not be."""
        held, fair, leaf = self._queues.held, self._queues.fair, taker.leaf
        asked = [at for at, need in enumerate(taker.unit) if need]
        return any(held[at][leaf] <= fair[at][leaf] < held[at][leaf] + more[at] for at in asked)


def _together(unit: Unit) -> list[Unit]:
    """Units that go or stay together: a gang that is stopped whole, or moves, else one."""
    asked = unit.asked
    if asked.model.min_count > 1 and unit.notice is not None:
        if is_stopped_whole(asked):
            return list(asked.units)
        if unit.notice.is_move:
            return [each for each in asked.units if each.notice is not None and each.notice.is_move]
    return [unit]


def _given(unit: Unit) -> int:
    return unit.notice.serial if unit.notice is not None else 0
