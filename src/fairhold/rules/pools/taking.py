"""Reclaims units for requests, and updates all that depends on it (SPEC §6.6, R-TAKE-1 to R-TAKE-4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond, fits, times
from fairhold.ledger.pools import PUBLIC, Machine, Notice, Parcel, Unit
from fairhold.rules.pools.content import deadline_of
from fairhold.rules.pools.enough import least_use
from fairhold.rules.pools.gathering import Gathering, can_gather
from fairhold.rules.pools.picking import Pick, Picker
from fairhold.rules.pools.reach import hold_beyond
from fairhold.rules.pools.reservations import limits_as_moved, wanted
from fairhold.rules.pools.restraint import go_now, may_take, were_granted_now
from fairhold.rules.pools.siting import hosts_for, packs_whole
from fairhold.rules.pools.unplacing import placed_now, unplace_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.rules.pools.picking import Source
    from fairhold.rules.pools.pool_usage import Standing
    from fairhold.rules.pools.reservation import Reservation
    from fairhold.rules.pools.reservations import Reservations


@dataclass(slots=True)
class _Done:
    """What was noticed for one unit, and how to undo it.

    pool   : of the reservation before; before: what was idle of the host's parcels, and held
    new    : hosts to which nothing was on its way before
    """

    pick: Pick
    pool: int
    before: dict[Parcel, tuple[Vector, dict[PendingRequest, Vector]]]
    new: list[Machine]


class Taker:
    """Gives notices for requests, and keeps all that depends on them up to date."""

    def __init__(self, books: PoolBooks, reservations: Reservations, notices: list[Unit]) -> None:
        self.books, self.reservations, self.notices = books, reservations, notices
        self.picker = Picker(books, reservations)
        self.limits = limits_as_moved(books, reservations)

    @property
    def standings(self) -> dict[int, Standing]:
        """Pool → how it is used as moved, of those that somebody asked for."""
        return self.picker.standings

    def standing(self, pool: int) -> Standing:
        """How a pool is used, worked out when it is asked for first."""
        return self.picker.standing(pool)

    def wants(self, asked: PendingRequest) -> int:
        """Units to be taken for a request in one go: one, or all that a gang misses of its minimum."""
        waiting = asked.waiting
        if not waiting:
            return 0
        reservation = self.reservations.units(asked)
        if missing := asked.missing:
            return max(0, missing - reservation)
        return 1 if waiting > reservation else 0

    def take(self, asked: PendingRequest, source: Source, hosts: Iterable[Machine]) -> bool:
        """Take for one unit or a whole gang; all or nothing."""
        units = self.wants(asked)
        if not units or not may_take(self.books, asked.leaf):
            return False
        hosts = hosts_for(asked, hosts, self.reservations.of.get(asked))
        if packs_whole(asked):
            return any(self._take(asked, source, [host], units) for host in hosts)
        return self._take(asked, source, hosts, units)

    def _take(self, asked: PendingRequest, source: Source, hosts: list[Machine], units: int) -> bool:
        """The same, on some hosts; where one unit would be too much for the best of them, on the others.

        So it is where what was on its way to that host counted in a pool inside this one (R-HELD-1).
        """
        least = least_use(self.picker, asked, source, hosts, units) if units > 1 else 0
        if least is None:
            return False
        gone: list[_Done] = []
        is_fair, is_gang = True, asked.missing > 0
        is_limited = units == 1 and self.limits.is_for(asked)
        full = self.limits.full(asked) if is_limited else ()
        allows = partial(self._keeps_limits, asked, source) if is_limited else None
        gathering = Gathering(self.picker, asked, source, hosts) if can_gather(self.picker, units) else None
        for _ in range(units):
            if gathering is not None:
                pick = gathering.best()
            else:
                pick = self.picker.best(asked, source, hosts, is_gang=is_gang, full=full, allows=allows)
            if pick is None:
                break
            gone.append(self._notice(asked, source, pick))
            if least and not self.picker.may_be_fair(asked, source, pick.victims, least):
                break
            if gathering is not None:
                gathering.went(pick)
        else:
            victims = [unit for done in gone for unit in done.pick.victims]
            is_fair = not source.is_compared or self.picker.is_fair(asked, source, victims)
            new = placed_now(self.books, victims)
            told = [unit for unit in victims if unit not in new]
            is_able = is_fair and self.limits.allow(asked, 0) and not were_granted_now(self.books, victims)
            if is_able and go_now(self.books, told):
                self.books.backlog.serves(asked)
                self.notices += told
                self._bring_more(asked, source, {done.pick.host: None for done in gone})
                self._bring_elsewhere(asked, victims, {done.pick.host for done in gone})
                self._unplace(asked, new)
                return True
        for done in reversed(gone):
            self._undo(asked, done)
        if units == 1 and not is_fair:
            return self._take(asked, source, [host for host in hosts if host is not gone[0].pick.host], units)
        return False

    def _unplace(self, asked: PendingRequest, new: list[Unit]) -> None:
        """Units of this cycle are not placed, and their space is held at once (R-SWEEP-3)."""
        reservations = [self.reservations.of[asked][host] for host in {unit.host: None for unit in new}]
        for reservation in reservations:
            self._count(asked, reservation, -1)
        unplace_for(self.reservations, asked, new)
        for reservation in reservations:
            self._count(asked, reservation, 1)

    def _keeps_limits(self, asked: PendingRequest, source: Source, pick: Pick) -> bool:
        """Whether no share limit is broken by one unit, those who give being gone (SPEC §6.4)."""
        done = self._notice(asked, source, pick)
        found = self.limits.allow(asked, 0)
        self._undo(asked, done)
        return found

    def _bring_elsewhere(self, asked: PendingRequest, victims: list[Unit], hosts: Collection[Machine]) -> None:
        """What a gang that is stopped whole frees on other hosts than those on which it is taken brings units, too."""
        for host in dict.fromkeys(unit.host for unit in victims if unit.host not in hosts):
            reservation = self.reservations.of[asked][host]
            self._count(asked, reservation, -1)
            more = max(0, wanted(asked) - self.reservations.units(asked))
            self.reservations.fill(asked, host, reservation.units + more, self.limits)
            self._count(asked, reservation, 1)

    def _notice(self, asked: PendingRequest, source: Source, pick: Pick) -> _Done:
        """Give notice to the victims, and hold the idle amounts that are used with theirs."""
        hosts = {pick.host: None} | {unit.host: None for unit in pick.victims}
        new = [host for host in hosts if host not in self.reservations.of.get(asked, ())]
        reservation = self.reservations.reservation(asked, pick.host, source.pool)
        done = _Done(
            pick, reservation.pool, {parcel: (parcel.idle, dict(parcel.kept)) for parcel in pick.host.parcels}, new
        )
        for unit in pick.victims:
            self.give(unit, asked, "quota")
            self.reservations.reservation(asked, unit.host, PUBLIC).adds(unit)
        self._count(asked, reservation, -1)
        reservation.units += 1
        self._hold(asked, source, pick.host)
        reservation.pool = self.reservations.pool_of(asked, pick.host)
        self._count(asked, reservation, 1)
        return done

    def _count(self, asked: PendingRequest, reservation: Reservation, sign: int) -> None:
        """Count a way where its units will stand, or no longer."""
        if reservation.pool in self.standings:
            self.standings[reservation.pool].moves(asked, sign * reservation.units)
        if reservation.pool >= 0:
            self.limits.add(asked, sign * reservation.units)

    def _bring_more(self, asked: PendingRequest, source: Source, hosts: Iterable[Machine]) -> None:
        """What the victims free beyond one unit, with what is idle beside them, brings more units (SPEC §6.6)."""
        for host in hosts:
            while asked.held >= asked.model.min_count and asked.waiting > self.reservations.units(asked):
                if not fits(asked.unit, self.picker.room(asked, source, host)):
                    break
                done = self._notice(asked, source, Pick(host, [], [], 0, []))
                if not self.limits.allow(asked, 0):
                    self._undo(asked, done)
                    break

    def _hold(self, asked: PendingRequest, source: Source, host: Machine) -> None:
        parcels = [each for each in source.parcels(host) if source.is_idle(each)]
        if len(parcels) > 1:  # what is nearest to it first
            among = set(parcels)
            parcels = [each for each in self.reservations.reach(asked, host) if each in among]
        need = times(asked.unit, self.reservations.of[asked][host].units)
        hold_beyond(asked, host, parcels, beyond(need, self.reservations.freed_there(asked, host)))

    def give(self, unit: Unit, asked: PendingRequest | None, reason: str) -> None:
        """Give notice to a unit."""
        self.picker.leaves(unit)
        deadline = deadline_of(self.books, unit)
        unit.notice = Notice(asked, deadline, reason, self.books.next_serial(), is_new=True)
        if unit.pool >= 0:
            self.limits.add(unit.asked, -1)

    def spare(self, units: Collection[Unit]) -> None:
        """Undo notices: the units stay."""
        for unit in units:
            unit.notice = None
            if unit.pool >= 0:
                self.limits.add(unit.asked, 1)
        self.picker.stay(units)

    def _undo(self, asked: PendingRequest, done: _Done) -> None:
        victims = done.pick.victims
        self.spare(victims)
        for host in {unit.host: None for unit in victims}:
            there = self.reservations.of[asked][host]
            there.takes([unit for unit in there.victims if unit not in victims])
        reservation = self.reservations.of[asked][done.pick.host]
        self._count(asked, reservation, -1)
        reservation.units, reservation.pool = reservation.units - 1, done.pool
        self._count(asked, reservation, 1)
        for parcel, (idle, kept) in done.before.items():
            parcel.idle, parcel.kept = idle, kept
        for host in done.new:
            del self.reservations.of[asked][host]
        if not self.reservations.of[asked]:
            del self.reservations.of[asked]
