"""Both sweeps of one entry, in their order (SPEC §6.2, R-SWEEP-1, R-SWEEP-2)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.again import stay_after_all
from fairhold.cycle.verify.pooled.amounts import excess
from fairhold.cycle.verify.pooled.coming import Coming, for_nobody
from fairhold.cycle.verify.pooled.filling import fill_own, fill_pool
from fairhold.cycle.verify.pooled.lending import is_at, is_lendable, lend_up, may_use
from fairhold.cycle.verify.pooled.limits import Used
from fairhold.cycle.verify.pooled.opening import is_against_reserve
from fairhold.cycle.verify.pooled.taking import Ground, Taking
from fairhold.cycle.verify.pooled.terms import OWN, TOP
from fairhold.cycle.verify.pooled.turns import Turns
from fairhold.cycle.verify.pooled.usage import Pool
from fairhold.cycle.verify.pooled.victims import bundle_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.controls import Restraint
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock, Unit

MOST_ROUNDS = 20
"""The most rounds of sweeps."""


class Sweeps:
    """What a cycle decides: units placed, newly told to go, no longer told to go; and all pools as for reclaim."""

    def __init__(self, stock: Stock, restraint: Restraint) -> None:
        self.stock, self.terms, self.restraint = stock, stock.terms, restraint
        self.placed: list[Unit] = []
        self.noticed: list[Unit] = []
        self.coming = Coming(stock, self._may_stay)
        self.used = Used(stock, stock.units())
        self.taken_before: dict[Asked, int] = {}
        self.withdrawn: list[Unit] = []
        self.is_over = False
        for _ in range(MOST_ROUNDS):
            self.used.count_coming(self.coming.shared())
            is_full = any(not self._first() for _ in range(MOST_ROUNDS))
            self.coming.bring_again()
            self.taking = Taking(stock, self.coming, self.noticed, restraint)
            kept = {parcel: dict(parcel.kept) for parcel in stock.parcels()}
            is_needless = self._second()
            is_lost = self._lost_some()
            is_over = not any(self._withdraw()) and not is_needless and not is_lost and is_full
            is_over = not self._look_again() and is_over
            is_over = not self.coming.keep_anew() and not self._keeps_less(kept) and is_over
            self.is_over = not self.coming.bring_again() and is_over
            if self.is_over:
                break
        self.restraint.gone -= self.stock.keep_told(self.noticed, self.withdrawn)

    def _keeps_less(self, before: dict[Parcel, dict[str, Amounts]]) -> bool:
        """Whether less of a parcel is held for a request than before (R-SWEEP-2)."""
        nothing = (0,) * self.terms.width
        return any(
            any(excess(amounts, parcel.kept.get(request, nothing)))
            for parcel, kept in before.items()
            for request, amounts in kept.items()
        )

    def _withdraw(self) -> tuple[bool, bool]:
        """Withdraw notices no longer needed; returns whether there were any, and whether held space is idle again."""
        found, is_idle = self.coming.withdraw()
        self._stay(found)
        new = {unit.asked for unit in self.placed}
        in_order = [each for each in self.coming.to if each in new]
        order = in_order[::-1] + [each for each in self.coming.to if each not in new][::-1]
        for asked in order if self.terms.limit else ():
            while self.coming.shared()[asked] and not self._as_moved().allow(asked, 0):
                more, is_more_idle = self.coming.lower_shared(asked)
                self._stay(more)
                found, is_idle = found + more, is_idle or is_more_idle
        return bool(found), is_idle

    def _look_again(self) -> bool:
        """Withdraw notices of this cycle that others make unnecessary; returns whether there are any (R-NOTICE-3)."""
        found = stay_after_all(self.coming, self.noticed)
        self._take_off(found)
        return bool(found)

    def _lost_some(self) -> bool:
        """Remove grants that were taken back in the same cycle; returns whether there were any (R-SWEEP-3)."""
        stay = [unit for unit in self.placed if unit in unit.asked.units]
        for unit in self.placed:
            if unit.pool != OWN and unit not in unit.asked.units:
                self.used.add(unit.asked, -1)
        is_any = len(stay) < len(self.placed)
        self.placed[:] = stay
        return is_any

    def _as_moved(self) -> Used:
        """The use of limits after all units under notice have gone and units on their way have come."""
        used = Used(self.stock, (unit for unit in self.stock.units() if unit.notice is None))
        used.count_coming(self.coming.shared())
        return used

    def _may_stay(self, units: list[Unit]) -> bool:
        """Whether limits allow units of one request to stay."""
        if not self.terms.limit:
            return True
        used = self._as_moved()
        for unit in self.coming.staying:
            used.add(unit.asked, int(unit.pool != OWN))
        return used.allow(units[0].asked, sum(unit.pool != OWN for unit in units))

    def _stay(self, units: list[Unit]) -> None:
        """Withdraw the notices of units."""
        self._take_off(units)
        for unit in units:
            unit.notice = None

    def _take_off(self, units: list[Unit]) -> None:
        """Drop the new notices of units that had none before."""
        self.withdrawn += self.stock.told_before(units)
        stay = [unit for unit in self.noticed if unit not in units]
        self.restraint.gone -= len(self.noticed) - len(stay)
        self.noticed[:] = stay

    def waits(self, asked: Asked) -> int:
        """Units waited for in the first sweep: what is on its way too, but for what was taken back above."""
        return max(0, asked.waiting - self.taken_before.get(asked, 0))

    def _first(self) -> bool:
        """Idle resource: own parcels, private pools, the public pool, each lending up what it leaves.

        Whether all of it has to be gone through again (R-SWEEP-1).
        """
        stock, placed = self.stock, len(self.placed)
        self.taken_before.clear()
        for parcel in stock.parcels():
            parcel.level = parcel.owner
        is_whole = self._levels()
        while is_whole and any(asked.model.min_count and self.waits(asked) for asked in stock.asked.values()):
            before = len(self.placed)
            for leaf in self.terms.leaves:
                for preference in self._preferences(leaf):
                    self.placed += fill_own(stock, leaf, preference, self.used, self.waits)
            for pool in [*stock.private(), TOP]:
                self.placed += fill_pool(stock, pool, self.used, self.waits)
            if len(self.placed) == before:
                break
        has_early = any(self._is_early(path, None) for path in self.terms.own)
        has_gang = any(unit.asked.model.min_count for unit in self.placed[placed:])
        is_lost = self._lost_some()
        is_any, is_idle = self._withdraw()
        # Whose units stay may use the host again, and a gang that stays waits again.
        is_idle = is_idle or (is_any and (self.coming.is_exclusive or self._has_waiting_gang()))
        has_room = self.used.count_coming(self.coming.shared())
        return is_lost or is_idle or has_room or (len(self.placed) > placed and (has_early or has_gang))

    def _levels(self) -> bool:
        """One level after the other; not the rest, once something is taken back for which a unit was placed in vain.

        Whether all were gone through.
        """
        stock, terms = self.stock, self.terms
        for leaf in terms.leaves:
            for preference in self._preferences(leaf):
                self.placed += fill_own(stock, leaf, preference, self.used, self.waits)
                take = partial(take_own, leaf=leaf, preferences=[preference])
                if self._is_early(leaf, preference) and self._note(leaf, take):
                    return False
            lend_up(self._parcels(leaf), leaf, terms.up[leaf][1])
        for pool in stock.private():
            self.placed += fill_pool(stock, pool, self.used, self.waits)
            if self._is_early(pool, None) and self._note(pool, partial(take_lent_up, pool=pool, is_early=True)):
                return False
            lend_up(stock.parcels(), pool, terms.up[pool][1])
        self.placed += fill_pool(stock, TOP, self.used, self.waits)
        return True

    def _preferences(self, leaf: str) -> list[int]:
        return sorted({parcel.preference for parcel in self._parcels(leaf)})

    def _parcels(self, owner: str) -> list[Parcel]:
        return [each for host in self.stock.owned.get(owner, ()) for each in host.parcels if each.owner == owner]

    def _is_early(self, path: str, preference: int | None) -> bool:
        early = {entry for entry in self.terms.own[path] if entry.reclaim_before_next_level}
        if not all(entry.preference for entry in self.terms.own[path]):
            chains = (parcel.chain for parcel in self.stock.parcels())
            mine = (entry for chain in chains for owner, entry in chain if owner == path)
            early = {entry for entry in mine if entry.reclaim_before_next_level}
        return any(preference in {None, entry.preference} for entry in early)

    def _note(self, path: str, take: Callable[[Taking], None]) -> bool:
        """Take back before a worse level is used; what is taken does not wait there.

        Whether anything placed in this cycle is not, for it.
        """
        lost = self.stock.lost.total()
        take(Taking(self.stock, self.coming, self.noticed, self.restraint))
        for asked in self.coming.to:
            if path in self.terms.up[asked.leaf]:
                self.coming.look_again(asked)
                self.taken_before[asked] = self.coming.units(asked)
        self.used.count_coming(self.coming.shared())
        return self.stock.lost.total() > lost

    def _second(self) -> bool:
        """Reclaim: what goes in any case, then owners, private pools and the public pool take.

        Whether something that went in any case stays after all.
        """
        for unit in [unit for unit in self.stock.units() if is_against_reserve(self.stock, unit)]:
            self._tell_to_go(unit)
        self._keep_limits()
        is_back = self._spare_nobodys() and self._has_waiting_gang()
        before = -1
        while len(self.noticed) != before:
            before = len(self.noticed)
            for leaf in self.terms.leaves:
                take_own(self.taking, leaf, self._preferences(leaf))
            for pool in self.stock.private():
                take_lent_up(self.taking, pool, is_early=False)
                compare(self.taking, pool)
            compare(self.taking, TOP)
        return self._spare_nobodys() or is_back

    def _has_waiting_gang(self) -> bool:
        return any(asked.model.min_count and asked.waiting for asked in self.stock.asked.values())

    def _spare_nobodys(self) -> bool:
        """Withdraw notices without a taker that no limit needs; returns whether there were any."""
        spared = for_nobody(self.stock, self.coming)
        self._take_off(spared)
        self.taking.spare(spared)
        return bool(spared)

    def _tell_to_go(self, unit: Unit) -> None:
        """Give notice to a unit without a taker, and to its gang where that breaks."""
        is_there = unit.notice is None and unit in unit.asked.units
        bundle = bundle_of(unit, ()) if is_there and not self.restraint.is_still else []
        for each in bundle:
            self.taking.give(each, None, "limit")
        fresh = self.taking.fresh(bundle)
        self.taking.remove(fresh)
        told = [each for each in bundle if each not in fresh]
        self.noticed += told
        self.restraint.gone += len(told)

    def _keep_limits(self) -> None:
        """Give notice to units above a share limit (R-LIMIT-3)."""
        taking, terms = self.taking, self.terms
        for path in taking.used.broken() if not self.restraint.is_still else ():
            while over := taking.used.over(path):
                able = [
                    unit
                    for unit in self.stock.units()
                    if unit.notice is None and unit.pool != OWN and path in terms.up[unit.asked.leaf]
                ]
                able = [unit for unit in able if any(unit.asked.unit[at] for at in over)]
                if not able:
                    break
                keys = {
                    unit: (
                        taking.is_young(unit, ()),
                        len(terms.up[unit.pool]),
                        taking.over_use(unit.pool, unit.asked.leaf),
                        taking.age(unit, ()),
                    )
                    for unit in able
                }
                self._tell_to_go(min(keys, key=keys.__getitem__))


def take_own(taking: Taking, leaf: str, preferences: list[int]) -> None:
    """A leaf takes its own parcels back, best preference first (R-TAKE-2)."""
    for preference in preferences:

        def mine(host: Host, at: int = preference) -> list[Parcel]:
            return [parcel for parcel in host.parcels if parcel.owner == leaf and parcel.preference == at]

        hosts = taking.stock.owned.get(leaf, [])
        ground = Ground(OWN, mine, lambda _: True, lambda unit: unit.pool != OWN, hosts=hosts)
        for asked in taking.stock.of(leaf):
            while taking.take(asked, ground):
                pass


def take_lent_up(taking: Taking, pool: str, *, is_early: bool) -> None:
    """A private pool takes back what it lent up from those who are not below its owner (R-TAKE-2).

    What its owner has of the best preference first; in the end for those that no parcels of one preference are enough.
    """
    found = {entry for parcel in taking.stock.parcels() for path, entry in parcel.chain if path == pool}
    able = {entry.preference or 5 for entry in found if entry.reclaim_before_next_level or not is_early}
    turns = [{each} for each in sorted(able)] if len(able) > 1 else []
    for preferences in [*turns, able]:
        _take_lent_up(taking, pool, preferences, is_early=is_early)


def _take_lent_up(taking: Taking, pool: str, preferences: set[int], *, is_early: bool) -> None:
    terms = taking.terms
    outside = terms.up[pool][1:]

    def is_mine(parcel: Parcel) -> bool:
        of_owner = [entry for path, entry in parcel.chain if path == pool and (entry.preference or 5) in preferences]
        return any(entry.reclaim_before_next_level or not is_early for entry in of_owner)

    def ground(leaf: str) -> Ground:
        def parcels(host: Host) -> list[Parcel]:
            mine = [parcel for parcel in host.parcels if is_mine(parcel) and is_lendable(parcel, pool)]
            return [parcel for parcel in mine if may_use(terms, parcel, leaf, pool)]

        def gives(unit: Unit) -> bool:
            return unit.pool in outside and pool not in terms.up[unit.asked.leaf]

        return Ground(pool, parcels, lambda _: True, gives, hosts=hosts)

    hosts = [host for host in taking.stock.hosts.values() if any(is_mine(parcel) for parcel in host.parcels)]
    if any(unit.pool in outside for host in hosts for unit in host.units):
        _in_turns(taking, ground, lambda: taking.as_moved(Pool(taking.stock, pool, takes_back=True)))


def compare(taking: Taking, path: str) -> None:
    """Leaves below their quota take from leaves above theirs (R-TAKE-1)."""
    pool, terms, coming = taking.pool(path), taking.terms, taking.coming
    pool.divide(lambda asked: coming.units(asked, path) + max(0, asked.waiting - coming.units(asked)))

    def ground(leaf: str) -> Ground:
        def parcels(host: Host) -> list[Parcel]:
            lent = (parcel for parcel in host.parcels if is_lendable(parcel, path))
            return [parcel for parcel in lent if may_use(terms, parcel, leaf, path)]

        def is_idle(parcel: Parcel) -> bool:
            return is_at(terms, parcel, path)

        return Ground(path, parcels, is_idle, lambda unit: unit.pool == path, is_fair=True)

    _in_turns(taking, ground, lambda: pool)


def _in_turns(taking: Taking, ground: Callable[[str], Ground], used: Callable[[], Pool]) -> None:
    """In the order of the assignment loop, as moved; after every take all are asked again."""
    terms = taking.terms
    while True:
        pool = used()
        path = pool.path
        open_ = {
            leaf
            for leaf in terms.leaves
            if path in terms.up[leaf]
            and any(taking.wants(asked) for asked in taking.stock.of(leaf) if pool.size[asked.id])
        }
        turns = Turns(terms, path, open_, pool.moved)
        while (leaf := turns.next()) is not None:
            place = ground(leaf)
            if any(taking.take(asked, place) for asked in taking.stock.of(leaf) if pool.size[asked.id]):
                break
            turns.drop(leaf)
        else:
            return
