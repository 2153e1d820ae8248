"""Units on their way: notices for a taker, and the space held for it (SPEC §6.6, R-HELD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, common, count, fits, less, times, total
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.alone import are_alone, has_strangers, is_awaited
from fairhold.rules.pools.content import free_of, is_lent_to
from fairhold.rules.pools.limits import Limits
from fairhold.rules.pools.reach import Reach, hold_beyond, is_in, kept_for, those_in
from fairhold.rules.pools.reservation import Reservation, given, latest, told_of
from fairhold.rules.pools.siting import hosts_for, packs_whole, stands_elsewhere
from fairhold.rules.pools.victims import is_stopped_whole, stays_in_part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, Parcel, PendingRequest, PoolBooks, Unit


class Reservations:
    """All that is on its way, by request and host: under notice, or freed and held already.

    limits : use of share limits after all moves, with the units that stay; None except while notices are withdrawn
    movers : requests with units that move to other hosts, where places are held or freed for them (R-CONTEST-6)
    """

    def __init__(self, books: PoolBooks, may_stay: Callable[[list[Unit]], bool] | None = None) -> None:
        """Nothing is on its way yet.

        may_stay : whether units under notice may stay for all that is not about space; None = they may
        """
        self.books, self.reach = books, Reach(books)
        self.may_stay = may_stay
        self.limits: Limits | None = None
        self.of: dict[PendingRequest, dict[Machine, Reservation]] = {}
        self.movers: dict[PendingRequest, None] = {}

    def reservation(self, asked: PendingRequest, host: Machine, pool: int) -> Reservation:
        """The one of a request to a host, made where there is none."""
        mine = self.of.setdefault(asked, {})
        if host not in mine:
            mine[host] = Reservation(pool)
        return mine[host]

    def units(self, asked: PendingRequest) -> int:
        """Units that are on their way to a request."""
        mine = self.of.get(asked)
        return sum([reservation.units for reservation in mine.values()]) if mine else 0

    def moving(self, asked: PendingRequest) -> int:
        """Units of a request that are to move, and still stand where they did."""
        if asked not in self.movers:
            return 0
        return sum(unit.notice is not None and unit.notice.is_move for unit in asked.units)

    def new_units(self, asked: PendingRequest) -> int:
        """Units on their way to a request beside those that only move."""
        return max(0, self.units(asked) - self.moving(asked))

    def units_in(self, asked: PendingRequest, pool: int) -> int:
        """The same, of those that will stand in a pool."""
        mine = self.of.get(asked)
        return sum(reservation.units for reservation in mine.values() if reservation.pool == pool) if mine else 0

    def shared(self) -> dict[PendingRequest, int]:
        """Units that are on their way to each request and will stand in share pools."""
        return {
            asked: sum(reservation.units for reservation in hosts.values() if reservation.pool != OWN)
            for asked, hosts in self.of.items()
        }

    def freed(self, asked: PendingRequest, host: Machine) -> Vector:
        """What the victims of a reservation have of what the request may use."""
        return self.freed_in(asked, host, PUBLIC)

    def freed_there(self, asked: PendingRequest, host: Machine) -> Vector:
        """The same of what the units of the reservation will stand on."""
        return self.freed_in(asked, host, self.of[asked][host].pool)

    def freed_in(self, asked: PendingRequest, host: Machine, pool: int) -> Vector:
        """The same of what is in a pool, or of its leaf's own where that is OWN."""
        reservation = self.of[asked][host]
        found = reservation.freed.get(pool)
        if found is None:
            dimensions, victims = self.books.terms.dimensions, reservation.victims
            among = set(self.reach(asked, host, pool) if victims else ())
            found = total([free_of(unit, among, dimensions) for unit in victims], dimensions)
            reservation.freed[pool] = found
        return found

    def kept_in(self, asked: PendingRequest, host: Machine, pool: int) -> Vector:
        """What is held for a request on a host of what is in a pool, or of its leaf's own."""
        parcels = those_in([parcel for parcel in host.parcels if asked in parcel.kept], asked.leaf, pool)
        return total((parcel.kept[asked] for parcel in parcels), self.books.terms.dimensions)

    def outside(self, asked: PendingRequest, host: Machine, pool: int) -> Vector:
        """Amounts freed or held for a request on a host, on parcels outside a pool, or not its leaf's own."""
        all_ = add(self.freed(asked, host), self.kept_in(asked, host, PUBLIC))
        return less(all_, add(self.freed_in(asked, host, pool), self.kept_in(asked, host, pool)))

    def read(self, *, is_told: bool = False) -> None:
        """Take in the notices that were given before and what is held, and hold again what they rely on.

        What a request still wants comes from hosts on which all has gone, then from where the last of those goes first.

        is_told : whether what else goes for a request that something is held for brings it nothing
        """
        told = {asked for asked, _ in self.books.keeps} if is_told else set()
        for asked, host in self.books.keeps:
            self.reservation(asked, host, PUBLIC)
        noticed = [unit for unit in self.books.told if unit.notice is not None and unit.notice.taker is not None]
        for unit in sorted(noticed, key=given):
            taker = unit.notice.taker if unit.notice else None
            assert taker is not None
            self.reservation(taker, unit.host, PUBLIC).adds(unit)
            if unit.notice is not None and unit.notice.is_move:
                self.movers[unit.asked] = None
        needed = self.books.needed
        self.books.needed = {asked: needed[asked] for asked in self.of if asked in needed} if needed else {}
        limits = Limits(self.books, (unit for unit in self.books.units() if unit.notice is None))
        counted = {asked for (asked, _), units in self.books.keeps.items() if units is not None}
        unsaid: list[tuple[PendingRequest, Machine]] = []
        for asked, hosts in self.of.items():
            for host, reservation in sorted(
                hosts.items(), key=lambda each: max(map(latest, each[1].victims), default=(0, 0))
            ):
                said = self.books.keeps.get((asked, host), 0 if asked in counted else None)
                if said is None:
                    unsaid.append((asked, host))
                    continue
                self.hold(asked, host, min(wanted(asked) + self.moving(asked) - self.units(asked), said))
                if reservation.pool != OWN:
                    limits.add(asked, reservation.units)
        for asked, host in unsaid:
            left = 0 if asked in told else wanted(asked) + self.moving(asked) - self.units(asked)
            self.fill(asked, host, left, limits)
            if self.of[asked][host].pool != OWN:
                limits.add(asked, self.of[asked][host].units)

    def fill_again(self, limits: Limits) -> bool:
        """What was under notice and brought nothing may bring something to who has its minimum, or room, by now.

        Whether it does.
        """
        is_more = False
        for asked, hosts in self.of.items():
            for host, reservation in hosts.items():
                more = wanted(asked) - self.units(asked)
                if reservation.victims and not reservation.units and more > 0:
                    self.fill(asked, host, more, limits)
                    is_more |= reservation.units > 0
                    if reservation.pool != OWN:
                        limits.add(asked, reservation.units)
        return is_more

    def fill(self, asked: PendingRequest, host: Machine, most: int, limits: Limits) -> None:
        """Let a reservation bring as many units as fit and limits allow; those that it has do not count in them yet."""
        reservation = self.of[asked][host]
        self.hold(asked, host, most)
        if reservation.pool != OWN:
            while reservation.units and not limits.allow(asked, reservation.units):
                reservation.units -= 1
            self._release_beyond(asked, host)

    def hold(self, asked: PendingRequest, host: Machine, most: int) -> None:
        """It brings as many units as its victims and what is idle make; what of that is idle is held for them."""
        reservation, parcels = self.of[asked][host], self.reach(asked, host)
        freed = self.freed(asked, host)
        room = add(freed, total([parcel.room(asked) for parcel in parcels], len(freed)))
        reservation.units = min(most, count(asked.unit, room)) if self.may_stand(asked, host) else 0
        need = times(asked.unit, reservation.units)
        for pool in self._inner(asked, parcels) if reservation.units else ():
            mine, of_mine = self.reach(asked, host, pool), self.freed_in(asked, host, pool)
            if fits(need, add(of_mine, total([parcel.room(asked) for parcel in mine], len(freed)))):
                parcels, freed = mine, of_mine
                break
        else:  # first beside what the victims leave
            if len(parcels) > 1:
                pool = self._pool_of_all(asked, host)
                level = asked.leaf if pool == OWN else pool
                parcels = sorted(parcels, key=lambda parcel: not is_in(parcel, asked.leaf, level))
        hold_beyond(asked, host, parcels, beyond(need, freed))
        reservation.pool = self.pool_of(asked, host)

    def may_stand(self, asked: PendingRequest, host: Machine) -> bool:
        """Whether a request may have units on a host when all that is under notice is gone."""
        if not hosts_for(asked, [host], self.of[asked]):
            return False
        return not are_alone(self.books) or not (has_strangers(asked, host) or is_awaited(self, asked, host))

    def pool_of(self, asked: PendingRequest, host: Machine) -> int:
        """The pool of units on their way to a host, or OWN: the nearest pool with enough freed and held for them.

        They are booked on these parcels first, whatever else is freed for them.
        """
        reservation = self.of[asked][host]
        parcels = self.reach(asked, host) if reservation.units else []
        for pool in self._inner(asked, parcels):
            mine, there = self.reach(asked, host, pool), self.freed_in(asked, host, pool)
            there = add(there, total([each.kept[asked] for each in mine if asked in each.kept], len(there)))
            if fits(times(asked.unit, reservation.units), there):
                return pool
        return self._pool_of_all(asked, host)

    def _inner(self, asked: PendingRequest, parcels: list[Parcel]) -> Iterator[int]:
        """OWN and the private pools that have some of these parcels, the nearest first."""
        if any(parcel.owner == asked.leaf for parcel in parcels):
            yield OWN
        for row in self.books.terms.above[asked.leaf][1:-1]:
            if any(is_lent_to(parcel, row) for parcel in parcels):
                yield row

    def _pool_of_all(self, asked: PendingRequest, host: Machine) -> int:
        """The nearest pool that has all that goes for a request on a host, and all that is held there, or OWN."""
        parcels = [parcel for unit in self.of[asked][host].victims for parcel in unit.books]
        parcels += [parcel for parcel in host.parcels if asked in parcel.kept]
        if all(parcel.owner == asked.leaf for parcel in parcels):
            return OWN
        for row in self.books.terms.above[asked.leaf][1:]:
            if row == PUBLIC or all(is_in(parcel, asked.leaf, row) for parcel in parcels):
                return row
        return PUBLIC

    def withdraw(self) -> tuple[list[Unit], bool]:
        """Withdraw notices that their taker no longer needs, latest deadline first, then the last listed.

        Also returns whether anything that was held is idle again.
        """
        gone: list[Unit] = []
        is_released = False
        self._count_limits()
        for asked, hosts in self.of.items():
            rests_on = self._rests_on(asked) if self.limits is None and not packs_whole(asked) else None
            if rests_on is not None and self.books.needed.get(asked) == rests_on:
                continue
            self.refresh(asked)
            gone += self._let_go(asked, wanted(asked) + self.moving(asked), list(hosts))
            for host in hosts:
                is_released |= self._release_beyond(asked, host)
            self.forget_empty(asked)
            if rests_on is not None and self._rests_on(asked) == rests_on:
                self.books.needed[asked] = rests_on
        self.limits = None
        return gone, is_released

    def _rests_on(self, asked: PendingRequest) -> object:
        """All that says which of what is on its way to a request is needed, without share limits."""
        found: list[object] = [len(asked.units), wanted(asked), self.moving(asked)]
        for host, each in self.of[asked].items():
            kept = [parcel.kept[asked] for parcel in host.parcels if asked in parcel.kept]
            gangs = [told_of(unit.asked) for unit in each.victims if unit.asked.min_count]
            found.append((host, each.units, each.pool, each.victims, self.freed_there(asked, host), kept, gangs))
        return found

    def give_up(self, asked: PendingRequest) -> tuple[list[Unit], bool]:
        """One unit of a request less is on its way to share pools; the same."""
        hosts = [host for host, reservation in self.of[asked].items() if reservation.pool != OWN]
        self._count_limits()
        gone = self._let_go(asked, self.units(asked) - 1, hosts)
        self.limits = None
        released = [self._release_beyond(asked, host) for host in hosts]
        self.forget_empty(asked)
        return gone, any(released)

    def hold_again(self) -> bool:
        """Hold all anew, where the next cycle will; whether it is held otherwise than before."""
        before = self.held()
        units = [
            (asked, host, reservation, reservation.units)
            for asked, mine in self.of.items()
            for host, reservation in mine.items()
        ]
        for asked, host, _, _ in units:
            for parcel in host.parcels:
                parcel.unkeep(asked)
        for asked, host, _, most in units:
            self.hold(asked, host, most)
        return any(parcel.kept != kept for parcel, kept in before) or any(
            reservation.units < most for _, _, reservation, most in units
        )

    def held(self) -> list[tuple[Parcel, dict[PendingRequest, Vector]]]:
        """Amounts of parcels that are held for requests, on all hosts with units on their way."""
        hosts = dict.fromkeys(host for mine in self.of.values() for host in mine)
        return [(parcel, dict(parcel.kept)) for host in hosts for parcel in host.parcels]

    def let_stay(self, asked: PendingRequest) -> list[Unit]:
        """Units of a request that were to move stay where they are; which."""
        found = [unit for unit in asked.units if unit.notice is not None and unit.notice.is_move]
        for unit in found:
            assert unit.notice is not None
            assert unit.notice.taker is not None
            self.of[unit.notice.taker][unit.host].drops(unit)
        return found

    def forget_empty(self, asked: PendingRequest) -> None:
        """Drop reservations without units and without victims."""
        hosts = self.of[asked]
        for host in [host for host, reservation in hosts.items() if not reservation.units and not reservation.victims]:
            del hosts[host]

    def refresh(self, asked: PendingRequest) -> None:
        """What was placed is no longer on its way, nor what a gang that packs cannot use: it stands elsewhere now."""
        for host, reservation in self.of[asked].items():
            self._bring(asked, reservation, 0 if stands_elsewhere(asked, host) else self.without(asked, host, ()))

    def _count_limits(self) -> None:
        """Units are about to stay after all, one after the other, as far as limits have room."""
        if self.may_stay is not None and self.books.terms.limit:
            self.limits = limits_as_moved(self.books, self)

    def _bring(self, asked: PendingRequest, reservation: Reservation, units: int) -> None:
        """So many are on a way from now on."""
        if self.limits is not None and reservation.pool != OWN:
            self.limits.add(asked, units - reservation.units)
        reservation.units = units

    def _let_go(self, asked: PendingRequest, needed: int, hosts: Collection[Machine]) -> list[Unit]:
        """No more is on its way than is needed: notices on some hosts are withdrawn, then what stands ready goes."""
        mine = self.of[asked]
        gone: list[Unit] = []
        bundles: dict[object, list[Unit]] = {}
        for unit in [unit for reservation in mine.values() for unit in reservation.victims]:
            bundles.setdefault(unit.asked if is_stopped_whole(unit.asked) else unit, []).append(unit)
        there = [units for units in bundles.values() if any(unit.host in hosts for unit in units)]
        for units in sorted(there, key=lambda units: max(map(latest, units)), reverse=True):
            if stays_in_part(units):
                continue
            fewer = {host: self.without(asked, host, units) for host in {unit.host for unit in units}}
            others = sum(reservation.units for host, reservation in mine.items() if host not in fewer)
            is_needless = others + sum(fewer.values()) >= min(needed, self.units(asked))
            if is_needless and (self.may_stay is None or self.may_stay(units)):
                for unit in units:
                    mine[unit.host].drops(unit)
                    if self.limits is not None and unit.pool != OWN:
                        self.limits.add(unit.asked, 1)
                for host, left in fewer.items():
                    self._bring(asked, mine[host], left)
                gone += units
        beyond_need = self.units(asked) - needed
        last_first = [mine[host] for host in hosts][::-1]
        for reservation in sorted(last_first, key=lambda reservation: bool(reservation.victims)):
            fewer_units = max(0, min(beyond_need, reservation.units))
            self._bring(asked, reservation, reservation.units - fewer_units)
            beyond_need -= fewer_units
        return gone

    def without(self, asked: PendingRequest, host: Machine, units: Collection[Unit]) -> int:
        """Units of a request that are on their way to a host if some of the victims stay."""
        reservation, stay = self.of[asked][host], [unit for unit in units if unit.host is host]
        if stay and are_alone(self.books):
            return 0
        among = set(self.reach(asked, host, reservation.pool) if stay else ())
        room = self.freed_there(asked, host)
        for unit in stay:
            room = less(room, free_of(unit, among, len(room)))
        return min(reservation.units, count(asked.unit, add(room, kept_for(asked, host, len(room)))))

    def _release_beyond(self, asked: PendingRequest, host: Machine) -> bool:
        """What is held and no longer needed is idle again; whether there was any."""
        if all(asked not in parcel.kept for parcel in host.parcels):
            return False
        needed = beyond(times(asked.unit, self.of[asked][host].units), self.freed_there(asked, host))
        is_released = False
        for parcel in host.parcels:
            kept = parcel.kept.get(asked)
            if kept:
                stays = common(kept, needed)
                needed = less(needed, stays)
                is_released |= stays != kept
                parcel.unkeep(asked)
                if any(stays):
                    parcel.keep(asked, stays)
        return is_released


def limits_as_moved(books: PoolBooks, reservations: Reservations) -> Limits:
    """What is used of share limits when all that is under notice is gone, and all that is on its way is there."""
    limits = Limits(books, (unit for unit in books.units() if unit.notice is None))
    for asked, hosts in reservations.of.items():
        limits.add(asked, sum(reservation.units for reservation in hosts.values() if reservation.pool >= 0))
    return limits


def wanted(asked: PendingRequest) -> int:
    """Units that may be on their way to a request: of a gang none beyond its minimum until it has that."""
    return asked.missing or asked.waiting
